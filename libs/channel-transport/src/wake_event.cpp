// SPDX-License-Identifier: Apache-2.0
#include "wake_event.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>

#include "system_failure.hpp"

namespace weftline::channel {

namespace {

bool is_eventfd(int fd) {
  std::array<char, 64> target{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const auto length = ::readlink(link.c_str(), target.data(), target.size());
  return length > 0 && std::string_view(target.data(), static_cast<std::size_t>(length)) ==
                           "anon_inode:[eventfd]";
}

}  // namespace

expected<WakeEvent, Error> WakeEvent::create() {
  UniqueFd fd{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  if (!fd.valid()) {
    return system_failure("CHANNEL_DESCRIPTORS", "cannot create an eventfd", errno, kOpenFilesHint);
  }
  return WakeEvent(std::move(fd));
}

expected<WakeEvent, Error> WakeEvent::adopt(UniqueFd fd) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || (flags & O_NONBLOCK) == 0 || !is_eventfd(fd.get())) {
    return fail(ErrorCode::kProtocolError, "CHANNEL_WRONG_DESCRIPTOR",
                "the peer sent something else where a non-blocking eventfd was expected");
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

void sleep_until_signal(const WakeEvent& first, const WakeEvent* second,
                        std::chrono::steady_clock::time_point deadline) noexcept {
  using std::chrono::nanoseconds;
  // A far deadline (time_point::max() too) is slept in parts: the caller loops anyway.
  constexpr nanoseconds kLongest = std::chrono::hours(1);
  const auto now = std::chrono::steady_clock::now();
  if (deadline <= now) return;
  const nanoseconds left = deadline > now + kLongest ? kLongest : nanoseconds(deadline - now);
  const timespec timeout{static_cast<time_t>(left.count() / 1'000'000'000),
                         static_cast<long>(left.count() % 1'000'000'000)};
  std::array<pollfd, 2> fds{{{first.fd(), POLLIN, 0}, {second ? second->fd() : -1, POLLIN, 0}}};
  ::ppoll(fds.data(), fds.size(), &timeout, nullptr);
}

}  // namespace weftline::channel
