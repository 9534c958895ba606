// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weftline/core/error.hpp"
#include "weftline/graph/param_ref.hpp"
#include "weftline/plan/param_records.hpp"

namespace weftline {

namespace runtime {
struct ParamUpdateRecord;
}

/// What a call of update() says at once.
enum class ParamUpdateStatus : std::uint8_t {
  kAccepted = 0,      ///< compute() sees it from the operator's next activation on.
  kAcceptedNoChange,  ///< Good, but these were the values already: no new generation.
  kSubmitted,         ///< Not an answer of this version.
  kRejected,          ///< The batch is empty, or names a field twice.
  /// Of lifecycle_mutable fields: waits for a restart of the operator that begins with the stage of
  /// each of them or an earlier one.
  kDeferred,
  kUpdatesDisabled,   ///< The plan admits no restart that could take a lifecycle_mutable field.
  kOutOfBounds,       ///< Outside the range, or beyond the type.
  kValidationFailed,  ///< Not finite, none of the listed values, or a validator says no.
  kTypeMismatch,
  kNotFound,            ///< No such operator, or no such field.
  kNotMutable,          ///< Compile again with the new value.
  kGenerationMismatch,  ///< Somebody was faster than `expected_generation`.
  kPermissionDenied,    ///< The handle was restricted.
  kClosed,              ///< The run has ended.
};

[[nodiscard]] std::string_view param_update_status_name(ParamUpdateStatus status) noexcept;

/// How far an update has come. kSubmitted, kAccepted, kQuiescing, kRestarting and kPublished may
/// still change; the others are final.
enum class ParamUpdateState : std::uint8_t {
  kSubmitted = 0,  ///< Waits for a restart of its operator.
  kRejected,       ///< Never took effect: the call refused it, or the restart was rolled back.
  kAccepted,       ///< Waits for the operator's next activation.
  kQuiescing,      ///< The restart that takes it waits for activations to end.
  /// The restart that takes it is under way. Callbacks of its stage and of later ones see it.
  kRestarting,
  kAcceptedNoChange,  ///< Nothing had to change.
  kPublished,         ///< The operator has taken it; its compute() has not returned yet.
  kObserved,          ///< A compute() has run with exactly this generation.
  kSuperseded,        ///< A later generation, which builds on this one, came before compute() ran.
  kClosed,            ///< The run ended before compute() ran with it.
};

[[nodiscard]] std::string_view param_update_state_name(ParamUpdateState state) noexcept;

/// One field and its new value. An integer is taken wherever the field can hold it; an enumerator
/// also by its name.
struct ParamAssignment {
  ParamAssignment(std::string field_path, ParamScalar new_value)
      : path(std::move(field_path)), value(std::move(new_value)) {}
  /// Of exactly this field: one of another struct is refused even if it has the same path.
  template <class P, class V>
  ParamAssignment(const ParamRef<P, V>& field, const std::type_identity_t<V>& new_value)
      : path(field.field().path),
        value(params::to_scalar<V>(new_value)),
        hash(field.field().hash) {}

  std::string path;  ///< "exposure", or "sensor.exposure" in a nested struct.
  ParamScalar value;
  std::optional<ParamSchemaHash> hash{};
};

struct ParamUpdateOptions {
  /// Compare-and-set: the update is made only if the operator's newest generation is this one.
  std::optional<std::uint64_t> expected_generation{};
};

/// Follows one update, from any thread, also when the session is gone. Cheap to copy.
class ParamUpdateReceipt {
 public:
  /// Of an update that was refused.
  ParamUpdateReceipt() noexcept = default;
  explicit ParamUpdateReceipt(std::shared_ptr<const runtime::ParamUpdateRecord> record) noexcept
      : record_(std::move(record)) {}

  [[nodiscard]] ParamUpdateState state() const noexcept;
  /// The one that the update made; absent where it made none, and while it waits for a restart.
  [[nodiscard]] std::optional<std::uint64_t> generation() const noexcept;

 private:
  std::shared_ptr<const runtime::ParamUpdateRecord> record_{};
};

struct [[nodiscard]] ParamUpdateResult {
  ParamUpdateStatus status{ParamUpdateStatus::kRejected};
  /// The operator's newest generation after the call; 0 also where there is no such operator.
  std::uint64_t generation{0};
  std::optional<Error> error{};  ///< Of every status but kAccepted, kAcceptedNoChange, kDeferred.
  ParamUpdateReceipt receipt{};

  /// Accepted, or waiting for a restart.
  [[nodiscard]] explicit operator bool() const noexcept { return !error; }
};

}  // namespace weftline
