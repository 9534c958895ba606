// SPDX-License-Identifier: Apache-2.0
#include "retirement_queue.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace weftline {
namespace {

constexpr std::chrono::microseconds kDevicePoll{100};

}  // namespace

void RetirementQueue::push(OwnedBacking& backing) noexcept {
  pushes_.fetch_add(1, std::memory_order_relaxed);
  TensorBacking* head = pushed_.load(std::memory_order_relaxed);
  do {
    backing.next = head;
  } while (!pushed_.compare_exchange_weak(head, &backing, std::memory_order_release,
                                          std::memory_order_relaxed));
  signal_.fetch_add(1, std::memory_order_release);
  signal_.notify_one();
}

void RetirementQueue::stop() noexcept {
  stopping_.store(true, std::memory_order_release);
  signal_.fetch_add(1, std::memory_order_release);
  signal_.notify_one();
}

void RetirementQueue::run() noexcept {
  while (!stopping()) {
    // Read before the look: a push that the look misses has changed it.
    const std::uint32_t seen = signal_.load(std::memory_order_acquire);
    look();
    if (waiting_ != nullptr) {
      std::this_thread::sleep_for(kDevicePoll);
    } else {
      signal_.wait(seen, std::memory_order_acquire);
    }
  }
  look();
}

void RetirementQueue::collect() noexcept {
  TensorBacking* backing = pushed_.exchange(nullptr, std::memory_order_acquire);
  while (backing != nullptr) {
    TensorBacking* const next = backing->next;
    backing->next = std::exchange(waiting_, backing);
    backing = next;
  }
}

void RetirementQueue::look() noexcept {
  collect();
  TensorBacking* backing = std::exchange(waiting_, nullptr);
  while (backing != nullptr) {
    // Only OwnedBackings are pushed.
    auto& owned = static_cast<OwnedBacking&>(*std::exchange(backing, backing->next));
    const expected<bool, Error> passed = owned.has_passed();
    if (!passed) {
      owned.next = std::exchange(given_up_, &owned);
      unresolved_.fetch_add(1, std::memory_order_release);
    } else if (!*passed) {
      owned.next = std::exchange(waiting_, &owned);
    } else {
      delete &owned;
      retired_.fetch_add(1, std::memory_order_release);
    }
  }
}

void RetirementQueue::look_again() noexcept {
  while (given_up_ != nullptr) {
    TensorBacking* const backing = std::exchange(given_up_, given_up_->next);
    backing->next = std::exchange(waiting_, backing);
    unresolved_.fetch_sub(1, std::memory_order_relaxed);
  }
  look();
}

RetirementUsage RetirementQueue::usage() const noexcept {
  RetirementUsage usage{.retired = retired_.load(std::memory_order_acquire),
                        .unresolved = unresolved_.load(std::memory_order_acquire),
                        .host_waits = host_waits_.read()};
  const std::uint64_t pushes = pushes_.load(std::memory_order_relaxed);
  const std::uint64_t settled = usage.retired + usage.unresolved;
  usage.waiting = pushes > settled ? pushes - settled : 0;
  return usage;
}

}  // namespace weftline
