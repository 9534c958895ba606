// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime_directory.hpp"
#include "unique_fd.hpp"
#include "wake_event.hpp"
#include "weftline/core/error.hpp"

namespace weftline::channel {

/// The one thread of a runtime. It waits for descriptors, for changes in the runtime folder and for
/// pokes, and calls back with mutex() held. Whoever adds, removes or destroys something that it may
/// call holds that mutex too, so afterwards it is called no more. The path of a frame never locks
/// it.
class ServiceThread {
 public:
  class Client {
   public:
    virtual void on_directory_changed() = 0;
    virtual void on_poked() = 0;
    /// Called a moment after call_later(), whichever client asked.
    virtual void on_later() = 0;
    [[nodiscard]] virtual const std::string& name() const noexcept = 0;

   protected:
    ~Client() = default;
  };

  /// A watched descriptor. Destroyed with the mutex held, before the descriptor is closed.
  class Watch {
   public:
    Watch() noexcept = default;
    Watch(Watch&& other) noexcept;
    Watch& operator=(Watch&& other) noexcept;
    ~Watch();
    [[nodiscard]] bool active() const noexcept { return service_ != nullptr; }

   private:
    friend class ServiceThread;
    Watch(ServiceThread& service, std::uint64_t id, int fd) noexcept
        : service_(&service), id_(id), fd_(fd) {}
    void stop() noexcept;
    ServiceThread* service_{nullptr};
    std::uint64_t id_{0};
    int fd_{-1};
  };

  [[nodiscard]] static expected<std::unique_ptr<ServiceThread>, Error> start(
      RuntimeDirectory directory, std::function<void()> first = {});
  /// Clients that still exist are a misuse: named on stderr, then abort.
  ~ServiceThread();
  ServiceThread(const ServiceThread&) = delete;
  ServiceThread& operator=(const ServiceThread&) = delete;

  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
  [[nodiscard]] int directory() const noexcept { return directory_.fd.get(); }

  // With the mutex held.
  void add(Client& client);
  void remove(Client& client) noexcept;
  /// Calls `ready` whenever the descriptor is readable or hung up.
  [[nodiscard]] expected<Watch, Error> watch(int fd, std::function<void()> ready);
  /// Has on_later() of every client called in 20 ms: for what failed because something is used up.
  void call_later() const noexcept;

  /// Has on_poked() of every client called soon. Any thread, never blocks, takes no lock.
  void poke() const noexcept { poked_.signal(); }

 private:
  explicit ServiceThread(RuntimeDirectory directory) noexcept : directory_(std::move(directory)) {}
  [[nodiscard]] expected<void, Error> open();
  void serve();
  void dispatch(std::uint64_t id);
  void drain_directory_events() noexcept;
  void drain_timer() noexcept;

  RuntimeDirectory directory_;
  WakeEvent poked_;
  UniqueFd inotify_;
  UniqueFd timer_;
  UniqueFd epoll_;
  std::atomic<bool> stopping_{false};
  std::mutex
      mutex_;  // guards clients_, watches_ and next_id_, and all that a client's call touches
  std::vector<Client*> clients_;
  std::map<std::uint64_t, std::shared_ptr<std::function<void()>>> watches_;
  std::uint64_t next_id_{3};
  std::thread thread_;
};

}  // namespace weftline::channel
