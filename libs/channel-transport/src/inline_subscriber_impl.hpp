// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "publisher_search.hpp"
#include "service_thread.hpp"
#include "wake_event.hpp"
#include "weftline/channel/inline_subscriber.hpp"

namespace weftline {

struct InlineSubscriber::Impl final : channel::ServiceThread::Client {
  /// Joins the service thread and looks for the publisher once. A live publisher whose record does
  /// not match is an error here already.
  [[nodiscard]] static expected<std::unique_ptr<Impl>, Error> create(
      channel::ServiceThread& service, const std::string& deployment_id,
      const EndpointRecord& endpoint, std::chrono::nanoseconds attach_timeout);
  ~Impl();

  void on_directory_changed() override { search->look(); }
  void on_poked() override;
  void on_later() override { search->look(); }
  [[nodiscard]] const std::string& name() const noexcept override { return endpoint.name; }
  void changed();
  void watch_data();

  /// What the state of things means when the ring has no frame: an error, kNotReady for silence.
  [[nodiscard]] Error without_frame(channel::PublisherSearch::Status status) const noexcept;
  [[nodiscard]] expected<void, Error> receive(std::span<std::byte> body,
                                              SampleMetadata& metadata) noexcept;
  [[nodiscard]] expected<void, Error> look() noexcept;
  [[nodiscard]] expected<void, Error> look_for_publisher() const noexcept;
  template <class Attempt>
  [[nodiscard]] expected<void, Error> wait_for(Attempt attempt,
                                               std::chrono::steady_clock::time_point deadline,
                                               const std::stop_token& stop) noexcept;
  [[nodiscard]] Error timeout(bool slept) const noexcept;
  void sleep(std::chrono::steady_clock::time_point deadline) noexcept;

  channel::ServiceThread& service;
  const std::string deployment_id;
  const EndpointRecord endpoint;
  const std::chrono::nanoseconds attach_timeout;
  channel::WakeEvent local_event;  // news from the service thread and from stop tokens
  std::atomic<bool> waiting{false};
  std::atomic<bool> broken{
      false};  // set by the caller, once; the service thread then cuts the link
  std::unique_ptr<channel::PublisherSearch> search;
  ReadableCallback callback{};  // written with the service thread's mutex held
  channel::ServiceThread::Watch data_watch;

 private:
  using Ring = channel::SubscriberRing;
  template <class Step>
  [[nodiscard]] expected<void, Error> step(Step step) noexcept;

  Impl(channel::ServiceThread& thread, const std::string& deployment, const EndpointRecord& what,
       std::chrono::nanoseconds timeout, channel::WakeEvent event)
      : service(thread),
        deployment_id(deployment),
        endpoint(what),
        attach_timeout(timeout),
        local_event(std::move(event)) {}
};

}  // namespace weftline
