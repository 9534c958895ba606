// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <sys/socket.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <functional>
#include <limits>

#include "publisher_ring.hpp"
#include "subscriber_ring.hpp"
#include "wire_metadata.hpp"

namespace weftline::channel {

namespace {

/// Both ends of one link, and the memory as an attacker of either side would see it.
struct Ends {
  PublisherRing publisher;
  SubscriberRing subscriber;
  Mapping claims;  ///< A second, writable mapping of the subscriber's page.
  [[nodiscard]] ClaimsPage& claims_page() const {
    return *reinterpret_cast<ClaimsPage*>(claims.data());
  }
};

RingGeometry geometry_of(ChannelQueuePolicy policy, std::uint32_t depth,
                         const PayloadIdentity& payload = payload_identity<std::uint64_t>()) {
  EndpointRecord endpoint;
  endpoint.payload = payload;
  endpoint.queue_policy = policy;
  endpoint.queue_depth = depth;
  return *ring_geometry(endpoint);
}

UniqueFd copy_of(int fd) { return UniqueFd{::dup(fd)}; }

Ends make_ends(const RingGeometry& geometry,
               const PayloadIdentity& payload = payload_identity<std::uint64_t>()) {
  const Incarnation incarnation{1};
  PublisherRing::Handover handover;
  auto publisher = PublisherRing::create(geometry, incarnation, handover);
  REQUIRE(publisher.has_value());
  auto claims = map_received(handover.claims, kSegmentPage, SegmentWriter::kReceiver);
  REQUIRE(claims.has_value());
  auto subscriber = SubscriberRing::open(
      geometry, BodyContract(payload), incarnation,
      {std::move(handover.frames), std::move(handover.claims), std::move(handover.wake)});
  if (!subscriber) FAIL(subscriber.error().to_string());
  return {std::move(*publisher), std::move(*subscriber), std::move(*claims)};
}

void write(PublisherRing& ring, std::uint64_t value) {
  ring.write(to_wire({}), std::as_bytes(std::span(&value, 1)));
}

SubscriberRing::State take(SubscriberRing& ring, std::uint64_t& value) {
  SampleMetadata metadata;
  return ring.take(std::as_writable_bytes(std::span(&value, 1)), metadata);
}

using Room = PublisherRing::Room;
using State = SubscriberRing::State;

}  // namespace

TEST_CASE("a blocking ring has room for exactly its depth, round after round") {
  const std::uint32_t depth = GENERATE(1U, 2U, 5U, 8U);
  Ends ends = make_ends(geometry_of(ChannelQueuePolicy::kBlocking, depth));
  std::uint64_t value = 0;
  CHECK(take(ends.subscriber, value) == State::kEmpty);
  for (std::uint64_t n = 0; n < 100; n += depth) {
    for (std::uint64_t i = 0; i < depth; ++i) {
      REQUIRE(ends.publisher.room(false) == Room::kFree);
      write(ends.publisher, n + i);
    }
    REQUIRE(ends.publisher.room(false) == Room::kFull);
    for (std::uint64_t i = 0; i < depth; ++i) {
      REQUIRE(take(ends.subscriber, value) == State::kFrame);
      REQUIRE(value == n + i);
    }
    REQUIRE(take(ends.subscriber, value) == State::kEmpty);
  }
}

TEST_CASE("a wish for space or data is answered with its event, and only then") {
  Ends ends = make_ends(geometry_of(ChannelQueuePolicy::kBlocking, 1));
  const auto signalled = [](const WakeSocket& wake) {
    char token = 0;
    return ::recv(wake.fd(), &token, sizeof(token), MSG_DONTWAIT) == sizeof(token);
  };
  std::uint64_t value = 0;
  write(ends.publisher, 1);
  CHECK_FALSE(signalled(ends.subscriber.wake()));
  CHECK(ends.publisher.room(true) == Room::kFull);
  REQUIRE(take(ends.subscriber, value) == State::kFrame);
  CHECK(signalled(ends.publisher.wake()));
  ends.publisher.clear_space_wish();
  ends.subscriber.want_data(true);
  write(ends.publisher, 2);
  CHECK(signalled(ends.subscriber.wake()));
  ends.subscriber.want_data(false);
  REQUIRE(take(ends.subscriber, value) == State::kFrame);
  CHECK_FALSE(signalled(ends.publisher.wake()));
  ends.subscriber.want_data(true);
  ends.publisher.end();
  CHECK(signalled(ends.subscriber.wake()));
}

TEST_CASE("a head that moves backwards or past the tail breaks the ring for the publisher") {
  Ends ends = make_ends(geometry_of(ChannelQueuePolicy::kBlocking, 2));
  std::uint64_t value = 0;
  write(ends.publisher, 1);
  write(ends.publisher, 2);
  REQUIRE(take(ends.subscriber, value) == State::kFrame);
  REQUIRE(ends.publisher.room(false) == Room::kFree);
  write(ends.publisher, 3);
  ends.claims_page().progress.head = GENERATE(0U, 4U, std::numeric_limits<std::uint64_t>::max());
  CHECK(ends.publisher.room(true) == Room::kBroken);
}

TEST_CASE("a subscriber's words cannot upset the drop statistics") {
  Ends ends = make_ends(geometry_of(ChannelQueuePolicy::kDropOldest, 2));
  for (std::uint64_t n = 0; n < 10; ++n) write(ends.publisher, n);
  CHECK(ends.publisher.dropped() == 8);
  ends.claims_page().progress.head = std::numeric_limits<std::uint64_t>::max();
  ends.claims_page().progress.lost = std::numeric_limits<std::uint64_t>::max();
  CHECK(ends.publisher.dropped() == 10);
  CHECK(ends.publisher.room(true) == Room::kFree);
}

TEST_CASE("a frames segment cannot be mapped for writing or resized by who receives it") {
  const RingGeometry geometry = geometry_of(ChannelQueuePolicy::kBlocking, 4);
  PublisherRing::Handover handover;
  auto publisher = PublisherRing::create(geometry, Incarnation{1}, handover);
  REQUIRE(publisher.has_value());
  const int fd = handover.frames.get();
  CHECK(::mmap(nullptr, kSegmentPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
  const char byte = 1;
  CHECK(::pwrite(fd, &byte, 1, 0) < 0);
  CHECK(::ftruncate(fd, 0) != 0);
  CHECK(::ftruncate(fd, 1 << 20) != 0);
  CHECK(::ftruncate(handover.claims.get(), 0) != 0);
}

namespace {

/// A publisher that keeps no rules: it has its own writable mapping of the frames.
struct RoguePublisher {
  using Descriptors = std::array<UniqueFd, WelcomeMessage::kDescriptors>;
  explicit RoguePublisher(ChannelQueuePolicy policy)
      : geometry(geometry_of(policy, 4)),
        frames(*create_segment("frames", geometry.frames_bytes())),
        claims(*create_segment("claims", kSegmentPage)) {
    page().header = geometry.frames_header(incarnation);
    reinterpret_cast<ClaimsPage*>(claims.mapping.data())->header = {kClaimsMagic, kWireVersion, 0,
                                                                    incarnation};
  }
  void seal() const {
    REQUIRE(seal_segment(frames, SegmentWriter::kThisProcess));
    REQUIRE(seal_segment(claims, SegmentWriter::kReceiver));
  }
  [[nodiscard]] FramesPage& page() const {
    return *reinterpret_cast<FramesPage*>(frames.mapping.data());
  }
  [[nodiscard]] SlotHeader& slot(std::uint64_t frame) const {
    return *reinterpret_cast<SlotHeader*>(frames.mapping.data() + geometry.slot_offset(frame));
  }
  [[nodiscard]] Descriptors descriptors() const {
    return {copy_of(frames.fd.get()), copy_of(claims.fd.get()),
            std::move(WakeSocket::create()->there)};
  }
  [[nodiscard]] expected<SubscriberRing, Error> open(Descriptors sent) const {
    return SubscriberRing::open(geometry, BodyContract(payload_identity<std::uint64_t>()),
                                incarnation, std::move(sent));
  }

  const Incarnation incarnation{7};
  RingGeometry geometry;
  Segment frames;
  Segment claims;
};

ChannelQueuePolicy each_policy() {
  return GENERATE(ChannelQueuePolicy::kBlocking, ChannelQueuePolicy::kDropOldest);
}

ErrorCode refused(const expected<SubscriberRing, Error>& ring) {
  REQUIRE_FALSE(ring.has_value());
  CHECK_FALSE(ring.error().message.empty());
  return ring.error().code;
}

}  // namespace

TEST_CASE("memory that its sender could resize is not mapped") {
  const RoguePublisher rogue(each_policy());
  CHECK(refused(rogue.open(rogue.descriptors())) == ErrorCode::kProtocolError);
}

TEST_CASE("a frames header of another layout is refused") {
  const RoguePublisher rogue(each_policy());
  rogue.seal();
  REQUIRE(rogue.open(rogue.descriptors()).has_value());
  const int field = GENERATE(0, 1, 2, 3, 4, 5, 6, 7);
  FramesHeader& header = rogue.page().header;
  if (field == 0) header.magic ^= 1;
  if (field == 1) header.version += 1;
  if (field == 2) header.depth += 1;
  if (field == 3) header.capacity *= 2;
  if (field == 4) header.slot_stride += 64;
  if (field == 5) header.body_bytes = 1U << 30;
  if (field == 6) header.drop_oldest ^= 1;
  if (field == 7) header.incarnation[3] ^= 1;
  CHECK(refused(rogue.open(rogue.descriptors())) == ErrorCode::kProtocolError);
}

TEST_CASE("a descriptor of the wrong kind is refused") {
  const RoguePublisher rogue(each_policy());
  rogue.seal();
  auto descriptors = rogue.descriptors();
  SECTION("a pipe in place of a wake socket") {
    int pipe[2];
    REQUIRE(::pipe(pipe) == 0);
    descriptors[2] = UniqueFd{pipe[0]};
    ::close(pipe[1]);
  }
  SECTION("a stream socket in place of a wake socket") {
    int pair[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    descriptors[2] = UniqueFd{pair[0]};
    ::close(pair[1]);
  }
  SECTION("a wake socket in place of memory") { std::swap(descriptors[0], descriptors[2]); }
  SECTION("the two segments exchanged") { std::swap(descriptors[0], descriptors[1]); }
  SECTION("nothing") { descriptors = {}; }
  CHECK(refused(rogue.open(std::move(descriptors))) == ErrorCode::kProtocolError);
}

TEST_CASE("a subscriber refuses frames that no publisher writes") {
  const ChannelQueuePolicy policy = each_policy();
  const RoguePublisher rogue(policy);
  rogue.seal();
  auto ring = rogue.open(rogue.descriptors());
  if (!ring) FAIL(ring.error().to_string());
  FramesProgress& progress = rogue.page().progress;
  std::uint64_t value = 0;
  SECTION("a tail with frames that were never written") { progress.tail = 3; }
  SECTION("a tail that moves backwards") {
    rogue.slot(0).stamp = 1;
    rogue.slot(1).stamp = 2;
    progress.tail = 2;
    REQUIRE(take(*ring, value) == State::kFrame);
    progress.tail = 1;
  }
  SECTION("a tail far away") { progress.tail = std::numeric_limits<std::uint64_t>::max(); }
  SECTION("an end before the last frame") {
    progress.final_tail = 2;
    progress.ended = 1;
  }
  SECTION("unknown presence bits") {
    rogue.slot(0).stamp = 1;
    rogue.slot(0).metadata.present = 4;
    progress.tail = 1;
  }
  SECTION("unknown flags") {
    rogue.slot(0).stamp = 1;
    rogue.slot(0).metadata.flags = 0x80;
    progress.tail = 1;
  }
  CHECK(take(*ring, value) == State::kBroken);
}

TEST_CASE("a byte that is no bool in a bool's place breaks the ring for the subscriber") {
  Ends ends =
      make_ends(geometry_of(each_policy(), 2, payload_identity<bool>()), payload_identity<bool>());
  std::uint8_t value = 1;
  SampleMetadata metadata;
  const auto pass = [&] {
    ends.publisher.write(to_wire({}), std::as_bytes(std::span(&value, 1)));
    return ends.subscriber.take(std::as_writable_bytes(std::span(&value, 1)), metadata);
  };
  CHECK(pass() == State::kFrame);
  value = 2;
  CHECK(pass() == State::kBroken);
}

TEST_CASE("metadata survives the wire in every combination") {
  SampleMetadata metadata;
  if (GENERATE(true, false)) metadata.capture = TimePoint{-5, ClockId{3}};
  if (GENERATE(true, false)) metadata.frame_id = 12;
  metadata.publish_time = {17, ClockId{}};
  metadata.sequence = std::numeric_limits<std::uint64_t>::max();
  metadata.byte_size = 99;
  metadata.trace = {1, 2, 3};
  metadata.flags = GENERATE(SampleFlags::kNone, SampleFlags::kInvalid | SampleFlags::kDegraded);
  metadata.payload_kind = PayloadIdentityKind::kPod;
  const auto back = from_wire(to_wire(metadata), BodyContract(payload_identity<double>()));
  REQUIRE(back.has_value());
  CHECK(back->capture.has_value() == metadata.capture.has_value());
  // A clock's id is the sender's own affair, kind and size are the receiver's contract.
  if (back->capture) CHECK(back->capture == TimePoint{-5, ClockId{0}});
  CHECK(back->frame_id == metadata.frame_id);
  CHECK(back->publish_time == TimePoint{17, ClockId{0}});
  CHECK(back->sequence == metadata.sequence);
  CHECK(back->byte_size == sizeof(double));
  CHECK(back->trace == metadata.trace);
  CHECK(back->flags == metadata.flags);
  CHECK(back->payload_kind == PayloadIdentityKind::kScalar);
}

}  // namespace weftline::channel
