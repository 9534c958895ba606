// SPDX-License-Identifier: Apache-2.0
#include "wake_event.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "system_failure.hpp"

namespace weftline::channel {

expected<WakeEvent, Error> WakeEvent::create() {
  UniqueFd fd{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  if (!fd.valid()) {
    return system_failure("CHANNEL_DESCRIPTORS", "cannot create an eventfd", errno, kOpenFilesHint);
  }
  return WakeEvent(std::move(fd));
}

void WakeEvent::signal() const noexcept {
  if (!fd_.valid()) return;
  const std::uint64_t one = 1;
  // EAGAIN means that the counter is full, so the event is signalled already.
  [[maybe_unused]] const auto written = ::write(fd_.get(), &one, sizeof(one));
}

void WakeEvent::drain() const noexcept {
  if (!fd_.valid()) return;
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(fd_.get(), &count, sizeof(count));
}

void sleep_until_signal(const WakeEvent& event, int other,
                        std::chrono::steady_clock::time_point deadline) noexcept {
  using std::chrono::nanoseconds;
  // A far deadline (time_point::max() too) is slept in parts: the caller loops anyway.
  constexpr nanoseconds kLongest = std::chrono::hours(1);
  const auto now = std::chrono::steady_clock::now();
  if (deadline <= now) return;
  const nanoseconds left = deadline > now + kLongest ? kLongest : nanoseconds(deadline - now);
  const timespec timeout{static_cast<time_t>(left.count() / 1'000'000'000),
                         static_cast<long>(left.count() % 1'000'000'000)};
  std::array<pollfd, 2> fds{{{event.fd(), POLLIN, 0}, {other, POLLIN, 0}}};
  ::ppoll(fds.data(), fds.size(), &timeout, nullptr);
}

}  // namespace weftline::channel
