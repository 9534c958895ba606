// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "weftline/core/payload.hpp"

namespace weftline::channel {

/// What an endpoint's bodies have to be, beyond their size. Every bit pattern is a value of every
/// scalar but bool: a byte other than 0 and 1 there must not become a C++ object.
class BodyContract {
 public:
  BodyContract() noexcept = default;  ///< Of no payload.
  explicit BodyContract(const PayloadIdentity& payload);

  [[nodiscard]] PayloadIdentityKind kind() const noexcept { return kind_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// `body` has bytes() bytes.
  [[nodiscard]] bool admits(std::span<const std::byte> body) const noexcept;

 private:
  struct Range {
    std::size_t begin{0};
    std::size_t count{0};
  };
  PayloadIdentityKind kind_{PayloadIdentityKind::kScalar};
  std::uint64_t bytes_{0};
  std::vector<Range> bools_{};
};

}  // namespace weftline::channel
