// SPDX-License-Identifier: Apache-2.0
#include "weftline/channel/inline_publisher.hpp"

#include <sys/random.h>

#include <cerrno>
#include <mutex>

#include "inline_publisher_impl.hpp"
#include "namesakes.hpp"
#include "system_failure.hpp"
#include "wire_metadata.hpp"

namespace weftline {

namespace {

using channel::PublisherLink;
using channel::PublisherLinkTable;
using channel::PublisherRing;

/// What a frame's path returns: a code and a static name, nothing allocated.
auto refuse(ErrorCode code, std::string_view token) noexcept { return fail(code, token); }

/// True when every link takes a frame. Broken links are given up on the way.
bool all_have_room(PublisherLinkTable::Emit& emit, bool ask) noexcept {
  bool room = true;
  for (std::size_t i = 0; i < emit.links().size();) {
    PublisherLink& link = *emit.links()[i];
    const PublisherRing::Room state = link.ring.room(ask);
    if (state == PublisherRing::Room::kBroken) {
      emit.give_up(link);
      continue;
    }
    room = room && state == PublisherRing::Room::kFree;
    ++i;
  }
  return room;
}

expected<channel::Incarnation, Error> new_incarnation() {
  channel::Incarnation incarnation{};
  while (incarnation == channel::Incarnation{}) {
    if (::getrandom(incarnation.data(), incarnation.size(), 0) !=
        static_cast<ssize_t>(incarnation.size())) {
      return channel::system_failure("CHANNEL_RANDOM", "cannot get random bytes", errno);
    }
  }
  return incarnation;
}

}  // namespace

expected<std::unique_ptr<InlinePublisher::Impl>, Error> InlinePublisher::Impl::create(
    channel::ServiceThread& service, const std::string& deployment_id,
    const EndpointRecord& endpoint, std::chrono::nanoseconds attach_timeout) {
  WEFTLINE_ASSIGN(const channel::RingGeometry geometry, channel::ring_geometry(endpoint));
  channel::RecordContent content;
  content.pid = ::getpid();
  WEFTLINE_ASSIGN(content.incarnation, new_incarnation());
  WEFTLINE_ASSIGN(content.endpoint_json, channel::endpoint_to_json(deployment_id, endpoint));
  WEFTLINE_ASSIGN(channel::WakeEvent event, channel::WakeEvent::create());

  std::unique_ptr<Impl> impl(
      new Impl(service, deployment_id, endpoint, attach_timeout, std::move(event)));
  {
    const std::lock_guard lock(service.mutex());
    impl->acceptor = std::make_unique<channel::LinkAcceptor>(
        service, impl->table,
        channel::LinkAcceptor::Settings{endpoint, geometry, content.incarnation},
        [raw = impl.get()](bool attached) { raw->links_changed(attached); });
    // Whoever sees the record can connect: so it comes after the socket.
    WEFTLINE_TRY(impl->acceptor->listen());
    service.add(*impl);
  }
  WEFTLINE_ASSIGN(channel::DiscoveryRecord own,
                  channel::DiscoveryRecord::create(
                      service.directory(), channel::record_file_name(deployment_id, endpoint.name),
                      content, endpoint.name));
  impl->record = std::make_unique<channel::DiscoveryRecord>(std::move(own));
  return impl;
}

InlinePublisher::Impl::~Impl() {
  const std::lock_guard lock(service.mutex());
  service.remove(*this);
  record.reset();
  acceptor.reset();
}

void InlinePublisher::Impl::on_poked() {
  acceptor->drop_broken();
  table.free_retired();
}

void InlinePublisher::Impl::links_changed(bool attached) {
  if (attached) attached_event.signal();
  if (callback.function != nullptr) callback.function(callback.context);
}

InlinePublisher::InlinePublisher(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
InlinePublisher::InlinePublisher(InlinePublisher&&) noexcept = default;
InlinePublisher& InlinePublisher::operator=(InlinePublisher&&) noexcept = default;
InlinePublisher::~InlinePublisher() = default;

expected<std::uint32_t, Error> InlinePublisher::publish(std::span<const std::byte> body,
                                                        const SampleMetadata& metadata) noexcept {
  if (!impl_ || impl_->closed) return refuse(ErrorCode::kClosed, "CHANNEL_CLOSED");
  if (body.size() != impl_->endpoint.payload.size) {
    return refuse(ErrorCode::kInvalidArgument, "CHANNEL_BODY_SIZE");
  }
  PublisherLinkTable::Emit emit(impl_->table);
  if (!all_have_room(emit, impl_->callback.function != nullptr)) {
    return refuse(ErrorCode::kBackpressured, "CHANNEL_LINK_FULL");
  }
  if (emit.links().empty() && impl_->endpoint.peer == PeerRequirement::kRequired) {
    return refuse(ErrorCode::kNotReady, "CHANNEL_NO_SUBSCRIBER");
  }
  const channel::WireMetadata wire = channel::to_wire(metadata);
  for (PublisherLink* link : emit.links()) link->ring.write(wire, body);
  return static_cast<std::uint32_t>(emit.links().size());
}

bool InlinePublisher::has_room() const noexcept {
  if (!impl_ || impl_->closed) return true;
  PublisherLinkTable::Emit emit(impl_->table);
  return all_have_room(emit, impl_->callback.function != nullptr);
}

std::uint32_t InlinePublisher::subscriber_count() const noexcept {
  return impl_ ? impl_->table.count() : 0;
}

std::uint64_t InlinePublisher::dropped() const noexcept {
  return impl_ ? impl_->table.dropped() : 0;
}

InlinePublisher::LinkCounters InlinePublisher::link_counters() const noexcept {
  if (!impl_) return {};
  const channel::LinkCounts& counts = impl_->acceptor->counts();
  return {counts.attached.load(), counts.left.load(), counts.lost.load(), counts.dropped.load(),
          counts.refused.load()};
}

void InlinePublisher::set_writable_callback(WritableCallback callback) noexcept {
  if (!impl_) return;
  const std::lock_guard lock(impl_->service.mutex());
  impl_->callback = callback;
}

expected<void, Error> InlinePublisher::wait_for_subscriber(
    std::chrono::steady_clock::time_point deadline) {
  if (!impl_ || impl_->closed) return refuse(ErrorCode::kClosed, "CHANNEL_CLOSED");
  bool slept = false;
  while (impl_->table.count() == 0) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return fail(ErrorCode::kTimeout, "CHANNEL_TIMEOUT",
                  slept ? channel::describe_namesakes(impl_->service.directory(),
                                                      impl_->deployment_id, impl_->endpoint.name)
                        : std::string());
    }
    slept = true;
    channel::sleep_until_signal(impl_->attached_event, -1, deadline);
    impl_->attached_event.drain();
  }
  return {};
}

expected<void, Error> InlinePublisher::wait_for_subscriber() {
  if (!impl_ || impl_->closed) return refuse(ErrorCode::kClosed, "CHANNEL_CLOSED");
  return wait_for_subscriber(std::chrono::steady_clock::now() + impl_->attach_timeout);
}

expected<void, Error> InlinePublisher::close() noexcept {
  if (!impl_ || impl_->closed) return refuse(ErrorCode::kClosed, "CHANNEL_CLOSED");
  // With the mutex held no link comes or goes: attached ones get the end here, others from the
  // acceptor.
  const std::lock_guard lock(impl_->service.mutex());
  impl_->closed = true;
  {
    const PublisherLinkTable::Emit emit(impl_->table);
    for (PublisherLink* link : emit.links()) link->ring.end();
  }
  impl_->record.reset();
  impl_->acceptor->end();
  return {};
}

}  // namespace weftline
