// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weftline/core/error.hpp"
#include "weftline/core/memory_kind.hpp"
#include "weftline/core/tensor_layout.hpp"
#include "weftline/cuda/memory_access.hpp"
#include "weftline/cuda/stream_ref.hpp"
#include "weftline/tensor/holder_notes.hpp"
#include "weftline/tensor/host_wait_counters.hpp"
#include "weftline/tensor/readiness.hpp"
#include "weftline/tensor/release_set.hpp"

namespace weftline {

/// What the handles of one tensor share: bytes, layout, references, readiness, and the streams that
/// hold the bytes. For libraries that make tensors: they derive from it where bytes come from
/// somewhere else (a pool, a foreign owner, another process), and say in `last_reference_dropped()`
/// what becomes of the bytes. Nothing here allocates.
class alignas(64) TensorBacking {
 public:
  TensorBacking(const TensorBacking&) = delete;
  TensorBacking& operator=(const TensorBacking&) = delete;

  // Any thread that holds a reference. What the operations do, and their errors: see Tensor.

  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() noexcept {
    // The only holder needs no atomic change: there is no other handle to copy or to drop.
    if (references_.load(std::memory_order_acquire) == 1 ||
        references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      last_reference_dropped();
    }
  }
  expected<void, Error> enqueue_ready_wait(StreamRef stream) noexcept;
  expected<void, Error> add_release_stream(StreamRef stream) noexcept;
  expected<void, Error> prepare_for_consumer(StreamRef stream) noexcept;
  expected<void, Error> synchronize_for_consumer_stream(StreamRef stream) noexcept;
  /// The same for a consumer whose later streams nobody will name: without a left out fence.
  expected<void, Error> prepare_for_export(StreamRef stream) noexcept;
  expected<void, Error> set_readiness_stream(StreamRef stream) noexcept;
  [[nodiscard]] bool has_readiness_stream_contract() const noexcept {
    return readiness_.has_contract();
  }
  expected<void, Error> synchronize_for_host() noexcept;
  expected<void, Error> copy_to_host(void* destination, std::uint64_t bytes,
                                     StreamRef stream) noexcept;
  expected<void, Error> copy_to_host_async(void* destination, std::uint64_t bytes,
                                           StreamRef stream) noexcept;

  [[nodiscard]] const TensorLayout& layout() const noexcept { return layout_; }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] MemoryKind memory_kind() const noexcept { return memory_kind_; }
  [[nodiscard]] Device* device() const noexcept { return device_; }

  /// Whether readers have to be ordered after a device's writes, by an event.
  [[nodiscard]] bool fenced() const noexcept {
    return readiness_.kind() == Readiness::Kind::kRecorded;
  }
  /// A handle goes into the queue of that arm; its consumer takes it out. Nothing where nobody
  /// keeps notes.
  void note_queued(std::uint32_t arm, std::int64_t since_ns) noexcept {
    if (notes_ != nullptr) notes_->queued(arm, since_ns);
  }
  void note_taken(std::uint32_t arm) noexcept {
    if (notes_ != nullptr) notes_->taken(arm);
  }
  void note_gone(std::uint32_t arm) noexcept {
    if (notes_ != nullptr) notes_->gone(arm);
  }
  /// At some moment during the call; for people.
  [[nodiscard]] std::uint32_t handles() const noexcept {
    return references_.load(std::memory_order_relaxed);
  }

  /// For the one list that the backing's current owner keeps it on.
  TensorBacking* next{nullptr};

 protected:
  TensorBacking() noexcept = default;
  ~TensorBacking() = default;

  /// On the thread that dropped it, maybe in a host task (in_host_task()): no device may be called
  /// then. Nobody else can reach the backing any more.
  virtual void last_reference_dropped() noexcept = 0;

  // For the deriving class, while no handle exists.

  /// Cold. `device` is null exactly for plain host memory; it, `data` and `waits` must outlive the
  /// backing.
  void set_memory(MemoryKind kind, Device* device, std::byte* data,
                  HostWaitCounters& waits) noexcept;
  /// Cold; they must outlive the backing.
  void set_notes(HolderNotes& notes) noexcept { notes_ = &notes; }
  [[nodiscard]] HolderNotes* notes() const noexcept { return notes_; }
  /// One reference, for the first handle.
  void begin_life(const TensorLayout& layout) noexcept {
    layout_ = layout;
    begin_life();
  }
  /// The same with the layout of the life before.
  void begin_life() noexcept {
    readiness_.set_host_complete();
    releases_.clear();
    reader_awaits_writer_.store(false, std::memory_order_relaxed);
    references_.store(1, std::memory_order_relaxed);
  }
  /// Whether it is a stream of the device, and not the default one.
  expected<void, Error> check_stream(StreamRef stream) const noexcept;
  [[nodiscard]] Readiness& readiness() noexcept { return readiness_; }
  [[nodiscard]] ReleaseSet& releases() noexcept { return releases_; }
  [[nodiscard]] const ReleaseSet& releases() const noexcept { return releases_; }
  // For a StreamOrderChecker; nothing where nobody watches the device.
  /// From now until `declare_end()` the bytes are used in the order of `stream`, or by the host.
  void declare_use(StreamRef stream, MemoryUse use, std::string_view operation) noexcept {
    if (device_ != nullptr) tell_use(stream, use, operation);
  }
  /// A phase is over, or the last handle gone: before what marks it on the streams.
  void declare_end() noexcept {
    if (device_ != nullptr) tell_end();
  }
  /// Whether all recorded work on the bytes has passed: the writer's, and that of the release
  /// streams.
  [[nodiscard]] expected<bool, Error> work_has_passed() noexcept;
  /// True when device work on the bytes is neither known to have passed nor on a release stream.
  [[nodiscard]] bool holds_unproven_work() const noexcept {
    return unproven_.load(std::memory_order_relaxed);
  }

 private:
  void tell_use(StreamRef stream, MemoryUse use, std::string_view operation) noexcept;
  void tell_end() noexcept;
  /// Something that the proof behind a left out fence does not cover: from here on the tensor has
  /// all its fences (rule 5). Nothing where none was left out.
  expected<void, Error> make_explicit() noexcept;
  expected<void, Error> wait_on_host(HostWait why) noexcept {
    if (readiness_.host_complete()) return {};
    return wait_for_writes(why);
  }
  expected<void, Error> wait_for_writes(HostWait why) noexcept;
  expected<void, Error> prepare(StreamRef stream, HostWait without_stream) noexcept;
  expected<void, Error> check_copy(const void* destination, std::uint64_t bytes) const noexcept;
  void copy_now(void* destination, std::uint64_t bytes) const noexcept;
  expected<void, Error> queue_copy(void* destination, std::uint64_t bytes,
                                   StreamRef stream) noexcept;

  std::atomic<std::uint32_t> references_{0};
  std::atomic<bool> unproven_{false};
  std::atomic<bool> reader_awaits_writer_{false};  ///< Some release stream waits for readiness.
  MemoryKind memory_kind_{MemoryKind::kUnknown};
  Device* device_{nullptr};
  std::byte* data_{nullptr};
  HostWaitCounters* waits_{nullptr};
  HolderNotes* notes_{nullptr};
  Readiness readiness_{};
  ReleaseSet releases_{};
  TensorLayout layout_{};
};

}  // namespace weftline
