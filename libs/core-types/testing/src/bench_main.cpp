// SPDX-License-Identifier: Apache-2.0
#include "weftline/testing/bench_main.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>

#include "weftline/core/json.hpp"

namespace weftline::testing {
namespace {

std::string number(std::optional<double> value) {
  if (!value) return "null";
  char text[64];
  std::snprintf(text, sizeof text, "%.3f", *value);
  return text;
}

std::string quoted(const std::string& text) { return JsonValue(text).dump(); }

std::string json_of(const BenchRow& row) {
  const bool has_ratio = row.floor.value_or(0) != 0;
  const auto ratio = has_ratio ? std::optional(row.value / *row.floor) : std::nullopt;
  return "{\"name\":" + quoted(row.name) + ",\"unit\":" + quoted(row.unit) +
         ",\"value\":" + number(row.value) + ",\"floor\":" + number(row.floor) +
         ",\"ratio\":" + number(ratio) +
         ",\"target\":" + (row.target ? quoted(*row.target) : "null") +
         ",\"note\":" + quoted(row.note) + "}";
}

}  // namespace

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

int bench_main(int argc, char** argv,
               const std::function<std::vector<BenchRow>(bool quick)>& measure) {
  std::string json;
  bool quick = false;
  for (int index = 1; index < argc; ++index) {
    const std::string argument = argv[index];
    if (argument == "--quick") {
      quick = true;
    } else if (argument == "--weftline-json" && index + 1 < argc) {
      json = argv[++index];
    } else {
      std::fprintf(stderr, "usage: %s --weftline-json FILE [--quick]\n", argv[0]);
      return 2;
    }
  }
  try {
    std::string text = "[";
    for (const BenchRow& row : measure(quick))
      text += (text.size() > 1 ? ",\n" : "\n") + json_of(row);
    text += "\n]\n";
    if (json.empty()) {
      std::fputs(text.c_str(), stdout);
    } else {
      std::ofstream(json) << text;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
  return 0;
}

}  // namespace weftline::testing
