// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "weftline/graph/doorbell.hpp"
#include "weftline/graph/notification_sender.hpp"

namespace weftline::stress {

/// A descriptor that is readable after ring() and until drain().
class Bell {
 public:
  Bell() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ < 0) throw std::runtime_error("no eventfd");
  }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;
  ~Bell() { ::close(descriptor_); }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  void ring() const noexcept { static_cast<void>(::eventfd_write(descriptor_, 1)); }
  void drain() const noexcept {
    eventfd_t count = 0;
    static_cast<void>(::eventfd_read(descriptor_, &count));
  }

 private:
  const int descriptor_;
};

/// What makes a run's sources ready, from outside the run: operators hand it over as they start. It
/// outlives the run, and so do the handles in it.
class Bells {
 public:
  void adopt(NotificationSender sender) {
    const std::lock_guard lock(mutex_);
    senders_.push_back(std::move(sender));
  }
  void adopt(Doorbell bell) {
    const std::lock_guard lock(mutex_);
    doorbells_.push_back(std::move(bell));
  }
  /// Made with the graph: shared by all runs of it.
  [[nodiscard]] std::shared_ptr<const Bell> add_bell() {
    bells_.push_back(std::make_shared<const Bell>());
    return bells_.back();
  }
  [[nodiscard]] std::shared_ptr<const std::atomic<bool>> add_flag() {
    flags_.push_back(std::make_shared<std::atomic<bool>>(false));
    return flags_.back();
  }

  /// Some of them.
  void ring_some(std::mt19937& random) {
    const std::lock_guard lock(mutex_);
    for (NotificationSender& sender : senders_) {
      if (random() % 2 == 0) note(sender.notify());
    }
    for (Doorbell& bell : doorbells_) {
      if (random() % 2 == 0) note(bell.ring(count_ += random() % 3));
    }
    for (const auto& bell : bells_) {
      if (random() % 2 == 0) bell->ring();
    }
    for (const auto& flag : flags_) flag->store(random() % 2 == 0, std::memory_order_release);
  }
  /// An answer that a handle may not give while a run goes on.
  [[nodiscard]] bool refused_wrongly() const noexcept { return refused_wrongly_; }
  /// Every handle says that its run is over.
  [[nodiscard]] bool all_closed() {
    const std::lock_guard lock(mutex_);
    bool closed = true;
    const auto look = [&](const expected<void, Error>& result) {
      closed = closed && !result && result.error().code == ErrorCode::kClosed;
    };
    for (NotificationSender& sender : senders_) look(sender.notify());
    for (Doorbell& bell : doorbells_) look(bell.ring(++count_));
    return closed;
  }

 private:
  void note(const expected<void, Error>& result) {
    const bool fine = result || result.error().code == ErrorCode::kBackpressured ||
                      result.error().code == ErrorCode::kClosed;
    refused_wrongly_ = refused_wrongly_ || !fine;
  }

  std::mutex mutex_{};
  std::vector<NotificationSender> senders_{};
  std::vector<Doorbell> doorbells_{};
  std::vector<std::shared_ptr<const Bell>> bells_{};
  std::vector<std::shared_ptr<std::atomic<bool>>> flags_{};
  std::uint64_t count_{0};
  std::atomic<bool> refused_wrongly_{false};
};

/// Rings all the time, on a thread of its own.
class Ringer {
 public:
  Ringer(Bells& bells, std::uint32_t seed)
      : thread_([&bells, seed, this] {
          std::mt19937 random(seed);
          while (!over_) {
            bells.ring_some(random);
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
          }
        }) {}
  Ringer(const Ringer&) = delete;
  Ringer& operator=(const Ringer&) = delete;
  ~Ringer() {
    over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace weftline::stress
