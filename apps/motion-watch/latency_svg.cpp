// SPDX-License-Identifier: Apache-2.0
#include "latency_svg.hpp"

#include <algorithm>
#include <cmath>

#include "report_text.hpp"

namespace motion_watch {
namespace {

constexpr double kWidth = 1160;
constexpr double kHeight = 250;
constexpr double kLeft = 8;
constexpr double kRight = 8;
constexpr double kTop = 34;
constexpr double kBottom = 28;
constexpr double kFloor = kHeight - kBottom;
constexpr double kPlotWidth = kWidth - kLeft - kRight;

class Drawing {
 public:
  explicit Drawing(const ReportLatency& latency)
      : latency_(latency),
        low_(along_axis(static_cast<double>(latency.buckets.front().low_ns))),
        high_(along_axis(end_of(latency.buckets.back()))) {}

  std::string svg() const {
    return concat("<svg role=\"img\" aria-label=\"Latency histogram\" viewBox=\"0 0 ",
                  format_fixed(kWidth, 0), " ", format_fixed(kHeight, 0), "\">\n", axis(), bars(),
                  mark(latency_.p50_ns, "p50", 12), mark(latency_.p99_ns, "p99", 27), "</svg>\n");
  }

 private:
  // The base-2 logarithm at powers of two and straight lines between them: buckets of the same
  // octave get the same width.
  static double along_axis(double ns) {
    int exponent = 0;
    const double mantissa = std::frexp(std::max(ns, 1.0), &exponent);
    return exponent + 2 * mantissa;
  }
  static double end_of(const LatencyHistogram::Bucket& bucket) {
    return static_cast<double>(bucket.high_ns) + 1;
  }

  double x_of(double ns) const {
    return kLeft + (along_axis(ns) - low_) / std::max(high_ - low_, 1e-9) * kPlotWidth;
  }

  std::string axis() const {
    std::string out = line("grid", kLeft, kWidth - kRight, kFloor, kFloor);
    // 1, 2 and 5 of each decade, as far as there is room for them.
    double last = -1e9;
    for (double decade = 1; decade < 1e19; decade *= 10) {
      for (const double step : {1.0, 2.0, 5.0}) {
        const double ns = decade * step;
        const double x = x_of(ns);
        if (ns >= 9e18 || x < kLeft + 20 || x > kWidth - kRight - 20 || x - last < 64) continue;
        last = x;
        out += line("grid", x, x, kTop, kFloor + 4);
        out += concat("<text class=\"axis\" text-anchor=\"middle\"", svg_attribute("x", x),
                      svg_attribute("y", kHeight - 8), ">",
                      axis_label(static_cast<std::int64_t>(ns)), "</text>\n");
      }
    }
    return out;
  }

  static std::string line(const char* style, double x1, double x2, double y1, double y2) {
    return concat("<line class=\"", style, "\"", svg_attribute("x1", x1), svg_attribute("x2", x2),
                  svg_attribute("y1", y1), svg_attribute("y2", y2), "/>\n");
  }

  static std::string axis_label(std::int64_t ns) {
    constexpr const char* kUnits[] = {" ns", " µs", " ms", " s"};
    std::size_t unit = 0;
    for (; unit < 3 && ns >= 1000; ++unit) ns /= 1000;
    return std::to_string(ns) + kUnits[unit];
  }

  std::string bars() const {
    std::uint64_t tallest = 1;
    for (const auto& bucket : latency_.buckets) tallest = std::max(tallest, bucket.count);
    std::string out;
    for (const auto& bucket : latency_.buckets) {
      if (bucket.count == 0) continue;
      const double left = x_of(static_cast<double>(bucket.low_ns));
      const double width = std::max(x_of(end_of(bucket)) - left - 2, 1.5);
      // One sample in a million must still be seen.
      const double share = static_cast<double>(bucket.count) / static_cast<double>(tallest);
      const double height = std::max(share * (kFloor - kTop), 2.0);
      out += concat("<rect class=\"bar\" rx=\"2\"", svg_attribute("x", left + 1),
                    svg_attribute("y", kFloor - height), svg_attribute("width", width),
                    svg_attribute("height", height), "><title>", format_duration(bucket.low_ns),
                    " to ", format_duration(bucket.high_ns), ": ", format_count(bucket.count),
                    "</title></rect>\n");
    }
    return out;
  }

  std::string mark(std::int64_t ns, const char* name, double text_y) const {
    const double x = std::clamp(x_of(static_cast<double>(ns)), kLeft, kWidth - kRight);
    const double text_x = std::clamp(x, kLeft + 48, kWidth - kRight - 48);
    return concat(line("mark", x, x, text_y + 3, kFloor), "<text class=\"mark-name\"",
                  svg_attribute("x", text_x), svg_attribute("y", text_y), ">", name, " ",
                  format_duration(ns), "</text>\n");
  }

  const ReportLatency& latency_;
  double low_, high_;  // the ends of the axis
};

}  // namespace

std::string latency_svg(const ReportLatency& latency) {
  if (latency.count == 0 || latency.buckets.empty()) return {};
  return Drawing(latency).svg();
}

}  // namespace motion_watch
