// SPDX-License-Identifier: Apache-2.0
#include "plan_graph_svg.hpp"

#include <algorithm>
#include <optional>

#include "plan_layout.hpp"
#include "report_text.hpp"

namespace motion_watch {
namespace {

constexpr LayoutSizes kSizes{
    .node_width = 148, .node_height = 60, .column_gap = 72, .row_gap = 24, .lane_height = 30};
constexpr double kBorder = 12;
constexpr double kLegendLine = 26;
constexpr std::size_t kNameCharacters = 18;
constexpr std::size_t kPartitionColours = 8;  // the classes p0 to p7 of the page's style

// What the drawing shows as one shape.
struct Shape {
  std::string name;
  std::string detail;
  std::string colour_class;
  bool is_endpoint;
};

// A line between two shapes.
struct Line {
  Connection between;
  std::string label;
  std::string tip;
  bool leaves_process;
};

class Drawing {
 public:
  explicit Drawing(const ReportData& data) {
    for (const ReportNode& node : data.nodes) {
      shapes_.push_back({node.name, node.device, colour_of(node.partition), false});
    }
    for (const ReportEdge& edge : data.edges) add_edge(edge);
    for (const ReportEndpoint& endpoint : data.endpoints) add_endpoint(endpoint);
  }

  std::string svg() const {
    std::vector<Connection> connections;
    connections.reserve(lines_.size());
    for (const Line& line : lines_) connections.push_back(line.between);
    const PlanLayout layout = lay_out_plan(shapes_.size(), connections, kSizes);
    const std::string width = format_fixed(std::max(layout.width, 480.0) + 2 * kBorder, 0);
    const double legend_top = layout.height + kBorder + 18;

    std::string out =
        concat("<svg class=\"plan\" role=\"img\" aria-label=\"Plan graph\" viewBox=\"",
               format_fixed(-kBorder, 0), " ", format_fixed(-kBorder, 0), " ", width, " ",
               format_fixed(legend_top + kLegendLine + kBorder, 0), "\" style=\"max-width:", width,
               "px\">\n");
    for (std::size_t i = 0; i < lines_.size(); ++i) out += curve(lines_[i], layout.connections[i]);
    for (std::size_t i = 0; i < shapes_.size(); ++i) out += box(shapes_[i], layout.nodes[i]);
    // Labels last, so that no line crosses one out.
    for (std::size_t i = 0; i < lines_.size(); ++i) out += label(lines_[i], layout.connections[i]);
    out += legend(legend_top);
    out += "</svg>\n";
    return out;
  }

 private:
  std::string colour_of(const std::string& partition) {
    const auto known = std::find(partitions_.begin(), partitions_.end(), partition);
    const auto index = static_cast<std::size_t>(known - partitions_.begin());
    if (known == partitions_.end()) partitions_.push_back(partition);
    return partition_class(index);
  }

  static std::string partition_class(std::size_t index) {
    return concat("p", std::to_string(index % kPartitionColours));
  }

  std::optional<std::size_t> node_named(const std::string& name) const {
    const auto found = std::find_if(shapes_.begin(), shapes_.end(), [&](const Shape& shape) {
      return !shape.is_endpoint && shape.name == name;
    });
    if (found == shapes_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - shapes_.begin());
  }

  void add_edge(const ReportEdge& edge) {
    const std::optional<std::size_t> from = node_named(edge.from_node);
    const std::optional<std::size_t> to = node_named(edge.to_node);
    if (!from || !to) return;
    const std::string depth = std::to_string(edge.depth);
    const std::string high_water = std::to_string(edge.high_water);
    lines_.push_back(
        {{*from, *to},
         concat(high_water, "/", depth),
         concat(edge.from_node, ".", edge.from_port, " → ", edge.to_node, ".", edge.to_port, ": ",
                edge.payload, ", ", edge.policy, ", depth ", depth, ", high water ", high_water),
         false});
  }

  void add_endpoint(const ReportEndpoint& endpoint) {
    const std::optional<std::size_t> node = node_named(endpoint.node);
    if (!node) return;
    const std::size_t pill = shapes_.size();
    shapes_.push_back({endpoint.name, endpoint.is_export ? "export" : "import", "endpoint", true});
    const Connection between =
        endpoint.is_export ? Connection{*node, pill} : Connection{pill, *node};
    lines_.push_back({between, "", concat(endpoint.name, ": ", endpoint.payload), true});
  }

  static std::string at(double x, double y) {
    return concat(" ", format_fixed(x, 1), " ", format_fixed(y, 1));
  }

  static std::string curve(const Line& line, const std::vector<Point>& points) {
    std::string path = concat("M", at(points[0].x, points[0].y));
    for (std::size_t k = 1; k < points.size(); ++k) {
      const Point& a = points[k - 1];
      const Point& b = points[k];
      const double middle = (a.x + b.x) / 2;
      path += concat(" C", at(middle, a.y), at(middle, b.y), at(b.x, b.y));
    }
    const Point& end = points.back();
    return concat("<path class=\"edge", line.leaves_process ? " outside" : "", "\" d=\"", path,
                  "\"><title>", escape_html(line.tip), "</title></path>\n<path class=\"tip\" d=\"M",
                  at(end.x, end.y), " l-7 -4 v8 z\"/>\n");
  }

  static std::string label(const Line& line, const std::vector<Point>& points) {
    if (line.label.empty()) return {};
    // Seven tenths along the curve: lines that leave one node together have parted there.
    const Point& a = points[points.size() - 2];
    const Point& b = points.back();
    return concat("<text class=\"depth\"", svg_attribute("x", a.x + (b.x - a.x) * 0.658),
                  svg_attribute("y", a.y + (b.y - a.y) * 0.784 - 4), ">", escape_html(line.label),
                  "</text>\n");
  }

  static std::string box(const Shape& shape, Point place) {
    const double inset = shape.is_endpoint ? 8 : 0;
    const double height = kSizes.node_height - 2 * inset;
    const double middle = place.y + kSizes.node_height / 2;
    const std::string centre = svg_attribute("x", place.x + kSizes.node_width / 2);
    const auto text = [&](const char* style, double y, const std::string& words) {
      return concat("<text class=\"", style, "\"", centre, svg_attribute("y", y), ">",
                    escape_html(shortened(words, kNameCharacters)), "</text>");
    };
    return concat("<g class=\"", shape.colour_class, "\"><title>", escape_html(shape.name),
                  "</title><rect class=\"node\"", svg_attribute("x", place.x),
                  svg_attribute("y", place.y + inset), svg_attribute("width", kSizes.node_width),
                  svg_attribute("height", height),
                  svg_attribute("rx", shape.is_endpoint ? height / 2 : 9), "/>",
                  text("name", middle - 3, shape.name), text("detail", middle + 14, shape.detail),
                  "</g>\n");
  }

  std::string legend(double top) const {
    const std::string y = svg_attribute("y", top + 11);
    std::string out;
    double x = 0;
    for (std::size_t i = 0; i < partitions_.size(); ++i) {
      const std::string name = shortened(partitions_[i], 24);
      out += concat("<g class=\"", partition_class(i), "\"><rect class=\"node\"",
                    svg_attribute("x", x), svg_attribute("y", top),
                    " width=\"14\" height=\"14\" rx=\"4\"/></g><text", svg_attribute("x", x + 21),
                    y, ">", escape_html(name), "</text>\n");
      x += 48 + 7.2 * static_cast<double>(name.size());
    }
    out += concat("<text class=\"quiet\"", svg_attribute("x", x), y,
                  ">on edges: high water / depth</text>\n");
    return out;
  }

  std::vector<Shape> shapes_;  // the nodes first
  std::vector<Line> lines_;
  std::vector<std::string> partitions_;
};

}  // namespace

std::string plan_graph_svg(const ReportData& data) { return Drawing(data).svg(); }

}  // namespace motion_watch
