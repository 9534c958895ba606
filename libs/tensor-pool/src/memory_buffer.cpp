// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/memory_buffer.hpp"

#include <array>
#include <limits>
#include <string>

#include "owned_backing.hpp"
#include "retirement_queue.hpp"
#include "weftline/tensor/release_set.hpp"

namespace weftline {

/// The memory of one buffer.
class BufferBacking final : public OwnedBacking {
 public:
  static expected<BufferBacking*, Error> make(MemoryBlock memory, std::shared_ptr<Device> device,
                                              std::shared_ptr<RetirementQueue> queue,
                                              std::uint32_t max_release_streams) {
    const std::array shape{static_cast<std::int64_t>(memory.byte_size())};
    WEFTLINE_ASSIGN(const TensorLayout layout, contiguous_layout(shape, {kDLUInt, 8, 1}));
    auto backing = std::unique_ptr<BufferBacking>(new BufferBacking(std::move(memory)));
    WEFTLINE_TRY(backing->build(backing->memory_.kind(), std::move(device), backing->memory_.data(),
                                std::move(queue), max_release_streams));
    backing->begin_life(layout);
    return backing.release();
  }
  expected<void, Error> end_writing(StreamRef writer) noexcept {
    if (!writer) return {};
    WEFTLINE_TRY(check_stream(writer));
    declare_use(writer, MemoryUse::kWrite, "buffer's writer");
    declare_end();
    return readiness().record(writer);
  }

 private:
  explicit BufferBacking(MemoryBlock memory) noexcept : memory_(std::move(memory)) {}
  const MemoryBlock memory_;
};

namespace {

auto empty_buffer() { return fail(ErrorCode::kInvalidArgument, "BUFFER_EMPTY"); }

auto bad_argument(const std::string& what) {
  return fail(ErrorCode::kInvalidArgument, "BUFFER_OPTIONS", "memory buffer: " + what);
}

}  // namespace

expected<MemoryBuffer, Error> MemoryBuffer::allocate_host(std::uint64_t bytes) {
  WEFTLINE_ASSIGN(MemoryBlock memory, allocate_host_memory(bytes));
  WEFTLINE_ASSIGN(BufferBacking * backing,
                  BufferBacking::make(std::move(memory), nullptr, nullptr, 0));
  return MemoryBuffer(backing);
}

expected<MemoryBuffer, Error> MemoryBuffer::allocate(std::shared_ptr<Device> device,
                                                     MemoryKind kind, std::uint64_t bytes,
                                                     const RetirementWorker& worker,
                                                     const Options& options) {
  if (!device) return bad_argument("the device is null; take allocate_host() for plain memory");
  if (!worker.queue()) return bad_argument("the retirement worker was moved from");
  if (options.max_fanout_release_streams > kMaximumReleaseStreams) {
    return bad_argument("max_fanout_release_streams is " +
                        std::to_string(options.max_fanout_release_streams) +
                        "; it must be at most " + std::to_string(kMaximumReleaseStreams));
  }
  WEFTLINE_ASSIGN(MemoryBlock memory, device->allocate(kind, bytes));
  WEFTLINE_ASSIGN(BufferBacking * backing,
                  BufferBacking::make(std::move(memory), std::move(device), worker.queue(),
                                      options.max_fanout_release_streams));
  return MemoryBuffer(backing);
}

MemoryBuffer& MemoryBuffer::operator=(MemoryBuffer&& other) noexcept {
  MemoryBuffer moved(std::move(other));
  std::swap(backing_, moved.backing_);
  return *this;
}

MemoryBuffer::~MemoryBuffer() {
  if (backing_ != nullptr) backing_->drop_reference();
}

void* MemoryBuffer::data() noexcept { return backing_ != nullptr ? backing_->data() : nullptr; }

std::uint64_t MemoryBuffer::byte_size() const noexcept {
  return backing_ != nullptr ? backing_->layout().byte_span() : 0;
}

MemoryKind MemoryBuffer::memory_kind() const noexcept {
  return backing_ != nullptr ? backing_->memory_kind() : MemoryKind::kUnknown;
}

Device* MemoryBuffer::device() const noexcept {
  return backing_ != nullptr ? backing_->device() : nullptr;
}

expected<void, Error> MemoryBuffer::set_deallocation_stream(StreamRef stream) noexcept {
  if (backing_ == nullptr) return empty_buffer();
  return backing_->add_release_stream(stream);
}

expected<ConstBuffer, Error> MemoryBuffer::share(StreamRef writer) && noexcept {
  if (backing_ == nullptr) return empty_buffer();
  WEFTLINE_TRY(backing_->end_writing(writer));
  return ConstBuffer::adopt(Tensor::adopt(*std::exchange(backing_, nullptr)));
}

}  // namespace weftline
