// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace weftline::cuda_streams {

/// Memory that a program's own `operator new` never sees: see StreamOrderChecker.
template <class T>
struct UncountedAllocator {
  using value_type = T;
  UncountedAllocator() noexcept = default;
  template <class U>
  UncountedAllocator(const UncountedAllocator<U>&) noexcept {}  // NOLINT: allocators convert
  [[nodiscard]] T* allocate(std::size_t count) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    // NOLINTNEXTLINE(bugprone-sizeof-expression): T may well be a pointer
    void* const data = std::malloc(count * sizeof(T));
    if (data == nullptr) {
      throw std::bad_alloc();
    }
    return static_cast<T*>(data);
  }
  void deallocate(T* data, std::size_t) noexcept { std::free(data); }
  friend bool operator==(UncountedAllocator, UncountedAllocator) noexcept { return true; }
};

template <class T>
using UncountedVector = std::vector<T, UncountedAllocator<T>>;

/// Where something happens in order: a stream, or the host.
using Actor = std::uint32_t;
inline constexpr Actor kHostActor = 0;

/// How many steps of an actor have been taken.
using Epoch = std::uint64_t;

/// A wait for a fence word whose opening write is not known yet.
struct AwaitedWord {
  const std::uint64_t* place;
  std::uint64_t value;
  friend bool operator==(const AwaitedWord&, const AwaitedWord&) noexcept = default;
};

/// What has certainly happened at some point: of each actor the steps up to an epoch, and whatever
/// opens the words that are still awaited.
class VectorClock {
 public:
  [[nodiscard]] Epoch at(Actor actor) const noexcept {
    return actor < epochs_.size() ? epochs_[actor] : 0;
  }
  void raise(Actor actor, Epoch epoch) {
    if (actor >= epochs_.size()) {
      epochs_.resize(actor + 1);
    }
    epochs_[actor] = std::max(epochs_[actor], epoch);
  }
  void join_epochs(const VectorClock& other) {
    if (other.epochs_.size() > epochs_.size()) {
      epochs_.resize(other.epochs_.size());
    }
    for (std::size_t actor = 0; actor < other.epochs_.size(); ++actor) {
      epochs_[actor] = std::max(epochs_[actor], other.epochs_[actor]);
    }
  }
  void join(const VectorClock& other) {
    join_epochs(other);
    for (const AwaitedWord& word : other.awaited_) {
      await(word);
    }
  }
  void await(const AwaitedWord& word) {
    if (std::find(awaited_.begin(), awaited_.end(), word) == awaited_.end()) {
      awaited_.push_back(word);
    }
  }
  [[nodiscard]] const UncountedVector<AwaitedWord>& awaited() const noexcept { return awaited_; }
  [[nodiscard]] UncountedVector<AwaitedWord> take_awaited() noexcept {
    return std::exchange(awaited_, {});
  }

 private:
  UncountedVector<Epoch> epochs_{};
  UncountedVector<AwaitedWord> awaited_{};
};

}  // namespace weftline::cuda_streams
