// SPDX-License-Identifier: Apache-2.0
#include "weftline/catalog/compatibility.hpp"

#include <algorithm>
#include <utility>

#include "text.hpp"

namespace weftline {
namespace {

using catalog_text::concat;
using catalog_text::in_quotes;

class Differences {
 public:
  void compare(std::string_view field, std::string here, std::string there) {
    if (here != there) found_.push_back({std::string(field), std::move(here), std::move(there)});
  }
  void compare(std::string_view field, std::string_view here, std::string_view there) {
    compare(field, std::string(here), std::string(there));
  }
  void compare(std::string_view field, std::uint64_t here, std::uint64_t there) {
    compare(field, std::to_string(here), std::to_string(there));
  }
  void compare(std::string_view field, std::optional<std::uint32_t> here,
               std::optional<std::uint32_t> there) {
    compare(field, here ? std::to_string(*here) : "any", there ? std::to_string(*there) : "any");
  }

  [[nodiscard]] std::vector<EndpointDifference> take() && { return std::move(found_); }

 private:
  std::vector<EndpointDifference> found_{};
};

/// "uint32[4] 'w' at byte 8", or "none" past the last field.
std::string describe(const std::vector<PodField>& fields, std::size_t index) {
  if (index >= fields.size()) return "none";
  const PodField& field = fields[index];
  const std::string count = field.count == 1 ? "" : concat({"[", std::to_string(field.count), "]"});
  return concat({pod_scalar_name(field.kind), count, " ", in_quotes(field.name), " at byte ",
                 std::to_string(field.offset)});
}

void compare_payloads(Differences& differences, const PayloadIdentity& here,
                      const PayloadIdentity& there) {
  differences.compare("payload.kind", payload_identity_kind_name(here.kind),
                      payload_identity_kind_name(there.kind));
  differences.compare("payload.name", here.name, there.name);
  differences.compare("payload.version", here.version, there.version);
  differences.compare("payload.size", here.size, there.size);
  differences.compare("payload.alignment", here.alignment, there.alignment);
  // The first field that differs; those after it are moved by it in most cases.
  for (std::size_t i = 0; i < std::max(here.fields.size(), there.fields.size()); ++i) {
    const std::string left = describe(here.fields, i);
    const std::string right = describe(there.fields, i);
    if (left == right) continue;
    differences.compare(concat({"payload.fields[", std::to_string(i), "]"}), left, right);
    return;
  }
}

void compare_tensors(Differences& differences, const std::optional<TensorBoundaryContract>& here,
                     const std::optional<TensorBoundaryContract>& there) {
  if (!here || !there) {
    const auto presence = [](const auto& tensor) -> std::string_view {
      return tensor ? "present" : "none";
    };
    differences.compare("tensor", presence(here), presence(there));
    return;
  }
  differences.compare("tensor.memory_kind", memory_kind_name(here->memory_kind),
                      memory_kind_name(there->memory_kind));
  differences.compare("tensor.dtype", dtype_name(here->dtype), dtype_name(there->dtype));
  differences.compare("tensor.rank", here->rank, there->rank);
  differences.compare("tensor.max_rank", here->max_rank, there->max_rank);
  differences.compare("tensor.max_byte_span", here->max_byte_span, there->max_byte_span);
}

void compare_clock_health(Differences& differences, const ClockHealthOptions& here,
                          const ClockHealthOptions& there) {
  differences.compare("clock_health.capability", clock_health_capability_name(here.capability),
                      clock_health_capability_name(there.capability));
  differences.compare("clock_health.requirement", clock_health_requirement_name(here.requirement),
                      clock_health_requirement_name(there.requirement));
  const auto age = [](const ClockHealthOptions& health) {
    return health.max_report_age ? std::to_string(health.max_report_age->count()) : "none";
  };
  differences.compare("clock_health.max_report_age_ns", age(here), age(there));
}

}  // namespace

std::string EndpointCompatibilityReport::to_string() const {
  if (compatible()) return concat({"endpoint ", in_quotes(endpoint), " is the same on both sides"});
  std::string text = concat({"endpoint ", in_quotes(endpoint), " differs: "});
  for (const EndpointDifference& difference : differences) {
    text.append(concat(
        {difference.field, " is ", difference.here, " here and ", difference.there, " there; "}));
  }
  return text + "share the same catalog file and rebuild the side that is older";
}

EndpointCompatibilityReport compare_endpoints(const EndpointRecord& here,
                                              const EndpointRecord& there) {
  Differences differences;
  differences.compare("direction", topic_direction_name(here.direction),
                      topic_direction_name(there.direction));
  compare_payloads(differences, here.payload, there.payload);
  differences.compare("queue_policy", queue_policy_name(here.queue_policy),
                      queue_policy_name(there.queue_policy));
  differences.compare("queue_depth", here.queue_depth, there.queue_depth);
  differences.compare("max_subscribers", here.max_subscribers, there.max_subscribers);
  differences.compare("max_borrowed_samples", here.max_borrowed_samples,
                      there.max_borrowed_samples);
  compare_tensors(differences, here.tensor, there.tensor);
  differences.compare("capture_time", capture_time_name(here.capture_time),
                      capture_time_name(there.capture_time));
  compare_clock_health(differences, here.clock_health, there.clock_health);
  return {.endpoint = here.name, .differences = std::move(differences).take()};
}

}  // namespace weftline
