// SPDX-License-Identifier: Apache-2.0
#include "link_acceptor.hpp"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>

#include "discovery_record.hpp"
#include "system_failure.hpp"
#include "weftline/catalog/compatibility.hpp"

namespace weftline::channel {

namespace {

// So many peers that have connected and said nothing are kept waiting.
constexpr std::ptrdiff_t kMaximumSilentPeers = 64;

// Then the service thread lets others have its mutex, however fast peers come.
constexpr int kAcceptAtOnce = 16;

bool is_readable(int fd) noexcept {
  pollfd query{fd, POLLIN, 0};
  return ::poll(&query, 1, 0) > 0;
}

RefusalMessage make_refusal(const Error& error) noexcept {
  auto message = make_message<RefusalMessage>();
  message.code = static_cast<std::uint32_t>(error.code);
  std::copy_n(error.token.begin(), std::min(error.token.size(), message.token.size()),
              message.token.begin());
  const std::size_t length = std::min(error.message.size(), message.text.size());
  message.text_bytes = static_cast<std::uint32_t>(length);
  std::copy_n(error.message.begin(), length, message.text.begin());
  return message;
}

UniqueFd open_spare() noexcept { return UniqueFd{::open("/dev/null", O_RDONLY | O_CLOEXEC)}; }

}  // namespace

LinkAcceptor::LinkAcceptor(ServiceThread& service, PublisherLinkTable& table, Settings settings,
                           std::function<void(bool attached)> changed)
    : service_(service),
      table_(table),
      settings_(std::move(settings)),
      changed_(std::move(changed)) {}

LinkAcceptor::~LinkAcceptor() {
  for (Connection& connection : connections_) {
    send_goodbye(connection.socket.get(), GoodbyeReason::kLeaving);
    connection.space_watch = {};
    if (connection.link) table_.retire(std::move(connection.link));
  }
}

expected<void, Error> LinkAcceptor::listen() {
  spare_ = open_spare();
  WEFTLINE_ASSIGN(listener_, listen_for(settings_.incarnation));
  WEFTLINE_ASSIGN(listener_watch_,
                  service_.watch(listener_.get(), [this] { accept_at_most(kAcceptAtOnce); }));
  return {};
}

void LinkAcceptor::listen_again() {
  if (!listener_.valid() || listener_watch_.active()) return;
  auto watched = service_.watch(listener_.get(), [this] { accept_at_most(kAcceptAtOnce); });
  if (watched) {
    listener_watch_ = std::move(*watched);
  } else {
    service_.call_later();
  }
}

void LinkAcceptor::end() {
  // Who has connected but was not accepted yet is taken in first: it asked before the end.
  accept_at_most(kListenBacklog);
  ended_ = true;
  // A link that is not attached yet is not among the publisher's own; its subscriber may map it
  // only after we are gone.
  for (Connection& connection : connections_) {
    if (connection.phase == Phase::kExpectAttached) connection.link->ring.end();
  }
  listener_watch_ = {};
  listener_.reset();
}

void LinkAcceptor::accept_at_most(int count) {
  while (count-- > 0 && accept_next()) {
  }
  remove_over();
}

bool LinkAcceptor::accept_next() {
  Accepted accepted = accept_from(listener_.get());
  if (accepted.socket.valid()) {
    accept_one(std::move(accepted.socket));
    return true;
  }
  if (accepted.error_number == 0) return false;
  spare_.reset();
  accepted = accept_from(listener_.get());
  const bool turned_away = accepted.socket.valid();
  if (turned_away) turn_away(std::move(accepted.socket));
  spare_ = open_spare();
  if (!turned_away && accepted.error_number != 0) {
    // The listener stays readable: to watch it now would be a loop.
    listener_watch_ = {};
    service_.call_later();
  }
  return turned_away;
}

void LinkAcceptor::turn_away(const UniqueFd socket) {
  const Error error{ErrorCode::kResourceExhausted, "CHANNEL_DESCRIPTORS",
                    "endpoint '" + settings_.endpoint.name +
                        "': the publisher's process has no descriptor left; " +
                        std::string(kOpenFilesHint),
                    0};
  ++counts_.refused;
  [[maybe_unused]] const bool taken = send_message(socket.get(), make_refusal(error));
}

void LinkAcceptor::accept_one(UniqueFd socket) {
  Connection& connection = connections_.emplace_back();
  connection.socket = std::move(socket);
  if (auto watched = watch_peer(connection); !watched) {
    refuse(connection, watched.error());
    return;
  }
  read_socket(connection);
  bound_silent_peers();
}

expected<void, Error> LinkAcceptor::watch_peer(Connection& connection) {
  WEFTLINE_ASSIGN(connection.peer, identify_peer(connection.socket.get()));
  WEFTLINE_ASSIGN(connection.socket_watch,
                  service_.watch(connection.socket.get(), [this, &connection] {
                    read_socket(connection);
                    remove_over();
                  }));
  // A peer that only a forked child of it still holds open has no reader: the process alone counts.
  WEFTLINE_ASSIGN(connection.process_watch,
                  service_.watch(connection.peer.pidfd.get(), [this, &connection] {
                    read_socket(connection);
                    if (connection.phase != Phase::kOver) {
                      close_connection(connection, counts_.lost);
                    }
                    remove_over();
                  }));
  return {};
}

void LinkAcceptor::bound_silent_peers() {
  if (std::ranges::count(connections_, Phase::kExpectHello, &Connection::phase) <=
      kMaximumSilentPeers) {
    return;
  }
  Connection& oldest = *std::ranges::find(connections_, Phase::kExpectHello, &Connection::phase);
  read_socket(oldest);
  if (oldest.phase != Phase::kExpectHello) return;
  refuse(oldest, {ErrorCode::kResourceExhausted, "CHANNEL_HANDSHAKE",
                  "endpoint '" + settings_.endpoint.name + "': no hello came before " +
                      std::to_string(kMaximumSilentPeers) + " others had connected",
                  0});
}

void LinkAcceptor::read_socket(Connection& connection) {
  while (connection.phase != Phase::kOver) {
    Packet packet;
    switch (receive_packet(connection.socket.get(), packet)) {
      case PacketResult::kReceived:
        handle(connection, std::move(packet));
        break;
      case PacketResult::kNothing:
        return;
      case PacketResult::kEnd:
        close_connection(connection, counts_.lost);
        return;
      case PacketResult::kMalformed:
        close_connection(connection, counts_.dropped);
        return;
    }
  }
}

void LinkAcceptor::handle(Connection& connection, Packet packet) {
  if (connection.phase == Phase::kExpectHello) {
    handle_hello(connection, std::move(packet));
  } else if (connection.phase == Phase::kExpectAttached && parse_message<AttachedMessage>(packet)) {
    activate(connection);
  } else if (const auto goodbye = parse_message<GoodbyeMessage>(packet)) {
    const bool left = goodbye->reason == static_cast<std::uint32_t>(GoodbyeReason::kLeaving);
    close_connection(connection, left ? counts_.left : counts_.dropped);
  } else {
    close_connection(connection, counts_.dropped);
  }
}

void LinkAcceptor::handle_hello(Connection& connection, Packet packet) {
  const auto header = peek_header(packet);
  if (!header) {
    close_connection(connection, counts_.refused);
    return;
  }
  auto outcome = check_hello(packet, header->version);
  if (outcome) outcome = offer_link(connection);
  if (!outcome) refuse(connection, outcome.error());
}

expected<void, Error> LinkAcceptor::check_hello(const Packet& packet, std::uint32_t version) const {
  const std::string place = "endpoint '" + settings_.endpoint.name + "': ";
  if (version != kWireVersion) {
    return fail(ErrorCode::kIncompatible, "CHANNEL_WIRE_VERSION",
                place + "the publisher speaks wire version " + std::to_string(kWireVersion) +
                    ", the subscriber " + std::to_string(version) +
                    "; build both with one version of Weftline");
  }
  if (!parse_message<HelloMessage>(packet)) {
    return fail(ErrorCode::kProtocolError, "CHANNEL_HANDSHAKE",
                place + "the subscriber's first message is malformed");
  }
  WEFTLINE_ASSIGN(const std::string json,
                  read_sealed_text(packet.descriptors[0], kMaximumRecordBytes));
  WEFTLINE_ASSIGN(const EndpointRecord theirs, endpoint_from_json(json));
  if (theirs.name != settings_.endpoint.name) {
    return fail(ErrorCode::kIncompatible, "CHANNEL_ENDPOINT_MISMATCH",
                place + "the subscriber asked for endpoint '" + theirs.name +
                    "'; connect to that one's publisher");
  }
  const auto report = compare_endpoints(settings_.endpoint, theirs);
  if (!report.compatible()) {
    return fail(ErrorCode::kIncompatible, "CHANNEL_ENDPOINT_MISMATCH",
                "this side is the publisher: " + report.to_string());
  }
  return {};
}

expected<void, Error> LinkAcceptor::offer_link(Connection& connection) {
  const std::uint32_t maximum = settings_.endpoint.max_subscribers;
  if (links_in_use() >= maximum) reap_ended_peers();
  if (links_in_use() >= maximum) {
    return fail(ErrorCode::kResourceExhausted, "CHANNEL_SUBSCRIBERS_FULL",
                "endpoint '" + settings_.endpoint.name + "' has " + std::to_string(maximum) +
                    " subscribers, its maximum; raise max_subscribers in the catalog, "
                    "or close one");
  }
  PublisherRing::Handover handover;
  WEFTLINE_ASSIGN(PublisherRing ring,
                  PublisherRing::create(settings_.geometry, settings_.incarnation, handover));
  if (ended_) ring.end();
  connection.link = std::make_unique<PublisherLink>(std::move(ring));
  const PublisherRing& kept = connection.link->ring;
  WEFTLINE_ASSIGN(connection.space_watch,
                  service_.watch(kept.wake().fd(), [this, link = connection.link.get()] {
                    link->ring.wake().drain();
                    // Cleared before the call: if the caller finds the link full again, it asks
                    // anew.
                    link->ring.clear_space_wish();
                    changed_(false);
                  }));
  auto welcome = make_message<WelcomeMessage>();
  welcome.incarnation = settings_.incarnation;
  const std::array<int, WelcomeMessage::kDescriptors> descriptors{
      handover.frames.get(), handover.claims.get(), handover.wake.get()};
  connection.phase = Phase::kExpectAttached;
  if (!send_message(connection.socket.get(), welcome, descriptors)) {
    close_connection(connection, counts_.lost);
  }
  return {};
}

void LinkAcceptor::activate(Connection& connection) {
  connection.phase = Phase::kAttached;
  table_.add(*connection.link);
  ++counts_.attached;
  changed_(true);
}

void LinkAcceptor::refuse(Connection& connection, const Error& error) {
  [[maybe_unused]] const bool taken = send_message(connection.socket.get(), make_refusal(error));
  close_connection(connection, counts_.refused);
}

void LinkAcceptor::close_connection(Connection& connection, std::atomic<std::uint64_t>& count) {
  const bool was_attached = connection.phase == Phase::kAttached;
  // A peer that never got a link is a refused one, however it ended.
  ++(was_attached ? count : counts_.refused);
  if (was_attached && &count == &counts_.dropped) {
    send_goodbye(connection.socket.get(), GoodbyeReason::kProtocolError);
  }
  connection.phase = Phase::kOver;
  connection.socket_watch = {};
  connection.process_watch = {};
  connection.space_watch = {};
  connection.socket.reset();
  if (connection.link) table_.retire(std::move(connection.link));
  if (was_attached) changed_(false);
}

std::uint32_t LinkAcceptor::links_in_use() const noexcept {
  return static_cast<std::uint32_t>(std::ranges::count_if(
      connections_, [](const Connection& connection) { return connection.link != nullptr; }));
}

void LinkAcceptor::reap_ended_peers() {
  // A subscriber that has just gone makes place for its successor, whichever event came first.
  for (Connection& connection : connections_) {
    if (!connection.link) continue;
    const bool exited = is_readable(connection.peer.pidfd.get());
    read_socket(connection);
    if (exited && connection.phase != Phase::kOver) close_connection(connection, counts_.lost);
  }
}

void LinkAcceptor::drop_broken() {
  for (Connection& connection : connections_) {
    if (connection.link && connection.link->broken.load()) {
      close_connection(connection, counts_.dropped);
    }
  }
  remove_over();
}

void LinkAcceptor::remove_over() {
  std::erase_if(connections_,
                [](const Connection& connection) { return connection.phase == Phase::kOver; });
}

}  // namespace weftline::channel
