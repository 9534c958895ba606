// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// What two processes agree on, byte by byte. All fields are little-endian and of fixed size. A
// change of anything here is a change of kWireVersion; versions match exactly or not at all.
//
// Frames segment: a memfd that only the publisher writes. It is sealed with FUTURE_WRITE, SHRINK,
// GROW and SEAL after the publisher's own mapping, so a subscriber can map it read-only and no
// other way.
//
//   offset   line              written by              fields
//   0        FramesHeader      publisher, before send  magic, version, geometry, incarnation
//   64       FramesProgress    publisher, every frame  tail; final_tail and ended, once
//   128      FramesWish        publisher, when full    space_wanted
//   192      reserved, zero
//   256      slot 0            publisher               SlotHeader (128 bytes), body
//   256 + s  slot 1, …         s = slot_stride, a multiple of 64
//
// Claims segment: one memfd page per link that only the subscriber writes (all but line 0).
//
//   0        ClaimsHeader      publisher, before send  magic, version, incarnation
//   64       ClaimsProgress    subscriber, every take  head, lost
//   128      ClaimsWish        subscriber, when empty  data_wanted
//
// Frames are numbered from 0. `tail` is the number of the next frame to be written, `head` that of
// the next one to be taken; frame n lies in slot n mod capacity. `capacity` is a power of two: at
// least `depth` where the queue blocks, at least `depth + 1` where it drops the oldest.
//
// A pair of datagram sockets belongs to a link; one datagram of any content is a wake. Who finds
// nothing to do stores its wish, looks again, and then sleeps; who makes progress stores it, and
// then loads the other side's wish. All four are sequentially consistent, so that at least one side
// sees the other (a store-load protocol).
//
// Handshake, over a SOCK_SEQPACKET socket in the abstract namespace, "weftline/" and the
// incarnation in 32 hexadecimal digits:
//
//   subscriber                        publisher
//   Hello {record memfd}      ──▶
//                             ◀──     Welcome {frames, claims, wake socket}
//                                     or Refusal {code, text}
//   Attached                  ──▶     (from now on frames are written)
//   Goodbye                  ◀──▶     by who leaves of its own will
namespace weftline::channel {

static_assert(std::endian::native == std::endian::little, "the wire format is little-endian");

inline constexpr std::uint32_t kWireVersion = 4;

using Incarnation = std::array<std::uint8_t, 16>;  ///< Random, never all zero.

inline constexpr std::uint64_t kFramesMagic = 0x31454d4152464c57;   // "WLFRAME1"
inline constexpr std::uint64_t kClaimsMagic = 0x314d49414c434c57;   // "WLCLAIM1"
inline constexpr std::uint64_t kMessageMagic = 0x31434f53434c4c57;  // "WLLCSOC1"
inline constexpr std::size_t kCacheLine = 64;
inline constexpr std::uint64_t kSegmentPage = 4096;

struct alignas(kCacheLine) FramesHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t depth;
  std::uint32_t capacity;
  std::uint32_t slot_stride;
  std::uint32_t body_bytes;
  std::uint32_t drop_oldest;  ///< 0 or 1
  Incarnation incarnation;
};

struct alignas(kCacheLine) FramesProgress {
  std::uint64_t tail;
  std::uint64_t final_tail;  ///< Equal to tail; valid once ended is 1.
  std::uint32_t ended;
};

struct alignas(kCacheLine) FramesWish {
  std::uint32_t space_wanted;
};

struct FramesPage {
  FramesHeader header;
  FramesProgress progress;
  FramesWish wish;
  std::array<std::byte, kCacheLine> reserved;
};
inline constexpr std::size_t kSlotsOffset = sizeof(FramesPage);
static_assert(kSlotsOffset == 256);

inline constexpr std::uint32_t kHasCapture = 1;
inline constexpr std::uint32_t kHasFrameId = 2;

/// Kind and size of the payload are the endpoint's, and a clock's id means something within one
/// plan only: none of them is sent.
struct WireMetadata {
  std::uint32_t present;  ///< kHasCapture | kHasFrameId
  std::uint32_t flags;    ///< SampleFlags
  std::int64_t capture_ns;
  std::int64_t publish_ns;
  std::uint64_t frame_id;
  std::uint64_t sequence;
  std::uint64_t trace_id;
  std::uint64_t span_id;
  std::uint64_t parent_span_id;
};
static_assert(sizeof(WireMetadata) == 64);

struct alignas(kCacheLine) SlotHeader {
  std::uint64_t stamp;  ///< Frame number + 1 when the slot is whole, 0 while it is being written.
  WireMetadata metadata;
};
static_assert(sizeof(SlotHeader) == 128);

struct alignas(kCacheLine) ClaimsHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t reserved;
  Incarnation incarnation;
};

struct alignas(kCacheLine) ClaimsProgress {
  std::uint64_t head;
  std::uint64_t lost;  ///< Frames skipped because they were overwritten; at most head.
};

struct alignas(kCacheLine) ClaimsWish {
  std::uint32_t data_wanted;
};

struct ClaimsPage {
  ClaimsHeader header;
  ClaimsProgress progress;
  ClaimsWish wish;
};
static_assert(sizeof(ClaimsPage) <= kSegmentPage);

enum class MessageType : std::uint32_t { kHello = 1, kWelcome, kRefusal, kAttached, kGoodbye };

struct MessageHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t type;
};

/// One descriptor: a sealed memfd with the subscriber's endpoint as canonical catalog JSON.
struct HelloMessage {
  static constexpr MessageType kType = MessageType::kHello;
  static constexpr std::size_t kDescriptors = 1;
  MessageHeader header;
};

/// Three descriptors: frames, claims, the subscriber's end of the wake sockets.
struct WelcomeMessage {
  static constexpr MessageType kType = MessageType::kWelcome;
  static constexpr std::size_t kDescriptors = 3;
  MessageHeader header;
  Incarnation incarnation;
};

struct RefusalMessage {
  static constexpr MessageType kType = MessageType::kRefusal;
  static constexpr std::size_t kDescriptors = 0;
  MessageHeader header;
  std::uint32_t code;  ///< ErrorCode
  std::uint32_t text_bytes;
  std::array<char, 64> token;  ///< Padded with zeros.
  std::array<char, 1536> text;
};

struct AttachedMessage {
  static constexpr MessageType kType = MessageType::kAttached;
  static constexpr std::size_t kDescriptors = 0;
  MessageHeader header;
};

enum class GoodbyeReason : std::uint32_t { kLeaving = 0, kProtocolError };

struct GoodbyeMessage {
  static constexpr MessageType kType = MessageType::kGoodbye;
  static constexpr std::size_t kDescriptors = 0;
  MessageHeader header;
  std::uint32_t reason;
  std::uint32_t reserved;
};

inline constexpr std::size_t kMaximumMessageBytes = sizeof(RefusalMessage);
inline constexpr std::size_t kMaximumDescriptors = WelcomeMessage::kDescriptors;

/// Of an endpoint as canonical JSON: what a process reads of a peer that it does not trust yet. A
/// discovery record has it indented by one level more.
inline constexpr std::size_t kMaximumRecordBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMaximumRecordFileBytes = 2 * kMaximumRecordBytes;

template <class Message>
[[nodiscard]] Message make_message() noexcept {
  static_assert(std::is_trivially_copyable_v<Message>);
  Message message{};
  message.header = {kMessageMagic, kWireVersion, static_cast<std::uint32_t>(Message::kType)};
  return message;
}

}  // namespace weftline::channel
