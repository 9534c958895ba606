// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators; the graph's topics; the deployment's bindings; the device catalog.
// Adds: for each topic its endpoint's name and whether an endpoint can be made of it; for imports
// the device of their tensors and how many producer incarnations they admit. Errors for topics that
// nothing is connected to, for facts of one topic that contradict each other, and for bindings that
// are wrong or missing.
//
// Nothing is guessed: an import states what its tensors are, its deployment on which device. What
// an export's pool states about its tensors is known later (see freeze_endpoints).

#include <map>
#include <string>
#include <utility>

#include "passes/passes.hpp"
#include "topics.hpp"
#include "weftline/core/memory_kind.hpp"

namespace weftline::passes {
namespace {

constexpr std::uint32_t kMaximumGenerations = 65'536;

bool carries_tensors(const PayloadIdentity& payload) {
  return payload.kind == PayloadIdentityKind::kTensor;
}

bool needs_device(const ImportSnapshot& topic) {
  if (!carries_tensors(topic.payload) || !topic.options.tensor) return false;
  const MemoryKind kind = topic.options.tensor->memory_kind;
  return kind == MemoryKind::kCudaDevice || kind == MemoryKind::kPinnedHost;
}

class Boundaries {
 public:
  explicit Boundaries(CompileState& state) : state_(state) {}

  void resolve() {
    for (const ExportSnapshot& topic : state_.graph.exports) {
      state_.exports.push_back(common(topic.uri, topic.options, topic.payload));
      check_no_restart(topic, state_.exports.back());
    }
    for (const ImportSnapshot& topic : state_.graph.imports) {
      state_.imports.push_back(common(topic.uri, topic.options, topic.payload));
      const auto index = static_cast<std::uint32_t>(state_.imports.size() - 1);
      by_name_.try_emplace(state_.imports.back().name, index);
      check_import(topic, state_.imports.back());
    }
    bind_devices();
    raise_generations();
  }

 private:
  static std::string place(const TopicState& topic) { return "endpoint " + topic.name; }

  /// Reports, and leaves the topic without an endpoint.
  void refuse(TopicState& topic, std::string_view token, std::string message, std::string fix) {
    topic.sound = false;
    state_.error(token, place(topic), std::move(message), std::move(fix));
  }

  TopicState common(const std::string& uri, const TopicOptions& options,
                    const PayloadIdentity& payload) {
    TopicState topic{.name = endpoint_name(uri, options)};
    const auto wait = options.attach.wait.count();
    if (wait < 0) {
      refuse(topic, "ENDPOINT_ATTACH_WAIT_INVALID",
             "a wait of " + std::to_string(wait) + " ns for the peer",
             "give TopicAttachPolicy::wait 0 or more");
    }
    const auto& depth = options.bounds.subscriber.queue_depth;
    if (depth && options.queue_depth && *depth != *options.queue_depth) {
      refuse(topic, "ENDPOINT_BOUNDS_CONFLICT",
             "queue_depth is " + std::to_string(*options.queue_depth) +
                 ", bounds.subscriber.queue_depth " + std::to_string(*depth),
             "give one of them");
    }
    const auto conversion = options.memory_conversion;
    if (conversion > MemoryConversionPolicy::kAllowIfSafe) {
      refuse(topic, "TENSOR_CONVERSION_UNAVAILABLE",
             conversion == MemoryConversionPolicy::kRequire
                 ? "the topic requires a conversion between kinds of memory, and there is none yet"
                 : "memory_conversion is outside its enum",
             "use MemoryConversionPolicy::kDisable and state the same memory kind on both sides");
    }
    if (carries_tensors(payload) && options.tensor &&
        options.tensor->memory_kind == MemoryKind::kCudaManaged) {
      refuse(topic, "TENSOR_BOUNDARY_MANAGED",
             "the topic states memory kind cuda_managed, which never crosses processes",
             "state host, pinned_host or cuda_device");
    }
    return topic;
  }

  void check_no_restart(const ExportSnapshot& snapshot, TopicState& topic) {
    if (!snapshot.options.restart.allow_external_restart) return;
    refuse(topic, "ENDPOINT_RESTART_INVALID",
           "an exported topic allows external restarts, but its producer is this graph",
           "leave TopicOptions::restart out");
  }

  void check_import(const ImportSnapshot& snapshot, TopicState& topic) {
    if (snapshot.targets.empty()) {
      state_.error("ENDPOINT_UNCONNECTED", place(topic),
                   "no input takes from the imported topic " + snapshot.uri,
                   "add_flow() its output() to an input, or do not import it");
    }
    const TopicRestartOptions& restart = snapshot.options.restart;
    if (restart.allow_external_restart) {
      topic.generations = restart.generation_capacity;
      if (topic.generations < 2 || topic.generations > kMaximumGenerations) {
        refuse(topic, "ENDPOINT_RESTART_INVALID",
               "external restarts are allowed with a generation capacity of " +
                   std::to_string(topic.generations),
               "give TopicRestartOptions::generation_capacity 2 to 65536, or allow no restart");
      }
    }
    if (!carries_tensors(snapshot.payload)) return;
    if (!snapshot.options.tensor) {
      refuse(topic, "TENSOR_BOUNDARY_MISSING",
             "the imported topic " + snapshot.uri + " does not say what its tensors are",
             "set TopicOptions::tensor to a TensorBoundaryContract");
      return;
    }
    for (const PortRef target : snapshot.targets) {
      const auto& wanted = state_.input(target).tensor;
      if (!wanted) continue;
      const std::string name = state_.plan.input_name(target);
      const std::string differences =
          contradictions(*snapshot.options.tensor, wanted->representation, name);
      if (differences.empty()) continue;
      state_.error("TENSOR_BOUNDARY_MISMATCH", place(topic) + " -> " + name, differences,
                   "state the same on both sides, or put an operator between them that converts");
    }
  }

  std::optional<std::uint32_t> find(const std::string& name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return std::nullopt;
    return found->second;
  }

  void bind_devices() {
    std::map<std::uint32_t, std::optional<DeviceId>> bound;
    for (const auto& binding : state_.options.deployment.imported_topic_devices()) {
      if (const auto index = importable(binding)) bind(bound, *index, binding.device);
    }
    for (std::uint32_t index = 0; index < state_.imports.size(); ++index) {
      TopicState& topic = state_.imports[index];
      if (!needs_device(state_.graph.imports[index])) continue;
      if (const auto found = bound.find(index); found != bound.end()) {
        topic.device = found->second;
        continue;
      }
      const auto& tensor = state_.graph.imports[index].options.tensor;
      const MemoryKind kind = tensor ? tensor->memory_kind : MemoryKind::kUnknown;
      state_.error("DEVICE_UNRESOLVED", place(topic),
                   "nothing says which device takes the topic's " +
                       std::string(memory_kind_name(kind)) + " tensors",
                   "add options.deployment.bind_imported_topic_device({.endpoint_name = \"" +
                       topic.name + "\", .device = …})");
    }
  }

  /// The import that a binding may place.
  std::optional<std::uint32_t> importable(const ImportedTopicDevicePlacement& binding) {
    const std::string where = "endpoint " + binding.endpoint_name;
    const auto index = find(binding.endpoint_name);
    if (!index) {
      state_.error("TENSOR_DEVICE_BINDING_UNKNOWN", where,
                   "a device binding names endpoint \"" + binding.endpoint_name +
                       "\", which the graph does not import",
                   "correct endpoint_name, or take the binding out");
      return std::nullopt;
    }
    const ImportSnapshot& topic = state_.graph.imports[*index];
    if (needs_device(topic)) return index;
    // What a topic without a contract needs is not known.
    if (carries_tensors(topic.payload) && !state_.imports[*index].sound) return std::nullopt;
    state_.error(
        "TENSOR_DEVICE_BINDING_UNEXPECTED", where,
        "the topic is bound to " + binding.device.to_string() + ", but it carries " +
            (topic.options.tensor
                 ? std::string(memory_kind_name(topic.options.tensor->memory_kind)) + " tensors"
                 : "no tensors"),
        "take the binding out");
    return std::nullopt;
  }

  void bind(std::map<std::uint32_t, std::optional<DeviceId>>& bound, std::uint32_t index,
            DeviceId device) {
    const std::string where = place(state_.imports[index]);
    const auto [known, is_new] = bound.try_emplace(index, device);
    if (!is_new) {
      const std::optional<DeviceId> other = known->second;
      if (!other || *other == device) return;
      const auto [low, high] = std::minmax(*other, device);
      state_.error("TENSOR_DEVICE_BINDING_CONFLICT", where,
                   "the topic is bound to " + low.to_string() + " and to " + high.to_string(),
                   "bind it once");
      known->second.reset();
      return;
    }
    if (state_.options.devices.find(device) != nullptr) return;
    state_.error("DEVICE_NOT_IN_CATALOG", where,
                 "the topic is bound to " + device.to_string() + "; CompileOptions::devices has " +
                     state_.offered_devices(),
                 "bind it to one of these, or compile with the device catalog of the target");
  }

  void raise_generations() {
    std::map<std::string, std::uint32_t> raised;
    for (const auto& binding : state_.options.deployment.import_generations()) {
      const std::string capacity = std::to_string(binding.generation_capacity);
      const auto wrong = [&](std::string message, std::string fix) {
        state_.error("ENDPOINT_GENERATIONS_INVALID", "endpoint " + binding.endpoint_name,
                     std::move(message), std::move(fix));
      };
      const auto index = find(binding.endpoint_name);
      if (!index || !state_.graph.imports[*index].options.restart.allow_external_restart) {
        wrong("the deployment admits " + capacity +
                  " producer incarnations, but the graph imports no topic of that name that allows "
                  "external restarts",
              "set TopicOptions::restart.allow_external_restart, or take the binding out");
        continue;
      }
      const auto [known, is_new] =
          raised.try_emplace(binding.endpoint_name, binding.generation_capacity);
      if (!is_new && known->second != binding.generation_capacity) {
        const auto [low, high] = std::minmax(known->second, binding.generation_capacity);
        wrong("the deployment admits " + std::to_string(low) + " producer incarnations and " +
                  std::to_string(high),
              "raise it once");
        continue;
      }
      TopicState& topic = state_.imports[*index];
      const auto authored = state_.graph.imports[*index].options.restart.generation_capacity;
      if (binding.generation_capacity < authored ||
          binding.generation_capacity > kMaximumGenerations) {
        wrong("the deployment admits " + capacity + " producer incarnations, the graph " +
                  std::to_string(authored),
              "give at least as many as the graph and at most 65536, or take the binding out");
        continue;
      }
      topic.generations = binding.generation_capacity;
    }
  }

  CompileState& state_;
  std::map<std::string, std::uint32_t> by_name_{};
};

}  // namespace

void resolve_boundaries(CompileState& state) { Boundaries(state).resolve(); }

}  // namespace weftline::passes
