// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "weftline/plan/lifecycle_stage.hpp"

namespace weftline {

class LifecycleContext;
class OperatorBase;

/// What a callback of a lifecycle stage says of itself.
enum class LifecycleStatus : std::uint8_t {
  kOk = 0,
  kSkipped,  ///< There was nothing to do; otherwise like kOk.
  /// May work when called again. That happens as often as RunOptions::lifecycle_retries says; then
  /// it is fatal.
  kRetryableFailure,
  kFatalFailure,  ///< Ends the session.
};

/// "kRetryableFailure"; "kUnknown" for a value outside the enum.
[[nodiscard]] std::string_view lifecycle_status_name(LifecycleStatus status) noexcept;

/// One declared callback.
struct LifecycleDeclaration {
  LifecycleStage stage{LifecycleStage::kConfigure};
  /// For an instance that `belongs`; throws nothing.
  std::function<LifecycleStatus(OperatorBase&, LifecycleContext&)> call{};
  bool (*belongs)(const OperatorBase&){nullptr};
};

/// A member function of an operator's own class: not of a base that has pure virtual functions
/// left.
template <class Op>
concept LifecycleOperator = std::derived_from<Op, OperatorBase> && !std::is_abstract_v<Op>;

/// Declares callbacks of stages, in `setup()`:
///
///     spec.lifecycle()
///         .stage(LifecycleStage::kAllocate, &Camera::open)
///         .stage(LifecycleStage::kRelease, &Camera::close);
///
/// with `LifecycleStatus open(LifecycleContext&) noexcept`. A stage that is not named is passed in
/// silence. Between two forward stages there is a barrier over all operators of the graph: nobody
/// enters the next one before everybody has left this one. kStop and kRelease are called in the
/// reverse order, also where a run fails half-way: kStop on operators whose kStart had ended well,
/// kRelease on those whose kConfigure had.
///
/// Callbacks run on the session's controller thread, with the operator's device current, while no
/// activation of the operator runs. They may block: nothing of the session goes on meanwhile.
class LifecycleSpecBuilder {
 public:
  explicit LifecycleSpecBuilder(std::vector<LifecycleDeclaration>& declared) noexcept
      : declared_(&declared) {}

  /// Throws LIFECYCLE_STAGE_INVALID for a value outside the enum, LIFECYCLE_STAGE_DUPLICATE for a
  /// stage that has a callback: start() is kStart's, and stop() kStop's, where a class overrides
  /// them. A callback that belongs to another class than the operator is
  /// LIFECYCLE_CALLBACK_FOREIGN, thrown where the operator is added to a graph.
  template <LifecycleOperator Op>
  LifecycleSpecBuilder& stage(LifecycleStage stage,
                              LifecycleStatus (Op::*callback)(LifecycleContext&) noexcept) {
    require_new(stage, overrides_start<Op>(), overrides_stop<Op>());
    declared_->push_back({stage,
                          [callback](OperatorBase& instance, LifecycleContext& context) noexcept {
                            return (static_cast<Op&>(instance).*callback)(context);
                          },
                          [](const OperatorBase& instance) {
                            return dynamic_cast<const Op*>(&instance) != nullptr;
                          }});
    return *this;
  }

 private:
  // A name that can't be taken here is overloaded or not public: it is the class's own.
  template <class Op>
  static constexpr bool overrides_start() {
    if constexpr (requires { &Op::start; }) {
      return !std::is_same_v<decltype(&Op::start), void (OperatorBase::*)(LifecycleContext&)>;
    } else {
      return true;
    }
  }
  template <class Op>
  static constexpr bool overrides_stop() {
    if constexpr (requires { &Op::stop; }) {
      return !std::is_same_v<decltype(&Op::stop), void (OperatorBase::*)(LifecycleContext&)>;
    } else {
      return true;
    }
  }
  void require_new(LifecycleStage stage, bool has_start, bool has_stop) const;

  std::vector<LifecycleDeclaration>* declared_;
};

/// Throws LIFECYCLE_CALLBACK_FOREIGN unless every callback belongs to the instance's class.
void require_lifecycle_of(const std::vector<LifecycleDeclaration>& declared,
                          const OperatorBase& instance);

}  // namespace weftline
