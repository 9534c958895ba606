// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/digest.hpp"

#include <sodium/crypto_hash_sha256.h>

#include <new>

namespace weftline {
namespace {

Sha256Digest hash(const void* data, std::size_t size) noexcept {
  static_assert(crypto_hash_sha256_BYTES == std::tuple_size_v<Sha256Digest>);
  Sha256Digest digest{};
  crypto_hash_sha256(digest.data(), static_cast<const unsigned char*>(data), size);
  return digest;
}

}  // namespace

Sha256Digest sha256(std::span<const std::byte> bytes) noexcept {
  return hash(bytes.data(), bytes.size());
}

Sha256Digest sha256(std::string_view text) noexcept { return hash(text.data(), text.size()); }

Sha256Stream::Sha256Stream() noexcept {
  static_assert(sizeof(state_) == sizeof(crypto_hash_sha256_state));
  static_assert(alignof(Sha256Stream) >= alignof(crypto_hash_sha256_state));
  crypto_hash_sha256_init(::new (state_.data()) crypto_hash_sha256_state);
}

void Sha256Stream::add(std::string_view bytes) noexcept {
  auto* const state = std::launder(reinterpret_cast<crypto_hash_sha256_state*>(state_.data()));
  crypto_hash_sha256_update(state, reinterpret_cast<const unsigned char*>(bytes.data()),
                            bytes.size());
}

Sha256Digest Sha256Stream::finish() noexcept {
  auto* const state = std::launder(reinterpret_cast<crypto_hash_sha256_state*>(state_.data()));
  Sha256Digest digest{};
  crypto_hash_sha256_final(state, digest.data());
  return digest;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 0xf]);
  }
  return text;
}

std::string digest_text(const Sha256Digest& digest) { return "sha256:" + to_hex(digest); }

}  // namespace weftline
