// SPDX-License-Identifier: Apache-2.0
#include "sample_cache.hpp"

#include <algorithm>
#include <new>

namespace weftline::runtime {
namespace {

constexpr std::size_t kCellAlignment = 64;

constexpr std::size_t round_up(std::size_t value, std::size_t step) noexcept {
  return (value + step - 1) / step * step;
}

}  // namespace

void SampleCache::FreeAligned::operator()(std::byte* memory) const noexcept {
  ::operator delete[](memory, std::align_val_t{kCellAlignment});
}

SampleCache::SampleCache(const PayloadOps& ops, std::uint32_t capacity)
    : ops_(ops), capacity_(capacity), given_(capacity), stamps_(capacity) {
  value_offset_ = round_up(sizeof(SampleMetadata), ops.alignment);
  stride_ = round_up(value_offset_ + ops.size, std::max(ops.alignment, alignof(SampleMetadata)));
  cells_.reset(static_cast<std::byte*>(
      ::operator new[](stride_* capacity, std::align_val_t{kCellAlignment})));
  std::fill_n(cells_.get(), stride_ * capacity, std::byte{0});  // no page fault later
}

void SampleCache::push_back(void* value, bool move, const SampleMetadata& metadata) noexcept {
  const std::uint32_t number = number_of(size_);
  ::new (static_cast<void*>(cell(number))) SampleMetadata(metadata);
  if (move) {
    ops_.move_construct(this->value(number), value);
  } else {
    ops_.copy_construct(this->value(number), value);
  }
  given_[number] = 0;
  stamps_[number] = {};
  ++size_;
}

void SampleCache::pop_front() noexcept {
  ops_.destroy(value(first_));
  first_ = number_of(1);
  --size_;
}

}  // namespace weftline::runtime
