// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weftline::channel {

// Access to words of shared memory. The other process may change any of them at any time, so each
// is read exactly once into a local and checked there.

template <class Word>
[[nodiscard]] Word load_word(const Word& word, std::memory_order order) noexcept {
  static_assert(std::atomic_ref<Word>::is_always_lock_free);
  return std::atomic_ref<Word>(const_cast<Word&>(word)).load(order);  // atomic_ref takes no const
}

template <class Word>
void store_word(Word& word, Word value, std::memory_order order) noexcept {
  static_assert(std::atomic_ref<Word>::is_always_lock_free);
  std::atomic_ref<Word>(word).store(value, order);
}

/// Copies into a slot that a reader may be reading. Word by word with release, so that whoever sees
/// any of these words also sees what was stored before the copy began: the slot's cleared stamp.
/// `target` is 8-byte aligned and has room for a whole number of words.
inline void copy_in_racing(std::byte* target, const std::byte* source, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, source + at, std::min(sizeof(word), bytes - at));
    store_word(*reinterpret_cast<std::uint64_t*>(target + at), word, std::memory_order_release);
  }
}

/// Copies out of a slot that may be overwritten meanwhile; the counterpart of copy_in_racing. The
/// loads acquire: a stamp that is loaded after the copy is not older than any word of it.
inline void copy_out_racing(std::byte* target, const std::byte* source,
                            std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t word =
        load_word(*reinterpret_cast<const std::uint64_t*>(source + at), std::memory_order_acquire);
    std::memcpy(target + at, &word, std::min(sizeof(word), bytes - at));
  }
}

}  // namespace weftline::channel
