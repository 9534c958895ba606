// SPDX-License-Identifier: Apache-2.0
#include "service_thread.hpp"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "system_failure.hpp"

namespace weftline::channel {

namespace {

constexpr std::uint64_t kPokeId = 0;
constexpr std::uint64_t kDirectoryId = 1;
constexpr std::uint64_t kLaterId = 2;
constexpr long kLaterNs = 20'000'000;

bool add_to_epoll(int epoll, int fd, std::uint64_t id) noexcept {
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.u64 = id;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &interest) == 0;
}

}  // namespace

ServiceThread::Watch::Watch(Watch&& other) noexcept
    : service_(std::exchange(other.service_, nullptr)), id_(other.id_), fd_(other.fd_) {}

ServiceThread::Watch& ServiceThread::Watch::operator=(Watch&& other) noexcept {
  if (this != &other) {
    stop();
    service_ = std::exchange(other.service_, nullptr);
    id_ = other.id_;
    fd_ = other.fd_;
  }
  return *this;
}

ServiceThread::Watch::~Watch() { stop(); }

void ServiceThread::Watch::stop() noexcept {
  if (service_ == nullptr) return;
  ::epoll_ctl(service_->epoll_.get(), EPOLL_CTL_DEL, fd_, nullptr);
  service_->watches_.erase(id_);
  service_ = nullptr;
}

expected<std::unique_ptr<ServiceThread>, Error> ServiceThread::start(RuntimeDirectory directory,
                                                                     std::function<void()> first) {
  std::unique_ptr<ServiceThread> service(new ServiceThread(std::move(directory)));
  WEFTLINE_TRY(service->open());
  // Signals are for the program's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    service->thread_ = std::thread([raw = service.get(), first = std::move(first)] {
      if (first) first();
      raw->serve();
    });
  } catch (const std::system_error& error) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return system_failure("CHANNEL_THREAD", "cannot start the service thread",
                          error.code().value());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return service;
}

expected<void, Error> ServiceThread::open() {
  WEFTLINE_ASSIGN(poked_, WakeEvent::create());
  constexpr std::string_view kHint = "raise fs.inotify.max_user_instances or the open files limit";
  inotify_ = UniqueFd{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
  // A record appears empty (create), then whole (modify).
  if (!inotify_.valid() ||
      ::inotify_add_watch(inotify_.get(), directory_.path.c_str(),
                          IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW) < 0) {
    return system_failure("CHANNEL_DIRECTORY",
                          "cannot watch the runtime folder " + directory_.path.string(), errno,
                          kHint);
  }
  timer_ = UniqueFd{::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
  epoll_ = UniqueFd{::epoll_create1(EPOLL_CLOEXEC)};
  if (!timer_.valid() || !epoll_.valid() || !add_to_epoll(epoll_.get(), timer_.get(), kLaterId) ||
      !add_to_epoll(epoll_.get(), poked_.fd(), kPokeId) ||
      !add_to_epoll(epoll_.get(), inotify_.get(), kDirectoryId)) {
    return system_failure("CHANNEL_DESCRIPTORS", "cannot set up the service thread", errno, kHint);
  }
  return {};
}

ServiceThread::~ServiceThread() {
  if (thread_.joinable()) {
    stopping_.store(true, std::memory_order_release);
    poked_.signal();
    thread_.join();
  }
  if (clients_.empty()) return;
  for (const Client* client : clients_) {
    std::fprintf(stderr,
                 "weftline: a ChannelRuntime was destroyed before its endpoint '%s'; "
                 "destroy endpoints first\n",
                 client->name().c_str());
  }
  std::abort();
}

void ServiceThread::add(Client& client) { clients_.push_back(&client); }

void ServiceThread::remove(Client& client) noexcept { std::erase(clients_, &client); }

expected<ServiceThread::Watch, Error> ServiceThread::watch(int fd, std::function<void()> ready) {
  const std::uint64_t id = next_id_++;
  if (!add_to_epoll(epoll_.get(), fd, id)) {
    return system_failure("CHANNEL_DESCRIPTORS", "cannot watch a descriptor", errno,
                          "raise fs.epoll.max_user_watches");
  }
  watches_.emplace(id, std::make_shared<std::function<void()>>(std::move(ready)));
  return Watch(*this, id, fd);
}

void ServiceThread::serve() {
  ::pthread_setname_np(::pthread_self(), "weftline-chan");
  std::array<epoll_event, 64> events{};
  while (!stopping_.load(std::memory_order_acquire)) {
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < count; ++i) dispatch(events[static_cast<std::size_t>(i)].data.u64);
  }
}

void ServiceThread::dispatch(std::uint64_t id) {
  if (id == kPokeId) {
    poked_.drain();
    for (Client* client : clients_) client->on_poked();
  } else if (id == kDirectoryId) {
    drain_directory_events();
    for (Client* client : clients_) client->on_directory_changed();
  } else if (id == kLaterId) {
    drain_timer();
    for (Client* client : clients_) client->on_later();
  } else if (const auto found = watches_.find(id); found != watches_.end()) {
    // A copy: the call may end its own watch. An id that is not found was ended earlier in the
    // batch.
    const auto ready = found->second;
    (*ready)();
  }
}

void ServiceThread::call_later() const noexcept {
  const itimerspec once{{}, {0, kLaterNs}};
  ::timerfd_settime(timer_.get(), 0, &once, nullptr);
}

void ServiceThread::drain_timer() noexcept {
  std::uint64_t expirations = 0;
  [[maybe_unused]] const auto got = ::read(timer_.get(), &expirations, sizeof(expirations));
}

void ServiceThread::drain_directory_events() noexcept {
  // Which record changed does not matter: each client looks for the one it needs.
  alignas(inotify_event) std::array<char, 4096> buffer{};
  while (::read(inotify_.get(), buffer.data(), buffer.size()) > 0) {
  }
}

}  // namespace weftline::channel
