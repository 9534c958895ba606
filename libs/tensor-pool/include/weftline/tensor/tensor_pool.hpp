// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "weftline/core/error.hpp"
#include "weftline/core/memory_kind.hpp"
#include "weftline/cuda/device.hpp"
#include "weftline/tensor/holder_notes.hpp"
#include "weftline/tensor/host_waits.hpp"
#include "weftline/tensor/release_set.hpp"
#include "weftline/tensor/tensor_output_loan.hpp"

namespace weftline {

struct TensorPoolOptions {
  std::string name{};  ///< Operator path and port, for messages.
  MemoryKind memory_kind{MemoryKind::kHost};
  std::shared_ptr<Device> device{};            ///< Absent exactly for kHost.
  std::uint64_t slot_bytes{0};                 ///< Positive.
  std::uint32_t slot_count{0};                 ///< Positive.
  std::uint32_t max_rank{kMaximumTensorRank};  ///< 1 to kMaximumTensorRank.
  /// Distinct consumer streams that a slot remembers, each with an event of its own. Not used for
  /// kHost. 0 is fine where all consumers read on the host; at most kMaximumReleaseStreams.
  std::uint32_t max_release_streams{8};
  /// A plan's proof (rule 5): every tensor written on this stream has one consumer, on this same
  /// stream, and so has the next writer. So such a tensor is neither recorded nor awaited nor
  /// registered, and its slot is free when its last handle drops. Whatever the proof does not cover
  /// (another stream, access by a host) brings the fences back for that tensor, late but in time.
  /// Null: no proof. Not for kHost; must stay alive as long as the pool, and takes one more release
  /// stream.
  StreamRef fused_stream{};
  /// The numbers of the arms that tensors of this pool go to, `arm_count` from `first_arm`, for
  /// held_slots(). Without any, nobody keeps notes.
  std::uint32_t first_arm{0};
  std::uint32_t arm_count{0};
  /// Held until pool and handles are gone: the owner of the streams that may be registered on
  /// slots.
  std::shared_ptr<const void> keep_alive{};
};

/// A reading for people. Slots are looked at one after another, so `in_use`, `retiring` and
/// `quarantined` are exact when nothing moves meanwhile; a slot is never counted twice.
struct TensorPoolUsage {
  std::uint64_t reserved_bytes{0};  ///< Of memory, with what keeps slots apart.
  std::uint32_t slot_count{0};
  std::uint32_t in_use{0};             ///< Loaned, published or retiring.
  std::uint32_t in_use_high_water{0};  ///< The most that any `allocate()` has left in use.
  std::uint32_t retiring{0};           ///< No handle left, device work not yet seen to have passed.
  std::uint32_t quarantined{0};        ///< Out of use: their work can't be proven complete.
  std::uint64_t loans{0};
  std::uint64_t returns{0};   ///< Slots that were seen to be free again.
  std::uint64_t refusals{0};  ///< kResourceExhausted answers.
  HostWaits host_waits{};
};

/// Called once after `has_free_slot()` said no, on the thread that drops the next last handle of a
/// slot. A call may also come during or just after a `has_free_slot()` that says yes, so take it as
/// "look again". That thread may run a host task. MUST NOT block, and MUST NOT allocate from, ask
/// or destroy the pool, nor call `set_return_callback()`.
struct SlotReturnCallback {
  void (*function)(void* context) noexcept {nullptr};
  void* context{nullptr};
};

/// A finite set of slots of one size, all made by `build()`: memory, metadata and events.
/// Afterwards nothing is allocated. `allocate()`, `has_free_slot()` and `set_return_callback()`
/// belong to one thread (the producer's lane); handles come back from any thread without a lock.
///
/// Slots still held when the pool is destroyed keep its memory alive until they are dropped;
/// streams registered on them must live until then (`keep_alive`). Whoever goes last, pool or
/// handle, waits on the host for device work still pending on the pool's bytes, then frees them; in
/// a host task, a thread started for it does.
class TensorPool {
 public:
  /// Cold. kInvalidArgument (TENSOR_POOL_OPTIONS) names the option; kResourceExhausted
  /// (TENSOR_POOL_MEMORY) the bytes that could not be had; other errors are the device's.
  [[nodiscard]] static expected<TensorPool, Error> build(const TensorPoolOptions& options);
  TensorPool(TensorPool&& other) noexcept;
  TensorPool& operator=(TensorPool&& other) noexcept;
  ~TensorPool();

  /// Borrows a slot; its bytes are unspecified. Never waits: kResourceExhausted
  /// (TENSOR_POOL_EXHAUSTED) at once when none is free. A request that does not fit is
  /// kInvalidArgument (TENSOR_LARGER_THAN_SLOT, TENSOR_RANK_TOO_HIGH, or the codes of
  /// TensorLayout). The loan's device write phase will be accepted on `producer_stream` only, which
  /// is null or a stream of the pool's device (else kNotSupported, TENSOR_STREAM_FOREIGN; any for
  /// kHost) and must stay alive as long as the pool. Polls retirement when the free list is empty.
  /// kClosed (TENSOR_POOL_MOVED_FROM) after a move. Once the device has failed on a slot and none
  /// is free, the answer is that first error with the pool's name, for good: it is not
  /// back-pressure.
  [[nodiscard]] expected<TensorOutputLoan, Error> allocate(const TensorLoanRequest& request,
                                                           StreamRef producer_stream) noexcept;
  /// Whether the next `count` calls of `allocate()` will find a slot. Polls retirement. False arms
  /// the return callback: it is called once when a slot's last handle drops; ask again then. True
  /// also when too few are free because the device has failed: `allocate()` then says how. Never
  /// blocks.
  [[nodiscard]] bool has_free_slot(std::uint32_t count = 1) noexcept;
  /// True while a slot waits for device work only: nobody will call back, so a lane has to poll.
  /// From any thread.
  [[nodiscard]] bool waits_for_device() const noexcept;
  /// Cold. When it returns, no call to the callback before is running or to come.
  void set_return_callback(SlotReturnCallback callback) noexcept;

  [[nodiscard]] const TensorPoolOptions& options() const noexcept;
  /// From any thread.
  [[nodiscard]] TensorPoolUsage usage() const noexcept;
  /// Usage::returns alone.
  [[nodiscard]] std::uint64_t returns() const noexcept;
  /// The slots that are out, and who noted that they have them. From any thread; allocates.
  [[nodiscard]] std::vector<HeldSlot> held_slots() const;

  class Core;  // private to the library

 private:
  friend class TensorOutputLoan;
  explicit TensorPool(Core* core) noexcept : core_(core) {}
  Core* core_{nullptr};
};

}  // namespace weftline
