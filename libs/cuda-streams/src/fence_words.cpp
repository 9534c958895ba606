// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/fence_words.hpp"

#include <string>

#include "device_checks.hpp"

namespace weftline {

using namespace cuda_streams;

expected<FenceWord, Error> FenceWords::word(std::uint64_t* place) {
  WEFTLINE_ASSIGN(const PointerInfo info, device_.pointer_info(place));
  if (info.kind != MemoryKind::kPinnedHost ||
      reinterpret_cast<std::uintptr_t>(place) % alignof(std::uint64_t) != 0) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_FENCE_WORD_PLACE",
                "a fence word of " + device_.id().to_string() +
                    " is 8 aligned bytes of pinned_host memory, not an address that ends in " +
                    std::to_string(reinterpret_cast<std::uintptr_t>(place) % 8) + " of 8 in " +
                    std::string(memory_kind_name(info.kind)) +
                    " memory. Take it from Device::allocate(MemoryKind::kPinnedHost, …).");
  }
  WEFTLINE_ASSIGN(const std::uintptr_t address, do_device_address(place));
  if (auto* const model = device_.order_model()) {
    model->word_made(place);
  }
  return FenceWord(device_, place, address);
}

expected<void, Error> FenceWords::write(StreamRef stream, FenceWord word,
                                        std::uint64_t value) noexcept {
  return write(stream, std::span(&word, 1), value);
}

expected<void, Error> FenceWords::write(StreamRef stream, std::span<const FenceWord> words,
                                        std::uint64_t value) noexcept {
  const DeviceRefusal* why = first_of(check_own(device_, stream), device_.check_call());
  for (const FenceWord word : words) {
    why = first_of(why, check_own(device_, word));
  }
  if (why != nullptr) {
    return refuse(*why);
  }
  if (words.empty()) {
    return {};
  }
  if (auto* const model = device_.order_model()) {
    for (const FenceWord word : words) {
      model->word_written(stream, word, value);
    }
  }
  return do_write(stream.get(), words, value);
}

expected<void, Error> FenceWords::wait(StreamRef stream, FenceWord word,
                                       std::uint64_t value) noexcept {
  if (const DeviceRefusal* const why =
          first_of(check_own(device_, stream), check_own(device_, word), device_.check_call())) {
    return refuse(*why);
  }
  if (auto* const model = device_.order_model()) {
    model->word_awaited(stream, word, value);
  }
  return do_wait(stream.get(), word, value);
}

}  // namespace weftline
