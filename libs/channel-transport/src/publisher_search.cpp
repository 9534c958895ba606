// SPDX-License-Identifier: Apache-2.0
#include "publisher_search.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "weftline/catalog/compatibility.hpp"

namespace weftline::channel {

namespace {

/// What publishers refuse with. A token is static here, so one from the wire is looked up.
constexpr std::array<std::string_view, 9> kRefusalTokens{
    "CHANNEL_DESCRIPTORS",   "CHANNEL_ENDPOINT_MISMATCH", "CHANNEL_HANDSHAKE",
    "CHANNEL_MEMORY",        "CHANNEL_PEER_UNKNOWN",      "CHANNEL_PEER_USER",
    "CHANNEL_WRONG_SEGMENT", "CHANNEL_SUBSCRIBERS_FULL",  "CHANNEL_WIRE_VERSION"};

ErrorCode known_code(std::uint32_t code) noexcept {
  switch (static_cast<ErrorCode>(code)) {
    case ErrorCode::kFailure:
    case ErrorCode::kIncompatible:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kResourceExhausted:
      return static_cast<ErrorCode>(code);
    default:
      return ErrorCode::kProtocolError;
  }
}

/// A refusal comes from the peer: only codes and tokens that a publisher sends are taken over, and
/// only printable text.
Error to_error(const RefusalMessage& refusal) {
  const std::string_view sent(refusal.token.data(),
                              ::strnlen(refusal.token.data(), refusal.token.size()));
  const auto* token = std::ranges::find(kRefusalTokens, sent);
  std::string text(refusal.text.data(),
                   std::min<std::size_t>(refusal.text_bytes, refusal.text.size()));
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return {known_code(refusal.code), token == kRefusalTokens.end() ? "CHANNEL_REFUSED" : *token,
          "the publisher refused: " + text, 0};
}

}  // namespace

PublisherSearch::PublisherSearch(ServiceThread& service, Settings settings,
                                 std::function<void()> changed)
    : service_(service), settings_(std::move(settings)), changed_(std::move(changed)) {}

PublisherSearch::~PublisherSearch() {
  if (socket_.valid()) send_goodbye(socket_.get(), GoodbyeReason::kLeaving);
  disconnect();
}

void PublisherSearch::look() {
  const Status now = status();
  if (now != Status::kSearching && now != Status::kAlone) return;
  const RecordSighting seen = look_for_record(service_.directory(), settings_.record_file);
  if (seen.state == RecordState::kUnopened) service_.call_later();
  if (seen.state != RecordState::kLive) return;
  // One that hung up while we were connecting is ending, or no publisher: it is not tried again.
  if (seen.content.incarnation == incarnation_) return;
  if (now == Status::kSearching) {
    connect(seen.content);
  } else {
    set_status(Status::kReplaced);
  }
}

void PublisherSearch::connect(const RecordContent& publisher) {
  if (auto checked = check_record(publisher); !checked) {
    set_failed(std::move(checked).error());
    return;
  }
  incarnation_ = publisher.incarnation;
  auto connected = say_hello();
  if (connected) {
    set_status(Status::kConnecting);
    return;
  }
  disconnect();
  if (connected.error().code == ErrorCode::kResourceExhausted) {
    incarnation_ = {};
    service_.call_later();
  } else if (connected.error().code != ErrorCode::kNotFound) {
    set_failed(std::move(connected).error());
  }
}

expected<void, Error> PublisherSearch::check_record(const RecordContent& publisher) const {
  if (publisher.wire_version != kWireVersion) {
    return fail(ErrorCode::kIncompatible, "CHANNEL_WIRE_VERSION",
                "endpoint '" + settings_.endpoint.name + "': process " +
                    std::to_string(publisher.pid) + " publishes with wire version " +
                    std::to_string(publisher.wire_version) + ", this subscriber speaks " +
                    std::to_string(kWireVersion) + "; build both with one version of Weftline");
  }
  WEFTLINE_ASSIGN(const EndpointRecord theirs, endpoint_from_json(publisher.endpoint_json));
  if (theirs.name != settings_.endpoint.name) {
    return fail(ErrorCode::kIncompatible, "CHANNEL_ENDPOINT_MISMATCH",
                "endpoint '" + settings_.endpoint.name + "': the record " + settings_.record_file +
                    " of process " + std::to_string(publisher.pid) + " is one of endpoint '" +
                    theirs.name + "'; end that process, its record has the wrong place");
  }
  const auto report = compare_endpoints(settings_.endpoint, theirs);
  if (!report.compatible()) {
    return fail(ErrorCode::kIncompatible, "CHANNEL_ENDPOINT_MISMATCH",
                "this side is the subscriber, the publisher is process " +
                    std::to_string(publisher.pid) + ": " + report.to_string());
  }
  return {};
}

expected<void, Error> PublisherSearch::say_hello() {
  WEFTLINE_ASSIGN(socket_, connect_to(incarnation_));
  WEFTLINE_ASSIGN(peer_, identify_peer(socket_.get()));
  WEFTLINE_ASSIGN(const UniqueFd text, create_sealed_text(settings_.endpoint_json));
  WEFTLINE_ASSIGN(socket_watch_, service_.watch(socket_.get(), [this] { read_socket(); }));
  WEFTLINE_ASSIGN(process_watch_, service_.watch(peer_.pidfd.get(), [this] {
    // Reading may end this link and begin one with the next publisher.
    const Incarnation gone = incarnation_;
    read_socket();
    if (socket_.valid() && incarnation_ == gone) lose_publisher();
  }));
  const int descriptor = text.get();
  // Not taken means that it has just ended; the socket's end of file says so next.
  [[maybe_unused]] const bool taken =
      send_message(socket_.get(), make_message<HelloMessage>(), std::span(&descriptor, 1));
  return {};
}

void PublisherSearch::read_socket() {
  while (socket_.valid()) {
    Packet packet;
    switch (receive_packet(socket_.get(), packet)) {
      case PacketResult::kReceived:
        handle(std::move(packet));
        break;
      case PacketResult::kNothing:
        return;
      case PacketResult::kEnd:
        lose_publisher();
        return;
      case PacketResult::kMalformed:
        drop_link();
        return;
    }
  }
}

void PublisherSearch::handle(Packet packet) {
  const bool connecting = status() == Status::kConnecting;
  if (const auto goodbye = parse_message<GoodbyeMessage>(packet)) {
    if (goodbye->reason == static_cast<std::uint32_t>(GoodbyeReason::kLeaving)) {
      lose_publisher();
      return;
    }
    disconnect();
    set_failed({ErrorCode::kProtocolError, "CHANNEL_LINK_DROPPED",
                "endpoint '" + settings_.endpoint.name +
                    "': the publisher dropped the link because this subscriber's claims page was "
                    "damaged; look for a stray write in this process",
                0});
  } else if (const auto refusal = parse_message<RefusalMessage>(packet); refusal && connecting) {
    disconnect();
    set_failed(to_error(*refusal));
  } else if (connecting) {
    attach(std::move(packet));
  } else {
    drop_link();
  }
}

void PublisherSearch::attach(Packet packet) {
  const auto welcome = parse_message<WelcomeMessage>(packet);
  if (!welcome || welcome->incarnation != incarnation_) {
    drop_link();
    return;
  }
  auto ring = SubscriberRing::open(settings_.geometry, settings_.contract, incarnation_,
                                   std::move(packet.descriptors));
  if (!ring) {
    send_goodbye(socket_.get(), GoodbyeReason::kProtocolError);
    disconnect();
    set_failed(std::move(ring).error());
    return;
  }
  ring_storage_.emplace(std::move(*ring));
  ring_.store(&*ring_storage_, std::memory_order_release);
  set_status(Status::kAttached);
  // Not taken: the publisher has just ended, and its end of file follows.
  [[maybe_unused]] const bool taken = send_message(socket_.get(), make_message<AttachedMessage>());
}

void PublisherSearch::lose_publisher() {
  disconnect();
  set_status(status() == Status::kConnecting ? Status::kSearching : Status::kAlone);
  look();
}

void PublisherSearch::drop_link() {
  if (!socket_.valid()) return;
  send_goodbye(socket_.get(), GoodbyeReason::kProtocolError);
  disconnect();
  set_failed({ErrorCode::kProtocolError, "CHANNEL_PEER_GARBAGE",
              "endpoint '" + settings_.endpoint.name +
                  "': the publisher sent what no publisher sends; the link is dropped",
              0});
}

void PublisherSearch::disconnect() noexcept {
  socket_watch_ = {};
  process_watch_ = {};
  socket_.reset();
  peer_ = {};
}

void PublisherSearch::set_failed(Error error) {
  failure_ = std::move(error);
  set_status(Status::kFailed);
}

void PublisherSearch::set_status(Status status) {
  status_.store(status, std::memory_order_release);
  if (status != Status::kSearching && status != Status::kConnecting) changed_();
}

}  // namespace weftline::channel
