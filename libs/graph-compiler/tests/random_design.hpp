// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "weftline/graph/graph.hpp"

namespace weftline {

// A random composition with embedded graphs as plain data, for two writers: one that uses Graph,
// one that lays it out flat by itself.

struct OperatorDesign {
  std::string name{};
  std::uint32_t inputs{0};
  std::uint32_t outputs{0};
  std::optional<std::string> lane{};
  std::optional<std::uint32_t> input_depth{};  ///< Configured for input 0.
  std::optional<std::uint32_t> emits{};        ///< Configured for output 0.
  std::optional<std::string> alias{};          ///< Of output 0.
};

/// A port of an operator of one body, or an exported port of a body in it.
struct EndDesign {
  bool is_operator{true};
  std::uint32_t item{0};
  std::uint32_t port{0};
};

struct FlowDesign {
  EndDesign source{};
  EndDesign target{};
  ConnectionOptions options{};
  std::string topic_name{};
};

struct BodyDesign {
  std::string name{};
  std::vector<OperatorDesign> operators{};
  std::vector<BodyDesign> bodies{};
  std::vector<std::optional<std::string>> body_lanes{};  ///< Of a body as a whole.
  std::vector<FlowDesign> flows{};
  std::vector<std::vector<EndDesign>> exported_inputs{};         ///< "x0", "x1", …
  std::vector<EndDesign> exported_outputs{};                     ///< "y0", "y1", …
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order{};  ///< Operators: before, after.
  std::vector<std::pair<std::uint32_t, LifecycleStage>> grants{};
  std::vector<EndDesign> region{};  ///< Items as a whole; port is not used.
  std::optional<EndDesign> topic{};
  std::string topic_uri{};

  [[nodiscard]] bool has_lanes() const {
    return std::ranges::any_of(operators, [](const auto& op) { return op.lane.has_value(); }) ||
           std::ranges::any_of(body_lanes, [](const auto& lane) { return lane.has_value(); }) ||
           std::ranges::any_of(bodies, [](const auto& body) { return body.has_lanes(); });
  }
};

class RandomDesign {
 public:
  explicit RandomDesign(std::uint32_t seed) : random_(seed) {}

  /// Bodies in one another to `depth` at most. Inputs without an output to feed them are exported;
  /// the outermost body has none of these.
  BodyDesign body(std::string name, std::uint32_t depth, bool outermost) {
    BodyDesign made;
    made.name = std::move(name);
    std::vector<EndDesign> open_outputs;
    std::vector<EndDesign> unfed;
    const std::uint32_t count = 2 + below(4);
    for (std::uint32_t number = 0; number < count; ++number) {
      EndDesign item;
      std::uint32_t inputs = 0;
      std::uint32_t outputs = 0;
      if (depth > 0 && below(3) == 0) {
        item = {false, static_cast<std::uint32_t>(made.bodies.size()), 0};
        made.bodies.push_back(body(random_name("g", number), depth - 1, false));
        const BodyDesign& inner = made.bodies.back();
        inputs = static_cast<std::uint32_t>(inner.exported_inputs.size());
        outputs = static_cast<std::uint32_t>(inner.exported_outputs.size());
        made.body_lanes.emplace_back();
        if (!inner.has_lanes() && below(4) == 0) made.body_lanes.back() = lane();
      } else {
        item = {true, static_cast<std::uint32_t>(made.operators.size()), 0};
        made.operators.push_back(op(number, outermost && open_outputs.empty()));
        inputs = made.operators.back().inputs;
        outputs = made.operators.back().outputs;
      }
      for (item.port = 0; item.port < inputs; ++item.port) {
        if (!open_outputs.empty() && (outermost || below(3) > 0)) {
          made.flows.push_back(flow(made, open_outputs[below(open_outputs.size())], item));
        } else {
          unfed.push_back(item);
        }
      }
      for (item.port = 0; item.port < outputs; ++item.port) open_outputs.push_back(item);
    }
    if (outermost) feed_rest(made, unfed);
    for (const EndDesign& input : outermost ? std::vector<EndDesign>() : unfed) {
      // Two at most, so that a writer can name them in one call.
      const bool full = made.exported_inputs.empty() || made.exported_inputs.back().size() == 2;
      if (full || below(2) == 0) made.exported_inputs.emplace_back();
      made.exported_inputs.back().push_back(input);
    }
    for (const EndDesign& output : open_outputs) {
      if (!outermost && below(2) == 0) made.exported_outputs.push_back(output);
    }
    add_rules(made, open_outputs);
    return made;
  }

 private:
  [[nodiscard]] std::uint32_t below(std::size_t limit) {
    return static_cast<std::uint32_t>(random_() % limit);
  }
  /// Names do not follow the flow.
  [[nodiscard]] std::string random_name(const char* kind, std::uint32_t number) {
    return std::string(1, static_cast<char>('a' + below(26))) + kind + std::to_string(number);
  }
  [[nodiscard]] std::string lane() { return "lane" + std::to_string(below(2)); }

  OperatorDesign op(std::uint32_t number, bool source) {
    OperatorDesign made{
        .name = random_name("o", number), .inputs = source ? 0 : below(3), .outputs = 1 + below(2)};
    if (below(5) == 0) made.lane = lane();
    if (made.inputs > 0 && below(5) == 0) made.input_depth = 1 + below(9);
    if (below(5) == 0) made.emits = 1 + below(4);
    if (below(8) == 0) made.alias = "alias" + std::to_string(below(9));
    return made;
  }

  FlowDesign flow(const BodyDesign& body, const EndDesign& source, const EndDesign& target) {
    FlowDesign made{.source = source, .target = target};
    if (below(3) == 0) made.options.queue_depth = 1 + below(9);
    if (below(5) == 0) made.options.queue_policy = QueuePolicy::kDropOldest;
    if (source.is_operator && below(4) == 0) {
      made.topic_name = body.operators[source.item].name + "-" + std::to_string(source.port);
    }
    return made;
  }

  void feed_rest(BodyDesign& body, const std::vector<EndDesign>& unfed) {
    if (unfed.empty()) return;
    body.operators.push_back({.name = "source", .outputs = 1});
    const EndDesign source{true, static_cast<std::uint32_t>(body.operators.size() - 1), 0};
    for (const EndDesign& input : unfed) body.flows.push_back(flow(body, source, input));
  }

  void add_rules(BodyDesign& body, const std::vector<EndDesign>& outputs) {
    const std::size_t count = body.operators.size();
    for (std::uint32_t i = 0; count > 1 && i < below(3); ++i) {
      const std::uint32_t a = below(count);
      const std::uint32_t b = below(count);
      if (a != b) body.order.emplace_back(std::min(a, b), std::max(a, b));
      if (a != b && below(20) == 0) body.order.emplace_back(std::max(a, b), std::min(a, b));
    }
    if (count > 0 && below(3) == 0) {
      body.grants.emplace_back(below(count), static_cast<LifecycleStage>(below(5)));
    }
    if (below(3) == 0) {
      for (std::uint32_t i = 0; i < count; ++i) {
        if (below(2) == 0) body.region.push_back({true, i, 0});
      }
      for (std::uint32_t i = 0; i < body.bodies.size(); ++i) body.region.push_back({false, i, 0});
    }
    if (!outputs.empty() && below(4) == 0) {
      body.topic = outputs[below(outputs.size())];
      body.topic_uri = "weftline://topic/" + std::to_string(topics_++);
    }
  }

  std::mt19937 random_;
  std::uint32_t topics_{0};
};

}  // namespace weftline
