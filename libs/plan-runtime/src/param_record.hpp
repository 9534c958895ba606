// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "weftline/runtime/param_update.hpp"

namespace weftline::runtime {

/// How far one operator has come with its parameters. Outlives the session, with the receipts.
/// `taken` and `observed` have one writer, the operator's lane (release; a reader that acquires
/// them sees all that compute() did before); `ended` is written once, after the lane was joined.
struct ParamProgress {
  std::atomic<std::uint64_t> taken{0};     ///< The generation that the lane has.
  std::atomic<std::uint64_t> observed{0};  ///< The newest one that a compute() has run with.
  std::atomic<bool> ended{false};
  /// Of everybody but the lane: the newest values, and which generation was superseded.
  std::mutex mutex{};
};

/// What a receipt reads. `generation` is written before the receipt is given out, or under the
/// mutex when a restart takes the update.
///
/// Whether a generation was superseded is known when its successor is in its place, and stored just
/// after, in one hold of the mutex. So `taken` at or past a generation says nothing without the
/// mutex: the lane may have its successor already. Below it, nothing was taken.
struct ParamUpdateRecord {
  std::shared_ptr<ParamProgress> progress{};
  mutable std::atomic<ParamUpdateState> state{ParamUpdateState::kAccepted};
  std::atomic<std::uint64_t> generation{0};

  [[nodiscard]] ParamUpdateState current() const noexcept;
};

}  // namespace weftline::runtime
