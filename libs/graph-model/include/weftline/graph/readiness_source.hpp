// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "weftline/plan/temporal_records.hpp"

namespace weftline {

/// Names a clock of the graph: the name that was given to add_clock().
struct ClockKey {
  std::string name{};
};

/// The most notifications that a source may have outstanding.
inline constexpr std::uint32_t kMaximumNotificationCapacity = 65'536;
/// The most senders of one notification source that may exist at a time.
inline constexpr std::uint32_t kMaximumSenderReferences = 1'024;

/// Something outside the flows that activates an operator: a member of it, declared in setup() and
/// named by a trigger of the same kind. Only says where it stands; what makes it ready is bound to
/// it while the operator arms.
class ReadinessSourceRef {
 public:
  ReadinessSourceRef() = default;
  ReadinessSourceRef(const ReadinessSourceRef&) = delete;
  ReadinessSourceRef& operator=(const ReadinessSourceRef&) = delete;

  /// Index among the operator's sources; meaningful after declaration.
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
  [[nodiscard]] bool declared() const noexcept { return declared_; }
  /// For OperatorSpec.
  void declare(std::uint32_t index) noexcept {
    index_ = index;
    declared_ = true;
  }

 private:
  std::uint32_t index_{0};
  bool declared_{false};
};

/// Counted notifications from other threads.
class NotificationSourceRef final : public ReadinessSourceRef {};
/// A level, such as a file descriptor with something to read.
class ReadableSourceRef final : public ReadinessSourceRef {};
/// A count that only grows.
class DoorbellSourceRef final : public ReadinessSourceRef {};
/// A flag that the lane polls, which costs it a processor.
class SpinSourceRef final : public ReadinessSourceRef {};

struct SourceDeclaration {
  SourcePlanRecord record{};
  std::string clock{};  ///< Empty: the graph's default clock.
  const ReadinessSourceRef* ref{nullptr};
};

/// Says more about a notification source. Throws SOURCE_CAPACITY_INVALID outside a limit.
class NotificationSourceSpecBuilder {
 public:
  NotificationSourceSpecBuilder(std::vector<SourceDeclaration>& sources, std::size_t index) noexcept
      : sources_(sources), index_(index) {}
  /// Notifications that may be outstanding, 1 to kMaximumNotificationCapacity; 1 if not given.
  NotificationSourceSpecBuilder& capacity(std::uint32_t count);
  /// Senders that may exist at a time, 1 to kMaximumSenderReferences; 1 if not given.
  NotificationSourceSpecBuilder& sender_reference_capacity(std::uint32_t count);
  /// Stamps notifications; the graph's default clock if not given.
  NotificationSourceSpecBuilder& clock(ClockKey key);

 private:
  std::vector<SourceDeclaration>& sources_;
  std::size_t index_;
};

/// Says more about a source of which one readiness at a time is outstanding.
class SingleWitnessSourceSpecBuilder {
 public:
  SingleWitnessSourceSpecBuilder(std::vector<SourceDeclaration>& sources,
                                 std::size_t index) noexcept
      : sources_(sources), index_(index) {}
  /// Says what is so anyway: anything but 1 throws SOURCE_CAPACITY_INVALID.
  SingleWitnessSourceSpecBuilder& capacity(std::uint32_t count);
  /// Stamps readiness; the graph's default clock if not given.
  SingleWitnessSourceSpecBuilder& clock(ClockKey key);

 private:
  std::vector<SourceDeclaration>& sources_;
  std::size_t index_;
};

}  // namespace weftline
