// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "latency_svg.hpp"
#include "plan_graph_svg.hpp"
#include "report_style.hpp"
#include "report_text.hpp"

namespace motion_watch {
namespace {

constexpr const char* kUnknown = "unknown";

struct Column {
  const char* name;
  bool is_number = false;
};

using Row = std::vector<std::string>;

// Escapes every text it is given.
void add_table(std::string& out, std::span<const Column> columns, const std::vector<Row>& rows) {
  if (rows.empty()) {
    out += "<p class=\"quiet\">None.</p>\n";
    return;
  }
  const auto open_tag = [](const char* tag, bool is_number) {
    return std::string("<") + tag + (is_number ? " class=\"n\">" : ">");
  };
  out += "<div class=\"scroll\"><table><thead><tr>";
  for (const Column& column : columns) {
    out += open_tag("th", column.is_number) + escape_html(column.name) + "</th>";
  }
  out += "</tr></thead><tbody>\n";
  for (const Row& row : rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < columns.size(); ++i) {
      out += open_tag("td", columns[i].is_number) + escape_html(row[i]) + "</td>";
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
}

void add_tile(std::string& out, const std::string& value, const char* name) {
  out += "<div class=\"tile\"><b>" + escape_html(value) + "</b><span>" + name + "</span></div>\n";
}

void add_run(std::string& out, const ReportData& data) {
  const ReportRun& run = data.run;
  const double rate = run.seconds > 0 ? static_cast<double>(run.frames) / run.seconds : 0;
  out += "<h1>" + escape_html(data.title) + "</h1>\n<p class=\"lead\">" + escape_html(run.input) +
         " · device " + escape_html(run.device) + " · speed " + escape_html(run.speed) +
         "</p>\n<div class=\"tiles\">\n";
  add_tile(out, format_count(run.frames), "frames");
  add_tile(out, run.seconds > 0 ? format_fixed(rate, 1) : kUnknown, "frames per second");
  add_tile(out, format_fixed(run.seconds, 2), "seconds");
  add_tile(out, format_count(run.drops), "drops");
  if (data.latency.count > 0) {
    add_tile(out, format_duration(data.latency.p50_ns), "latency p50");
    add_tile(out, format_duration(data.latency.p99_ns), "latency p99");
  }
  out += "</div>\n";
}

void add_contact_sheet(std::string& out, const ReportData& data) {
  if (data.contact_sheet_png.empty()) return;
  out +=
      "<section><h2>Contact sheet</h2><img class=\"sheet\" alt=\"Frames of the run with boxes, "
      "each beside its motion mask\" src=\"data:image/png;base64," +
      base64(data.contact_sheet_png) + "\"></section>\n";
}

void add_latency(std::string& out, const ReportLatency& latency) {
  out += "<section><h2>Latency from capture to last sink</h2>\n";
  if (latency.count == 0) {
    out += "<p class=\"quiet\">No samples.</p></section>\n";
    return;
  }
  out += latency_svg(latency);
  constexpr Column kColumns[] = {{"samples", true}, {"min", true},   {"p50", true}, {"p90", true},
                                 {"p99", true},     {"p99.9", true}, {"max", true}};
  add_table(out, kColumns,
            {{format_count(latency.count), format_duration(latency.min_ns),
              format_duration(latency.p50_ns), format_duration(latency.p90_ns),
              format_duration(latency.p99_ns), format_duration(latency.p999_ns),
              format_duration(latency.max_ns)}});
  out += "</section>\n";
}

void add_plan(std::string& out, const ReportData& data) {
  out += "<section><h2>Plan</h2>\n";
  if (data.nodes.empty()) {
    out += "<p class=\"quiet\">None.</p>\n";
  } else {
    out += "<div class=\"scroll\">" + plan_graph_svg(data) + "</div>\n";
  }
  out += "</section>\n";
}

// A section with one row for each item.
template <typename Item, typename MakeRow>
void add_section(std::string& out, const char* title, std::span<const Column> columns,
                 const std::vector<Item>& items, MakeRow make_row) {
  std::vector<Row> rows(items.size());
  std::transform(items.begin(), items.end(), rows.begin(), make_row);
  out += concat("<section><h2>", title, "</h2>\n");
  add_table(out, columns, rows);
  out += "</section>\n";
}

void add_edges(std::string& out, const std::vector<ReportEdge>& edges) {
  constexpr Column kColumns[] = {{"from"},   {"to"},          {"payload"},
                                 {"policy"}, {"depth", true}, {"high water", true}};
  add_section(out, "Edges", kColumns, edges, [](const ReportEdge& edge) {
    return Row{concat(edge.from_node, ".", edge.from_port),
               concat(edge.to_node, ".", edge.to_port),
               edge.payload,
               edge.policy,
               format_count(edge.depth),
               format_count(edge.high_water)};
  });
}

void add_pools(std::string& out, const std::vector<ReportPool>& pools) {
  constexpr Column kColumns[] = {{"pool"},          {"memory"},      {"device"},
                                 {"slot", true},    {"slots", true}, {"high water", true},
                                 {"declared", true}};
  const auto bytes_or_unknown = [](const std::optional<std::uint64_t>& bytes) {
    return bytes ? format_bytes(*bytes) : std::string(kUnknown);
  };
  add_section(out, "Pools", kColumns, pools, [&](const ReportPool& pool) {
    return Row{pool.name,
               pool.kind,
               pool.device,
               bytes_or_unknown(pool.slot_bytes),
               format_count(pool.slots),
               format_count(pool.slots_high_water),
               bytes_or_unknown(pool.declared_bytes)};
  });
}

void add_endpoints(std::string& out, const std::vector<ReportEndpoint>& endpoints) {
  constexpr Column kColumns[] = {{"endpoint"}, {"direction"},     {"operator"},       {"payload"},
                                 {"attach"},   {"samples", true}, {"delivered", true}};
  add_section(out, "Endpoints", kColumns, endpoints, [](const ReportEndpoint& endpoint) {
    return Row{endpoint.name,
               endpoint.is_export ? "export" : "import",
               endpoint.node,
               endpoint.payload,
               endpoint.attach,
               format_count(endpoint.samples),
               format_count(endpoint.delivered)};
  });
}

void add_diagnostics(std::string& out, const std::vector<ReportDiagnostic>& diagnostics) {
  constexpr Column kColumns[] = {{"severity"}, {"token"}, {"place"}, {"message"}};
  add_section(out, "Diagnostics", kColumns, diagnostics, [](const ReportDiagnostic& d) {
    return Row{d.severity, d.token, d.place, d.message};
  });
}

void add_facts(std::string& out, const std::vector<ReportFact>& facts) {
  if (facts.empty()) return;
  constexpr Column kColumns[] = {{"fact"}, {"value"}};
  add_section(out, "Facts", kColumns, facts, [](const ReportFact& fact) {
    return Row{fact.name, fact.value};
  });
}

}  // namespace

ReportLatency summarize(const LatencyHistogram& histogram) {
  return {histogram.summary(), histogram.buckets()};
}

std::string render_report(const ReportData& data) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>" +
      escape_html(data.title) + "</title><style>" + kReportStyle + "</style></head><body><main>\n";
  add_run(out, data);
  add_contact_sheet(out, data);
  add_latency(out, data.latency);
  add_plan(out, data);
  add_edges(out, data.edges);
  add_pools(out, data.pools);
  add_endpoints(out, data.endpoints);
  add_diagnostics(out, data.diagnostics);
  add_facts(out, data.facts);
  out += "</main></body></html>\n";
  return out;
}

}  // namespace motion_watch
