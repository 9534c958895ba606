// SPDX-License-Identifier: Apache-2.0
#include "sample_cache.hpp"

#include <new>

namespace weftline::runtime {

SampleCache::SampleCache(const PayloadOps& ops, std::uint32_t capacity)
    : ops_(ops), capacity_(capacity), cells_(ops, capacity, true), given_(capacity) {}

void SampleCache::push_back(void* value, bool move, const SampleMetadata& metadata) noexcept {
  const std::uint32_t number = number_of(size_);
  ::new (static_cast<void*>(cells_.metadata(number))) SampleMetadata(metadata);
  ::new (static_cast<void*>(cells_.stamp(number))) FlowStamp{};
  if (move) {
    ops_.move_construct(cells_.value(number), value);
  } else {
    ops_.copy_construct(cells_.value(number), value);
  }
  given_[number] = 0;
  ++size_;
}

void SampleCache::pop_front() noexcept {
  ops_.destroy(cells_.value(first_));
  first_ = number_of(1);
  --size_;
}

}  // namespace weftline::runtime
