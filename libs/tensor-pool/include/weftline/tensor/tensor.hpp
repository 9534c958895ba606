// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "weftline/core/error.hpp"
#include "weftline/core/memory_kind.hpp"
#include "weftline/core/tensor_layout.hpp"
#include "weftline/cuda/stream_ref.hpp"
#include "weftline/tensor/tensor_backing.hpp"

namespace weftline {

/// A read-only lease on one published slot, or on bytes of another owner (TensorBacking): one
/// pointer, copied by an atomic increment, never allocating. A slot returns to its pool after the
/// last handle is gone and the work of every registered consumer stream has passed. Handles may be
/// copied and dropped on any thread; one handle object belongs to one thread at a time. An empty
/// handle (default, moved-from) has rank 0, no data, and answers kInvalidArgument (TENSOR_EMPTY).
///
/// Streams given to a tensor are of its own device, else kNotSupported (TENSOR_STREAM_FOREIGN);
/// where one is needed, no stream or the default stream (a null handle) is kInvalidArgument
/// (TENSOR_STREAM_REQUIRED). Where nobody has said when the bytes are ready, all that reads them is
/// kNotSupported (TENSOR_READINESS_UNKNOWN). A plain host tensor (MemoryKind::kHost) belongs to no
/// device and has neither readiness nor release: device work that reads it must be over before the
/// handle drops.
///
/// Dropping the last handle makes device calls (one record per registered stream), and may wait for
/// the device once the pool is gone. Inside a host task on a stream (`launch_host`) it does
/// neither: the records are then made by the pool's next look for a slot, or by the retirement
/// worker, and so cover what those streams have queued by that time; a pool that is gone is ended
/// on a thread that is started for it.
class Tensor {
 public:
  Tensor() noexcept = default;
  Tensor(const Tensor& other) noexcept : backing_(other.backing_) {
    if (backing_ != nullptr) backing_->add_reference();
  }
  Tensor(Tensor&& other) noexcept : backing_(std::exchange(other.backing_, nullptr)) {}
  Tensor& operator=(const Tensor& other) noexcept {
    Tensor copied(other);
    std::swap(backing_, copied.backing_);
    return *this;
  }
  Tensor& operator=(Tensor&& other) noexcept {
    Tensor moved(std::move(other));
    std::swap(backing_, moved.backing_);
    return *this;
  }
  ~Tensor() {
    if (backing_ != nullptr) backing_->drop_reference();
  }

  [[nodiscard]] explicit operator bool() const noexcept { return backing_ != nullptr; }

  [[nodiscard]] const TensorLayout& layout() const noexcept;
  [[nodiscard]] std::span<const std::int64_t> shape() const noexcept { return layout().shape(); }
  [[nodiscard]] std::span<const std::int64_t> byte_strides() const noexcept {
    return layout().byte_strides();
  }
  [[nodiscard]] DLDataType dtype() const noexcept { return layout().dtype; }
  [[nodiscard]] std::uint64_t byte_size() const noexcept { return layout().byte_span(); }
  [[nodiscard]] MemoryKind memory_kind() const noexcept {
    return backing_ != nullptr ? backing_->memory_kind() : MemoryKind::kUnknown;
  }
  /// The device that the bytes belong to or are pinned for; null for plain host memory.
  [[nodiscard]] Device* device() const noexcept {
    return backing_ != nullptr ? backing_->device() : nullptr;
  }

  [[nodiscard]] const void* data() const noexcept {
    return backing_ != nullptr ? backing_->data() : nullptr;
  }
  template <class T>
  [[nodiscard]] const T* data_as() const noexcept {
    return static_cast<const T*>(data());
  }
  /// Always kPermissionDenied (TENSOR_READ_ONLY): write authority was spent at commit.
  [[nodiscard]] expected<void*, Error> mutable_data() const noexcept;

  /// Orders later work on `stream` after the producer's writes. Queues at most one event wait, none
  /// for a host writer or on a fused stream (TensorPoolOptions); never blocks.
  expected<void, Error> enqueue_ready_wait(StreamRef stream) const noexcept;
  /// The slot is not reused before the work queued on `stream` up to the last handle's drop has
  /// passed. Retirement only: it orders no read. Registering a stream again is free; past the
  /// pool's bound kResourceExhausted (TENSOR_RELEASE_STREAMS_EXHAUSTED); on a plain host tensor
  /// kNotSupported (TENSOR_WITHOUT_DEVICE). The stream must stay alive as long as the pool. Any
  /// thread; never blocks.
  expected<void, Error> set_deallocation_stream(StreamRef stream) const noexcept;
  /// What the runtime does for a consumer before its compute(): both of the above (neither for a
  /// plain host tensor), or, without a stream, a wait on the host for the producer's device work,
  /// counted as HostWaits::streamless_consumer.
  expected<void, Error> prepare_for_consumer(StreamRef stream) const noexcept;

  /// The same for consumers outside the runtime. Without a stream the wait is counted as
  /// HostWaits::null_consumer_stream.
  expected<void, Error> synchronize_for_consumer_stream(StreamRef stream) const noexcept;

  /// False for a foreign tensor (DLPack) while nobody has said when its producer's writes are done.
  /// All that reads it is refused until then.
  [[nodiscard]] bool has_readiness_stream_contract() const noexcept;
  /// Says it: the bytes are ready when the work queued on `stream` until now is done, or at once
  /// without a stream. Never blocks. By the importer, before the tensor is handed on: no other
  /// thread may hold a handle. A tensor whose readiness is known is kInvalidArgument
  /// (TENSOR_READINESS_KNOWN).
  expected<void, Error> set_readiness_stream(StreamRef stream) const noexcept;

  /// Blocks the calling thread until the producer's device work on these bytes is done; at once for
  /// a host writer. A wait is counted (HostWaits), like that of `copy_to_host()`.
  expected<void, Error> synchronize_for_host() const noexcept;
  /// Copies `bytes` from the start into host memory after the producer's writes. kInvalidArgument
  /// (TENSOR_COPY_SIZE) when that is more than byte_size(), or when `destination` is null and
  /// `bytes` is not 0. Plain host tensors need no stream and are copied before the call returns.
  ///
  /// The first blocks until `stream` has passed the copy, and then has no more use for `stream`;
  /// with no stream it waits on the host and copies there, where a host can reach the bytes. When
  /// the wait fails, the copy may still be queued: `destination` and `stream` must then live as
  /// after the second.
  ///
  /// The second always needs a stream, and registers it as a deallocation stream: `destination`
  /// must live until the copy is done, `stream` as long as the pool. It never waits for the
  /// producer, but CUDA itself blocks the caller when it copies device memory into plain host
  /// memory, uncounted: take a pinned destination.
  expected<void, Error> copy_to_host(void* destination, std::uint64_t bytes,
                                     StreamRef stream) const noexcept;
  expected<void, Error> copy_to_host_async(void* destination, std::uint64_t bytes,
                                           StreamRef stream) const noexcept;

  /// For exporters: as synchronize_for_consumer_stream(), for a consumer whose later streams nobody
  /// will name. A left out fence comes back (TensorPoolOptions::fused_stream).
  expected<void, Error> prepare_for_export(StreamRef stream) const noexcept;
  /// For runtimes: who has the handle now (HeldSlot). `arm` as in TensorPoolOptions.
  void note_queued(std::uint32_t arm, std::int64_t since_ns) const noexcept {
    if (backing_ != nullptr) backing_->note_queued(arm, since_ns);
  }
  void note_taken(std::uint32_t arm) const noexcept {
    if (backing_ != nullptr) backing_->note_taken(arm);
  }
  void note_gone(std::uint32_t arm) const noexcept {
    if (backing_ != nullptr) backing_->note_gone(arm);
  }
  /// Whether readers are ordered after a device's writes by an event: false for a host writer, and
  /// where the fence is left out.
  [[nodiscard]] bool fenced() const noexcept { return backing_ != nullptr && backing_->fenced(); }
  /// For libraries that make tensors, to know their own again. Null for an empty handle.
  [[nodiscard]] const TensorBacking* backing() const noexcept { return backing_; }
  /// Takes over one reference. For libraries that make tensors.
  static Tensor adopt(TensorBacking& backing) noexcept { return Tensor(&backing); }

 private:
  explicit Tensor(TensorBacking* backing) noexcept : backing_(backing) {}
  TensorBacking* backing_{nullptr};
};

}  // namespace weftline
