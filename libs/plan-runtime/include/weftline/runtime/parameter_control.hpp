// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "weftline/runtime/param_snapshot.hpp"
#include "weftline/runtime/param_update.hpp"

namespace weftline {

namespace runtime {
class ParamControl;
struct ParamAccessLink;
}  // namespace runtime

/// One field of one operator, or all of an operator's.
struct ParamScope {
  std::string operator_path{};
  std::string field_path{};  ///< Empty: every field of the operator.
};

/// What a restricted handle may still do.
struct ParamAccess {
  bool read_only{false};
  /// Other fields are neither updated nor shown. Absent: no restriction.
  std::optional<std::vector<ParamScope>> scopes{};
};

/// Changes parameters of a running session. Any thread, several at once; cold: takes a lock and
/// allocates. Cheap to copy. It keeps what it needs to answer, and not the session: after the end
/// of the run every update is kClosed, and snapshots and receipts stay readable.
///
/// runtime_mutable fields, from the next activation on; lifecycle_mutable(stage) fields, by the
/// next restart that takes the operator along and goes through that stage. Each of them is a bool,
/// a number, a duration or an enum. What waits for a restart is taken as a whole or not at all.
/// Where the restart is rolled back, the values are those before it, as a new generation. The
/// values of one batch are seen together: compute() never runs with some of them. Between two
/// activations any number of updates may come; compute() sees the newest, with all that was
/// accepted before. A sensitive field can be updated; its value is in no message and no snapshot.
class ParameterControlHandle {
 public:
  /// Of no session: every update is kClosed.
  ParameterControlHandle() noexcept = default;
  explicit ParameterControlHandle(std::shared_ptr<runtime::ParamControl> control) noexcept
      : control_(std::move(control)) {}

  /// Refused updates change nothing; the tokens are those of ParamFinding, and
  /// PARAM_CONTROL_CLOSED, PARAM_OPERATOR_UNKNOWN, PARAM_FIELD_FOREIGN (a ParamRef of another
  /// struct), PARAM_NOT_MUTABLE, PARAM_UPDATES_DISABLED, PARAM_GENERATION_MISMATCH,
  /// PARAM_ACCESS_DENIED, PARAM_BATCH_EMPTY, PARAM_BATCH_REPEATED.
  ParamUpdateResult update(std::string_view operator_path, std::string_view field_path,
                           ParamScalar value, const ParamUpdateOptions& options = {}) const;
  template <class P, class V>
  ParamUpdateResult update(std::string_view operator_path, const ParamRef<P, V>& field,
                           const std::type_identity_t<V>& value,
                           const ParamUpdateOptions& options = {}) const {
    const ParamAssignment assignment(field, value);
    return update(operator_path, std::span(&assignment, 1), options);
  }
  /// All of them or none, as one generation.
  ParamUpdateResult update(std::string_view operator_path, std::span<const ParamAssignment> batch,
                           const ParamUpdateOptions& options = {}) const;

  [[nodiscard]] ParamSnapshot snapshot() const;

  /// A handle that may do what this one may and `access` says: never more than this one.
  [[nodiscard]] ParameterControlHandle restricted(ParamAccess access) const;

 private:
  std::shared_ptr<runtime::ParamControl> control_{};
  std::shared_ptr<const runtime::ParamAccessLink> access_{};
};

}  // namespace weftline
