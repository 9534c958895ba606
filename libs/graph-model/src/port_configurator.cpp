// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/port_configurator.hpp"

#include "graph_state.hpp"
#include "weftline/plan/queue_sizing.hpp"

namespace weftline {
namespace {

bool same(std::uint32_t a, std::uint32_t b) { return a == b; }
bool same(const std::string& a, const std::string& b) { return a == b; }

bool same(const TensorRepresentation& a, const TensorRepresentation& b) {
  const bool dtype = a.dtype.has_value() == b.dtype.has_value() &&
                     (!a.dtype || same_dtype(*a.dtype, b.dtype.value_or(DLDataType{})));
  return dtype && a.memory_kind == b.memory_kind && a.rank == b.rank;
}
bool same(const TensorInputSpec& a, const TensorInputSpec& b) {
  return same(a.representation, b.representation);
}
bool same(const TensorOutputSpec& a, const TensorOutputSpec& b) {
  return same(a.representation, b.representation) && a.bounds.max_rank == b.bounds.max_rank &&
         a.bounds.max_byte_span == b.bounds.max_byte_span && a.storage == b.storage;
}

std::string text(std::uint32_t value) { return std::to_string(value); }
std::string text(const std::string& value) { return value; }
std::string text(const TensorInputSpec&) { return "one tensor"; }
std::string text(const TensorOutputSpec&) { return "one tensor"; }

/// One port's overrides, made at its first use.
class Override {
 public:
  Override(const std::weak_ptr<GraphState>& graph, PortPlace place)
      : graph_(GraphState::lock(graph)), place_(place) {}

  [[nodiscard]] std::string port() const {
    return graph_->path_of(graph_->vertices[place_.vertex]->name) +
           (place_.is_output ? " output " : " input ") + std::to_string(place_.port);
  }
  template <class Fact>
  void set(std::optional<Fact> PortOverrideSnapshot::*fact, std::string_view what, Fact value) {
    const auto found = graph_->overrides.find(place_);
    if (found != graph_->overrides.end()) {
      const auto& before = found->second.*fact;
      if (before && !same(*before, value)) {
        refuse("PORT_OVERRIDE_CONFLICT",
               port() + ": " + std::string(what) + " was given as " + text(*before) +
                   " before and is " + (text(*before) == text(value) ? "another" : text(value)) +
                   " now; say it once");
      }
    }
    auto& entry = graph_->overrides[place_];
    entry.is_output = place_.is_output;
    entry.*fact = std::move(value);
  }

 private:
  std::shared_ptr<GraphState> graph_;
  PortPlace place_;
};

}  // namespace

void PortConfiguratorBase::set_queue_depth(std::uint32_t depth) {
  Override port(graph_, {vertex_, port_, is_output_});
  if (depth == 0) {
    refuse("GRAPH_QUEUE_DEPTH_ZERO", port.port() + ": a queue of depth 0 can carry nothing");
  }
  port.set(&PortOverrideSnapshot::queue_depth, "queue_depth", depth);
}

void PortConfiguratorBase::set_max_emits_per_compute(std::uint32_t count) {
  Override port(graph_, {vertex_, port_, is_output_});
  if (count == 0) {
    refuse("PORT_EMITS_ZERO", port.port() + ": max_emits_per_compute is at least 1");
  }
  port.set(&PortOverrideSnapshot::max_emits_per_compute, "max_emits_per_compute", count);
}

void PortConfiguratorBase::set_late_joiner_history_depth(std::uint32_t depth) {
  Override port(graph_, {vertex_, port_, is_output_});
  if (depth == 0 || depth > kMaximumQueueDepth) {
    refuse("PORT_HISTORY_INVALID", port.port() + ": a history of " + std::to_string(depth) +
                                       " samples; give 1 to " + std::to_string(kMaximumQueueDepth));
  }
  port.set(&PortOverrideSnapshot::late_joiner_history_depth, "late_joiner_history_depth", depth);
}

void PortConfiguratorBase::set_expects_tensor(const TensorInputSpec& spec) {
  Override(graph_, {vertex_, port_, is_output_})
      .set(&PortOverrideSnapshot::expects_tensor, "expects_tensor", spec);
}

void PortConfiguratorBase::set_produces_tensor(const TensorOutputSpec& spec) {
  Override(graph_, {vertex_, port_, is_output_})
      .set(&PortOverrideSnapshot::produces_tensor, "produces_tensor", spec);
}

void PortConfiguratorBase::set_diagnostic_alias(std::string alias) {
  Override port(graph_, {vertex_, port_, is_output_});
  require_name("a port's diagnostic alias as a", alias);
  port.set(&PortOverrideSnapshot::diagnostic_alias, "diagnostic_alias", std::move(alias));
}

}  // namespace weftline
