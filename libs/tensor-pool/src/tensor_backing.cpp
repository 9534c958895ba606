// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/tensor_backing.hpp"

#include <cstring>

#include "weftline/cuda/device.hpp"

namespace weftline {

void TensorBacking::set_memory(MemoryKind kind, Device* device, std::byte* data,
                               HostWaitCounters& waits) noexcept {
  memory_kind_ = kind;
  device_ = device;
  data_ = data;
  waits_ = &waits;
}

void TensorBacking::tell_use(StreamRef stream, MemoryUse use, std::string_view operation) noexcept {
  if (StreamOrderChecker* const checker = device_->order_checker()) {
    checker->begin_use(this, stream, use, {data_, layout_.byte_span()}, operation);
  }
}

void TensorBacking::tell_end() noexcept {
  if (StreamOrderChecker* const checker = device_->order_checker()) checker->end_uses(this);
}

// A reader that waited for the writer passes after it: one question less per life, and an event
// that is done is the dearest to ask (1.3 us on an H200).
expected<bool, Error> TensorBacking::work_has_passed() noexcept {
  if (!reader_awaits_writer_.load(std::memory_order_relaxed)) {
    // Without consumer streams (nobody there, or readers on the host) the writer's work counts.
    WEFTLINE_ASSIGN(const bool written, readiness_.passed());
    if (!written) return false;
  }
  return releases_.poll();
}

expected<void, Error> TensorBacking::check_stream(StreamRef stream) const noexcept {
  if (stream.get() == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "TENSOR_STREAM_REQUIRED");
  }
  if (stream.device() != device_) return fail(ErrorCode::kNotSupported, "TENSOR_STREAM_FOREIGN");
  return {};
}

expected<void, Error> TensorBacking::make_explicit() noexcept {
  if (readiness_.kind() == Readiness::Kind::kElided && !releases_.add(readiness_.elided_stream())) {
    return fail(ErrorCode::kResourceExhausted, "TENSOR_RELEASE_STREAMS_EXHAUSTED");
  }
  return readiness_.make_explicit();
}

expected<void, Error> TensorBacking::enqueue_ready_wait(StreamRef stream) noexcept {
  if (device_ == nullptr) return {};
  WEFTLINE_TRY(check_stream(stream));
  if (readiness_.elided_on(stream)) return {};
  WEFTLINE_TRY(make_explicit());
  return readiness_.enqueue_wait(stream);
}

expected<void, Error> TensorBacking::add_release_stream(StreamRef stream) noexcept {
  if (device_ == nullptr) return fail(ErrorCode::kNotSupported, "TENSOR_WITHOUT_DEVICE");
  WEFTLINE_TRY(check_stream(stream));
  if (readiness_.elided_on(stream)) return {};
  WEFTLINE_TRY(make_explicit());
  if (!releases_.add(stream)) {
    return fail(ErrorCode::kResourceExhausted, "TENSOR_RELEASE_STREAMS_EXHAUSTED");
  }
  return {};
}

expected<void, Error> TensorBacking::prepare(StreamRef stream, HostWait without_stream) noexcept {
  if (stream && device_ == nullptr) return {};
  if (!stream) {
    WEFTLINE_TRY(wait_on_host(without_stream));
  } else {
    WEFTLINE_TRY(add_release_stream(stream));
    WEFTLINE_TRY(enqueue_ready_wait(stream));
    reader_awaits_writer_.store(true, std::memory_order_relaxed);
  }
  declare_use(stream, MemoryUse::kRead, "received tensor");
  return {};
}

expected<void, Error> TensorBacking::prepare_for_consumer(StreamRef stream) noexcept {
  return prepare(stream, HostWait::kStreamlessConsumer);
}

expected<void, Error> TensorBacking::synchronize_for_consumer_stream(StreamRef stream) noexcept {
  return prepare(stream, HostWait::kNullConsumerStream);
}

expected<void, Error> TensorBacking::prepare_for_export(StreamRef stream) noexcept {
  WEFTLINE_TRY(make_explicit());
  return synchronize_for_consumer_stream(stream);
}

expected<void, Error> TensorBacking::set_readiness_stream(StreamRef stream) noexcept {
  if (readiness_.has_contract()) {
    return fail(ErrorCode::kInvalidArgument, "TENSOR_READINESS_KNOWN");
  }
  if (!stream) {
    readiness_.set_host_complete();
    return {};
  }
  WEFTLINE_TRY(check_stream(stream));
  return readiness_.record(stream);
}

expected<void, Error> TensorBacking::wait_for_writes(HostWait why) noexcept {
  WEFTLINE_TRY(make_explicit());
  return readiness_.wait_on_host(*waits_, why);
}

expected<void, Error> TensorBacking::synchronize_for_host() noexcept {
  WEFTLINE_TRY(wait_on_host(HostWait::kSynchronizeForHost));
  declare_use({}, MemoryUse::kRead, "received tensor");
  return {};
}

expected<void, Error> TensorBacking::check_copy(const void* destination,
                                                std::uint64_t bytes) const noexcept {
  if (bytes > layout_.byte_span() || (destination == nullptr && bytes != 0)) {
    return fail(ErrorCode::kInvalidArgument, "TENSOR_COPY_SIZE");
  }
  return {};
}

void TensorBacking::copy_now(void* destination, std::uint64_t bytes) const noexcept {
  if (bytes != 0) std::memcpy(destination, data_, bytes);
}

expected<void, Error> TensorBacking::queue_copy(void* destination, std::uint64_t bytes,
                                                StreamRef stream) noexcept {
  WEFTLINE_TRY(enqueue_ready_wait(stream));
  return device_->copy(stream, destination, data_, bytes);
}

expected<void, Error> TensorBacking::copy_to_host(void* destination, std::uint64_t bytes,
                                                  StreamRef stream) noexcept {
  WEFTLINE_TRY(check_copy(destination, bytes));
  if (device_ == nullptr || (!stream && is_host_accessible(memory_kind_))) {
    WEFTLINE_TRY(wait_on_host(HostWait::kCopyToHost));
    copy_now(destination, bytes);
    return {};
  }
  WEFTLINE_TRY(queue_copy(destination, bytes, stream));
  waits_->count(HostWait::kCopyToHost);
  auto passed = device_->synchronize(stream);
  // The copy may still run: it holds the bytes like an asynchronous one, and for good where there
  // is no room to remember its stream.
  if (!passed && !releases_.add(stream)) unproven_.store(true, std::memory_order_relaxed);
  return passed;
}

expected<void, Error> TensorBacking::copy_to_host_async(void* destination, std::uint64_t bytes,
                                                        StreamRef stream) noexcept {
  WEFTLINE_TRY(check_copy(destination, bytes));
  if (device_ == nullptr) {
    WEFTLINE_TRY(wait_on_host(HostWait::kCopyToHost));
    copy_now(destination, bytes);
    return {};
  }
  WEFTLINE_TRY(add_release_stream(stream));
  return queue_copy(destination, bytes, stream);
}

}  // namespace weftline
