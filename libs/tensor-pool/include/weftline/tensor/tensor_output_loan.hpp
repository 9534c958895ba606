// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "weftline/core/error.hpp"
#include "weftline/core/tensor_layout.hpp"
#include "weftline/cuda/stream_ref.hpp"
#include "weftline/tensor/tensor.hpp"

namespace weftline {

/// What a producer asks for. Spans are read during the call only. No strides: packed.
struct TensorLoanRequest {
  std::span<const std::int64_t> shape{};
  DLDataType dtype{};
  std::span<const std::int64_t> byte_strides{};
};

class PoolSlot;  // private to tensor-pool
class TensorPool;
class TensorWriteGuard;

/// One borrowed slot on its way to publication: allocate → write → fill → commit → emit.
/// Move-construct only. Belongs to one thread. Dropping it at any step returns the slot (after its
/// own device work has passed), in a host task as well (see Tensor). An empty loan (moved-from,
/// published) has no shape and no bytes.
class TensorOutputLoan {
 public:
  TensorOutputLoan(TensorOutputLoan&& other) noexcept
      : slot_(std::exchange(other.slot_, nullptr)) {}
  TensorOutputLoan& operator=(TensorOutputLoan&&) = delete;
  ~TensorOutputLoan();

  [[nodiscard]] std::span<const std::int64_t> shape() const noexcept;
  [[nodiscard]] std::span<const std::int64_t> byte_strides() const noexcept;
  [[nodiscard]] std::uint64_t byte_size() const noexcept;
  [[nodiscard]] bool committed() const noexcept;
  /// False once moved from or published.
  [[nodiscard]] bool valid() const noexcept { return slot_ != nullptr; }

  /// Opens the one write phase. With the producer's own stream it is a device phase: the fill is
  /// queued on that stream and commit records readiness there. With no stream it is a host phase.
  /// Never blocks. Refused, and the loan stays as it was:
  ///  - a second phase, kInvalidArgument (TENSOR_ALREADY_WRITTEN); an empty loan, the same
  ///    (TENSOR_LOAN_EMPTY);
  ///  - a host phase on memory that a host can't reach, kNotSupported
  ///    (TENSOR_HOST_WRITE_TO_DEVICE_MEMORY);
  ///  - a device phase on plain host memory, kNotSupported (TENSOR_DEVICE_WRITE_TO_HOST_MEMORY);
  ///  - a stream other than the producer's, kNotSupported (TENSOR_STREAM_FOREIGN);
  ///  - a host phase in a pool with a fused stream while the device may still read every slot that
  ///    could be handed out, kResourceExhausted (TENSOR_FUSED_SLOTS_IN_USE): try again later. In
  ///    such a pool a host phase may move the loan to another slot, and belongs to the pool's
  ///    thread.
  [[nodiscard]] expected<TensorWriteGuard, Error> write(StreamRef stream) noexcept;

  /// write, fill, commit in one call. `fill(void* data, std::uint64_t bytes)` returns void or
  /// expected<void, Error>; its error is passed on and nothing is committed: drop the loan then.
  template <class Fill>
  expected<void, Error> write_and_commit(StreamRef stream, Fill&& fill);
  template <class Fill>
  expected<void, Error> write_host_and_commit(Fill&& fill);

  /// For runtimes: when it was borrowed (HeldSlot). Nothing for an empty loan.
  void note_loaned(std::int64_t since_ns) noexcept;
  /// Whether the loan is one of this pool's slots; false for an empty one.
  [[nodiscard]] bool is_of(const TensorPool& pool) const noexcept;

  /// Takes over one reference. For tensor-pool.
  static TensorOutputLoan adopt(PoolSlot& slot) noexcept { return TensorOutputLoan(&slot); }
  /// Gives the reference away. For tensor-pool.
  [[nodiscard]] PoolSlot* release() noexcept { return std::exchange(slot_, nullptr); }

 private:
  explicit TensorOutputLoan(PoolSlot* slot) noexcept : slot_(slot) {}
  PoolSlot* slot_{nullptr};
};

/// The right to write the bytes of one loan, from `write()` to `commit()`. Must not outlive its
/// pool, and is of no use once its loan is gone; a moved loan takes the guard along (both name the
/// slot). Dropping it without commit leaves the loan unwritable: drop that too. Once moved from,
/// committed, or without its loan it is empty: no data, no bytes. Belongs to the loan's thread.
class TensorWriteGuard {
 public:
  TensorWriteGuard(TensorWriteGuard&& other) noexcept
      : slot_(std::exchange(other.slot_, nullptr)),
        loan_number_(other.loan_number_),
        stream_(other.stream_) {}
  TensorWriteGuard& operator=(TensorWriteGuard&&) = delete;
  ~TensorWriteGuard() = default;

  [[nodiscard]] void* data() const noexcept;
  template <class T>
  [[nodiscard]] T* data_as() const noexcept {
    return static_cast<T*>(data());
  }
  [[nodiscard]] std::uint64_t byte_size() const noexcept;
  [[nodiscard]] StreamRef stream() const noexcept { return stream_; }

  /// Ends the write phase and empties the guard. Device phase: records one event on the stream, and
  /// never waits. kInvalidArgument for an empty guard (TENSOR_GUARD_EMPTY), and for one whose loan
  /// is gone (TENSOR_GUARD_STALE). When the device refuses the record, its error is passed on and
  /// the loan stays uncommitted: drop it.
  expected<void, Error> commit() && noexcept;

  /// For TensorOutputLoan.
  TensorWriteGuard(PoolSlot& slot, StreamRef stream) noexcept;

 private:
  [[nodiscard]] bool writing() const noexcept;
  PoolSlot* slot_{nullptr};
  std::uint64_t loan_number_{0};  ///< The loan that `slot_` has to be lent to.
  StreamRef stream_{};
};

template <class Fill>
expected<void, Error> TensorOutputLoan::write_and_commit(StreamRef stream, Fill&& fill) {
  WEFTLINE_ASSIGN(TensorWriteGuard guard, write(stream));
  if constexpr (std::is_void_v<std::invoke_result_t<Fill&, void*, std::uint64_t>>) {
    fill(guard.data(), guard.byte_size());
  } else {
    WEFTLINE_TRY(fill(guard.data(), guard.byte_size()));
  }
  return std::move(guard).commit();
}

template <class Fill>
expected<void, Error> TensorOutputLoan::write_host_and_commit(Fill&& fill) {
  return write_and_commit(StreamRef{}, std::forward<Fill>(fill));
}

}  // namespace weftline
