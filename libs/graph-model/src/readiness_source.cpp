// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/readiness_source.hpp"

#include "weftline/graph/operator_spec.hpp"

namespace weftline {
namespace {

void require(const SourceDeclaration& source, std::string_view what, std::uint32_t count,
             std::uint32_t limit) {
  if (count >= 1 && count <= limit) return;
  const std::string admitted = limit == 1 ? "1" : "1 to " + std::to_string(limit);
  throw RuntimeError({ErrorCode::kInvalidArgument, "SOURCE_CAPACITY_INVALID",
                      "source \"" + source.record.name + "\": " + std::string(what) + " is " +
                          std::to_string(count) + "; give " + admitted,
                      0});
}

}  // namespace

NotificationSourceSpecBuilder& NotificationSourceSpecBuilder::capacity(std::uint32_t count) {
  require(sources_[index_], "its capacity", count, kMaximumNotificationCapacity);
  sources_[index_].record.capacity = count;
  return *this;
}

NotificationSourceSpecBuilder& NotificationSourceSpecBuilder::sender_reference_capacity(
    std::uint32_t count) {
  require(sources_[index_], "its number of senders", count, kMaximumSenderReferences);
  sources_[index_].record.sender_reference_capacity = count;
  return *this;
}

NotificationSourceSpecBuilder& NotificationSourceSpecBuilder::clock(ClockKey key) {
  sources_[index_].clock = std::move(key.name);
  return *this;
}

SingleWitnessSourceSpecBuilder& SingleWitnessSourceSpecBuilder::capacity(std::uint32_t count) {
  require(sources_[index_], "its capacity", count, 1);
  return *this;
}

SingleWitnessSourceSpecBuilder& SingleWitnessSourceSpecBuilder::clock(ClockKey key) {
  sources_[index_].clock = std::move(key.name);
  return *this;
}

NotificationSourceSpecBuilder OperatorSpec::notification_source(NotificationSourceRef& ref,
                                                                std::string name) {
  return {sources_, add_source(ref, {.name = std::move(name),
                                     .kind = ReadinessSourceKind::kNotification,
                                     .sender_reference_capacity = 1})};
}

SingleWitnessSourceSpecBuilder OperatorSpec::readable_source(ReadableSourceRef& ref,
                                                             std::string name) {
  return {sources_,
          add_source(ref, {.name = std::move(name), .kind = ReadinessSourceKind::kReadable})};
}

SingleWitnessSourceSpecBuilder OperatorSpec::doorbell_source(DoorbellSourceRef& ref,
                                                             std::string name) {
  return {sources_,
          add_source(ref, {.name = std::move(name), .kind = ReadinessSourceKind::kDoorbell})};
}

SingleWitnessSourceSpecBuilder OperatorSpec::spin_source(SpinSourceRef& ref, std::string name) {
  return {sources_,
          add_source(ref, {.name = std::move(name),
                           .kind = ReadinessSourceKind::kSpin,
                           .wake_requirement = ReadinessWakeRequirement::kBusyPollRequired})};
}

}  // namespace weftline
