// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weftline {

using Sha256Digest = std::array<std::uint8_t, 32>;

[[nodiscard]] Sha256Digest sha256(std::span<const std::byte> bytes) noexcept;
[[nodiscard]] Sha256Digest sha256(std::string_view text) noexcept;

/// The same over bytes that come in pieces.
class Sha256Stream {
 public:
  Sha256Stream() noexcept;
  void add(std::string_view bytes) noexcept;
  /// Ends it: nothing may be added afterwards.
  [[nodiscard]] Sha256Digest finish() noexcept;

 private:
  alignas(8) std::array<std::byte, 104> state_{};
};

/// Lower-case hexadecimal.
[[nodiscard]] std::string to_hex(std::span<const std::uint8_t> bytes);
/// "sha256:" and 64 hexadecimal digits: how digests are written everywhere.
[[nodiscard]] std::string digest_text(const Sha256Digest& digest);

}  // namespace weftline
