// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "unique_fd.hpp"
#include "weftline/core/error.hpp"

namespace weftline::channel {

/// A mapping of shared memory, unmapped by the destructor.
class Mapping {
 public:
  Mapping() noexcept = default;
  Mapping(void* address, std::size_t bytes) noexcept : address_(address), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(address_); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

 private:
  void unmap() noexcept;
  void* address_{nullptr};
  std::size_t bytes_{0};
};

struct Segment {
  UniqueFd fd{};  ///< To be sent; the mapping does not need it.
  Mapping mapping{};
};

enum class SegmentWriter : std::uint8_t {
  kThisProcess = 0,  ///< Our mapping is the only writable one there will ever be.
  kReceiver,         ///< Whoever gets the descriptor may write; the size is fixed.
};

/// A memfd of zeros with all its pages allocated, mapped read-write. It is not sealed yet.
[[nodiscard]] expected<Segment, Error> create_segment(const char* name, std::size_t bytes);

/// Ends the preparation of a segment: from here on only `writer` can write, and nobody can resize.
[[nodiscard]] expected<void, Error> seal_segment(const Segment& segment, SegmentWriter writer);

/// Maps a received segment after checking that it has exactly this size and the seals that
/// seal_segment() sets: kProtocolError otherwise. Writable only where the receiver is the writer.
[[nodiscard]] expected<Mapping, Error> map_received(const UniqueFd& fd, std::size_t bytes,
                                                    SegmentWriter writer);

/// A memfd with this text that nobody can change any more.
[[nodiscard]] expected<UniqueFd, Error> create_sealed_text(std::string_view text);

/// Reads it back; kProtocolError when it is no sealed memfd or longer than `limit`.
[[nodiscard]] expected<std::string, Error> read_sealed_text(const UniqueFd& fd, std::size_t limit);

}  // namespace weftline::channel
