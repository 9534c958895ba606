// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/holder_notes.hpp"

namespace weftline {

void HolderNotes::read(HeldSlot& slot) const {
  slot.loaned_ns = loaned_ns_.load(std::memory_order_relaxed);
  for (std::size_t index = 0; index < arms_.size(); ++index) {
    const std::uint64_t word = arms_[index].load(std::memory_order_relaxed);
    if (word == 0) continue;
    const bool own = index + 1 < arms_.size();
    slot.arms.push_back({.arm = own ? first_arm_ + static_cast<std::uint32_t>(index)
                                    : last_arm_.load(std::memory_order_relaxed),
                         .taken = (word & kPlace) == kTaken,
                         .since_ns = static_cast<std::int64_t>(word) >> 2});
  }
}

}  // namespace weftline
