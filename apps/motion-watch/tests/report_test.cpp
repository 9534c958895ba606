// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "report_text.hpp"

namespace motion_watch {
namespace {

constexpr const char* kHostile = "\"><script>alert('x')</script><img src=//evil.example/a&b;";

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::size_t occurrences(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// Every text of it is `text`.
ReportData report_of(const std::string& text) {
  LatencyHistogram histogram;
  for (std::int64_t i = 1; i < 500; ++i) histogram.record(i * 10'000);
  ReportData data;
  data.title = text;
  data.run = {text, text, text, 795, 3.5, 2};
  data.facts = {{text, text}};
  data.latency = summarize(histogram);
  data.nodes = {{text, text, text}, {"sink", text, text}};
  data.edges = {{text, text, "sink", text, text, 4, text, 3}};
  data.pools = {{text, text, text, 1'327'104, 8, 10'616'832, 6}};
  data.endpoints = {{text, true, "sink", text, text, 795, 790}};
  data.diagnostics = {{text, text, text, text}};
  data.contact_sheet_png = "png bytes";
  return data;
}

}  // namespace

TEST_CASE("the report shows what it was given") {
  const std::string html = render_report(report_of("name"));
  for (const char* part : {"<title>name</title>", ">795<", ">227.1<", ">3.50<", "1.27 MiB",
                           "10.1 MiB", "name.name", "sink.name", ">3/4<", ">790<", "p99.9"}) {
    CAPTURE(part);
    CHECK(contains(html, part));
  }
  CHECK(contains(html, "src=\"data:image/png;base64," + base64("png bytes") + "\""));
  CHECK(contains(html, "prefers-color-scheme:dark"));
}

TEST_CASE("the report refers to nothing outside itself and runs no script") {
  const std::string html = render_report(report_of("name"));
  for (const char* part :
       {"http:", "https:", "//", "<link", "<script", "<iframe", "@import", "url(", "href"}) {
    CAPTURE(part);
    CHECK_FALSE(contains(html, part));
  }
  CHECK(occurrences(html, "src=") == 1);
}

TEST_CASE("hostile text stays text") {
  const std::string html = render_report(report_of(kHostile));
  CHECK_FALSE(contains(html, "<script"));
  CHECK_FALSE(contains(html, "<img src=//"));
  CHECK(occurrences(html, "<img") == 1);
  CHECK(contains(html, escape_html(kHostile)));
  // Apart from these texts the page is the same, so no text has changed its structure.
  const std::string plain = render_report(report_of("name"));
  CHECK(occurrences(html, "<") == occurrences(plain, "<"));
  CHECK(occurrences(html, ">") == occurrences(plain, ">"));
}

TEST_CASE("a report of nothing is still a page") {
  const std::string html = render_report(ReportData{});
  CHECK(html.starts_with("<!doctype html>"));
  CHECK(html.ends_with("</html>\n"));
  CHECK(contains(html, "No samples."));
  CHECK(contains(html, "unknown"));
  CHECK_FALSE(contains(html, "<img"));
  CHECK_FALSE(contains(html, "<svg"));
  CHECK_FALSE(contains(html, "nan"));
  CHECK_FALSE(contains(html, "inf"));
}

TEST_CASE("a size that nobody knows is called unknown, not zero") {
  ReportData data = report_of("name");
  data.pools[0].slot_bytes.reset();
  data.pools[0].declared_bytes.reset();
  const std::string html = render_report(data);
  CHECK(occurrences(html, ">unknown<") == 2);
}

TEST_CASE("an edge or endpoint of an unknown operator is listed but not drawn") {
  ReportData data = report_of("name");
  data.edges[0].to_node = "nowhere";
  data.endpoints[0].node = "nowhere";
  const std::string html = render_report(data);
  CHECK(contains(html, "nowhere.name"));
  CHECK_FALSE(contains(html, "class=\"edge"));
}

TEST_CASE("a single latency sample and extreme ones can be drawn") {
  for (const std::int64_t ns :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 40, INT64_MAX}) {
    LatencyHistogram histogram;
    histogram.record(ns);
    ReportData data;
    data.latency = summarize(histogram);
    const std::string html = render_report(data);
    CHECK(contains(html, "class=\"bar\""));
    CHECK_FALSE(contains(html, "\"nan\""));
    CHECK_FALSE(contains(html, "\"-nan\""));
    CHECK_FALSE(contains(html, "inf\""));
  }
}

}  // namespace motion_watch
