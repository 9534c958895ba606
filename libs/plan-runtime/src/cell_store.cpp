// SPDX-License-Identifier: Apache-2.0
#include "cell_store.hpp"

#include <algorithm>

namespace weftline::runtime {
namespace {

constexpr std::size_t kCacheLine = 64;

constexpr std::size_t round_up(std::size_t value, std::size_t step) noexcept {
  return (value + step - 1) / step * step;
}

}  // namespace

CellStore::CellStore(const PayloadOps& ops, std::uint32_t count, bool stamped) {
  // A power of two, so a multiple of the line: offsets from an aligned cell are aligned.
  const std::size_t alignment = std::max(ops.alignment, kCacheLine);
  value_offset_ = static_cast<std::uint32_t>(
      round_up(kStampOffset + (stamped ? sizeof(FlowStamp) : 0), ops.alignment));
  stride_ = round_up(value_offset_ + ops.size, alignment);
  cells_ = {static_cast<std::byte*>(::operator new[](stride_* count, std::align_val_t{alignment})),
            Free{std::align_val_t{alignment}}};
  std::fill_n(cells_.get(), stride_ * count, std::byte{0});  // no page fault later
}

}  // namespace weftline::runtime
