// SPDX-License-Identifier: Apache-2.0
#include "weftline/channel/inline_subscriber.hpp"

#include <mutex>

#include "inline_subscriber_impl.hpp"
#include "namesakes.hpp"

namespace weftline {

namespace {

using channel::PublisherSearch;
using channel::SubscriberRing;

/// What a frame's path returns: a code and a static name, nothing allocated.
auto refuse(ErrorCode code, std::string_view token) noexcept { return fail(code, token); }

}  // namespace

expected<std::unique_ptr<InlineSubscriber::Impl>, Error> InlineSubscriber::Impl::create(
    channel::ServiceThread& service, const std::string& deployment_id,
    const EndpointRecord& endpoint, std::chrono::nanoseconds attach_timeout) {
  PublisherSearch::Settings settings;
  settings.endpoint = endpoint;
  WEFTLINE_ASSIGN(settings.geometry, channel::ring_geometry(endpoint));
  settings.contract = channel::BodyContract(endpoint.payload);
  WEFTLINE_ASSIGN(settings.endpoint_json, channel::endpoint_to_json(deployment_id, endpoint));
  settings.record_file = channel::record_file_name(deployment_id, endpoint.name);
  WEFTLINE_ASSIGN(channel::WakeEvent event, channel::WakeEvent::create());
  channel::remove_dead_record(service.directory(), settings.record_file);

  std::unique_ptr<Impl> impl(
      new Impl(service, deployment_id, endpoint, attach_timeout, std::move(event)));
  const std::lock_guard lock(service.mutex());
  impl->search = std::make_unique<PublisherSearch>(service, std::move(settings),
                                                   [raw = impl.get()] { raw->changed(); });
  service.add(*impl);
  impl->search->look();
  if (impl->search->status() == PublisherSearch::Status::kFailed) {
    return make_unexpected(Error(impl->search->failure()));
  }
  return impl;
}

InlineSubscriber::Impl::~Impl() {
  const std::lock_guard lock(service.mutex());
  service.remove(*this);
  data_watch = {};
  search.reset();
}

void InlineSubscriber::Impl::on_poked() {
  if (broken.load(std::memory_order_acquire)) search->drop_link();
}

void InlineSubscriber::Impl::changed() {
  local_event.signal();
  if (callback.function == nullptr) return;
  if (search->status() == PublisherSearch::Status::kFailed) {
    data_watch = {};  // the link is cut: its publisher may still send wakes
  } else {
    watch_data();
  }
  callback.function(callback.context);
}

void InlineSubscriber::Impl::watch_data() {
  SubscriberRing* ring = search->ring();
  if (ring == nullptr || data_watch.active()) return;
  auto watch = service.watch(ring->wake().fd(), [this, ring] {
    ring->wake().drain();
    // Cleared before the call: if the caller finds nothing again, it asks anew.
    ring->want_data(false);
    callback.function(callback.context);
  });
  if (watch) data_watch = std::move(*watch);
}

Error InlineSubscriber::Impl::without_frame(PublisherSearch::Status status) const noexcept {
  switch (status) {
    case PublisherSearch::Status::kReplaced:
      return {ErrorCode::kStaleEndpoint, "CHANNEL_PUBLISHER_REPLACED", {}, 0};
    case PublisherSearch::Status::kFailed:
      return search->failure();
    default:
      return {ErrorCode::kNotReady, "CHANNEL_NO_FRAME", {}, 0};
  }
}

template <class Step>
expected<void, Error> InlineSubscriber::Impl::step(Step step) noexcept {
  if (broken.load(std::memory_order_relaxed)) {
    return refuse(ErrorCode::kProtocolError, "CHANNEL_BAD_FRAME");
  }
  // The status is read first: once it says that the publisher is gone, the ring changes no more.
  const PublisherSearch::Status status = search->status();
  SubscriberRing* ring = search->ring();
  if (ring == nullptr) return make_unexpected(without_frame(status));
  SubscriberRing::State state = step(*ring);
  if (state == SubscriberRing::State::kEmpty && callback.function != nullptr) {
    ring->want_data(true);
    state = step(*ring);
  }
  switch (state) {
    case SubscriberRing::State::kFrame:
      return {};
    case SubscriberRing::State::kEmpty:
      return make_unexpected(without_frame(status));
    case SubscriberRing::State::kEnded:
      return refuse(ErrorCode::kClosed, "CHANNEL_END_OF_STREAM");
    case SubscriberRing::State::kBroken:
      break;
  }
  broken.store(true, std::memory_order_release);
  service.poke();
  return refuse(ErrorCode::kProtocolError, "CHANNEL_BAD_FRAME");
}

expected<void, Error> InlineSubscriber::Impl::receive(std::span<std::byte> body,
                                                      SampleMetadata& metadata) noexcept {
  if (body.size() != endpoint.payload.size) {
    return refuse(ErrorCode::kInvalidArgument, "CHANNEL_BODY_SIZE");
  }
  return step([&](SubscriberRing& ring) { return ring.take(body, metadata); });
}

expected<void, Error> InlineSubscriber::Impl::look() noexcept {
  return step([](SubscriberRing& ring) { return ring.look(); });
}

expected<void, Error> InlineSubscriber::Impl::look_for_publisher() const noexcept {
  const PublisherSearch::Status status = search->status();
  if (search->ring() != nullptr) return {};
  return make_unexpected(without_frame(status));
}

template <class Attempt>
expected<void, Error> InlineSubscriber::Impl::wait_for(
    Attempt attempt, std::chrono::steady_clock::time_point deadline,
    const std::stop_token& stop) noexcept {
  if (callback.function != nullptr) {
    return refuse(ErrorCode::kInvalidArgument, "CHANNEL_READABLE_CALLBACK_SET");
  }
  if (waiting.exchange(true)) return refuse(ErrorCode::kInvalidArgument, "CHANNEL_SECOND_WAITER");
  struct Done {
    std::atomic<bool>& flag;
    ~Done() { flag.store(false); }
  } const done{waiting};
  const std::stop_callback wake(stop, [this] { local_event.signal(); });
  for (bool slept = false;; slept = true) {
    auto outcome = attempt();
    if (outcome || outcome.error().code != ErrorCode::kNotReady) return outcome;
    if (stop.stop_requested()) return refuse(ErrorCode::kInterrupted, "CHANNEL_INTERRUPTED");
    if (std::chrono::steady_clock::now() >= deadline) {
      return make_unexpected(timeout(slept));
    }
    sleep(deadline);
  }
}

Error InlineSubscriber::Impl::timeout(bool slept) const noexcept {
  Error error{ErrorCode::kTimeout, "CHANNEL_TIMEOUT", {}, 0};
  if (slept && search->ring() == nullptr) {
    error.message = channel::describe_namesakes(service.directory(), deployment_id, endpoint.name);
  }
  return error;
}

void InlineSubscriber::Impl::sleep(std::chrono::steady_clock::time_point deadline) noexcept {
  SubscriberRing* ring = search->ring();
  if (ring == nullptr) {
    channel::sleep_until_signal(local_event, -1, deadline);
    local_event.drain();
    return;
  }
  // Store, then load; the publisher stores its tail, then loads this wish. One of us sees the
  // other.
  ring->want_data(true);
  if (ring->look() == SubscriberRing::State::kEmpty) {
    channel::sleep_until_signal(local_event, ring->wake().fd(), deadline);
    local_event.drain();
    ring->wake().drain();
  }
  ring->want_data(false);
}

InlineSubscriber::InlineSubscriber(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
InlineSubscriber::InlineSubscriber(InlineSubscriber&&) noexcept = default;
InlineSubscriber& InlineSubscriber::operator=(InlineSubscriber&&) noexcept = default;
InlineSubscriber::~InlineSubscriber() = default;

expected<void, Error> InlineSubscriber::receive(std::span<std::byte> body,
                                                SampleMetadata& metadata) noexcept {
  if (!impl_) return refuse(ErrorCode::kClosed, "CHANNEL_CLOSED");
  return impl_->receive(body, metadata);
}

// The token is taken by value as callers hand it over.
// NOLINTBEGIN(performance-unnecessary-value-param)
expected<void, Error> InlineSubscriber::wait_and_receive(
    std::span<std::byte> body, SampleMetadata& metadata,
    std::chrono::steady_clock::time_point deadline, std::stop_token stop) noexcept {
  if (!impl_) return refuse(ErrorCode::kClosed, "CHANNEL_CLOSED");
  return impl_->wait_for([&] { return impl_->receive(body, metadata); }, deadline, stop);
}

expected<void, Error> InlineSubscriber::wait(std::chrono::steady_clock::time_point deadline,
                                             std::stop_token stop) noexcept {
  if (!impl_) return refuse(ErrorCode::kClosed, "CHANNEL_CLOSED");
  return impl_->wait_for([&] { return impl_->look(); }, deadline, stop);
}

expected<void, Error> InlineSubscriber::wait_for_publisher(
    std::chrono::steady_clock::time_point deadline, std::stop_token stop) noexcept {
  if (!impl_) return refuse(ErrorCode::kClosed, "CHANNEL_CLOSED");
  return impl_->wait_for([&] { return impl_->look_for_publisher(); }, deadline, stop);
}

// NOLINTEND(performance-unnecessary-value-param)

expected<void, Error> InlineSubscriber::wait_for_publisher() noexcept {
  if (!impl_) return refuse(ErrorCode::kClosed, "CHANNEL_CLOSED");
  return wait_for_publisher(std::chrono::steady_clock::now() + impl_->attach_timeout);
}

bool InlineSubscriber::has_publisher() const noexcept {
  return impl_ && impl_->search->status() == PublisherSearch::Status::kAttached;
}

void InlineSubscriber::set_readable_callback(ReadableCallback callback) noexcept {
  if (!impl_) return;
  const std::lock_guard lock(impl_->service.mutex());
  impl_->callback = callback;
  if (callback.function != nullptr) {
    impl_->watch_data();
  } else {
    impl_->data_watch = {};
  }
}

expected<void, Error> InlineSubscriber::close() noexcept {
  if (!impl_) return refuse(ErrorCode::kClosed, "CHANNEL_CLOSED");
  impl_.reset();
  return {};
}

}  // namespace weftline
