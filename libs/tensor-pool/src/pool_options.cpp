// SPDX-License-Identifier: Apache-2.0
#include "pool_options.hpp"

#include "weftline/tensor/release_set.hpp"

namespace weftline {

std::string place_of(const TensorPoolOptions& options) {
  return "tensor pool '" + options.name + "': ";
}

namespace {

auto bad_option(const TensorPoolOptions& options, const std::string& what) {
  return fail(ErrorCode::kInvalidArgument, "TENSOR_POOL_OPTIONS", place_of(options) + what);
}

}  // namespace

expected<void, Error> check_pool_options(const TensorPoolOptions& options) {
  const std::string kind(memory_kind_name(options.memory_kind));
  if (options.memory_kind == MemoryKind::kUnknown) {
    return bad_option(options, "memory_kind is unknown; name one of the four kinds");
  }
  if (options.memory_kind == MemoryKind::kHost && options.device) {
    return bad_option(options, "device is " + options.device->id().to_string() +
                                   " but memory_kind is host; leave the device out or choose "
                                   "pinned_host");
  }
  if (options.memory_kind != MemoryKind::kHost && !options.device) {
    return bad_option(options, "memory_kind " + kind + " needs a device");
  }
  if (options.slot_bytes == 0) return bad_option(options, "slot_bytes is 0; it must be positive");
  if (options.slot_count == 0) return bad_option(options, "slot_count is 0; it must be positive");
  if (options.max_rank == 0 || options.max_rank > kMaximumTensorRank) {
    return bad_option(options, "max_rank is " + std::to_string(options.max_rank) +
                                   "; it must be from 1 to " + std::to_string(kMaximumTensorRank));
  }
  if (options.max_release_streams > kMaximumReleaseStreams) {
    return bad_option(options,
                      "max_release_streams is " + std::to_string(options.max_release_streams) +
                          "; it must be at most " + std::to_string(kMaximumReleaseStreams));
  }
  if (options.fused_stream && (!options.device || options.fused_stream.get() == nullptr ||
                               options.fused_stream.device() != options.device.get())) {
    return bad_option(options, "fused_stream is no stream of the pool's device");
  }
  return {};
}

std::uint64_t slot_stride(const TensorPoolOptions& options) noexcept {
  std::uint64_t padded = 0;
  std::uint64_t total = 0;
  if (__builtin_add_overflow(options.slot_bytes, kMemoryBlockAlignment - 1, &padded)) return 0;
  padded -= padded % kMemoryBlockAlignment;
  return __builtin_mul_overflow(padded, options.slot_count, &total) ? 0 : padded;
}

}  // namespace weftline
