// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "weftline/core/error.hpp"
#include "weftline/core/sample.hpp"

namespace weftline::runtime {

class Parker;

/// What stands behind an imported topic's current producer, as far as this process has evidence.
/// Absence of a peer is evidence of nothing.
struct ImportEvidence {
  std::uint64_t token{0};            ///< Of the incarnation that was accepted; 0: none was yet.
  bool ended{false};                 ///< That incarnation said that its stream ends.
  bool peer_attached{false};         ///< Its process still holds its end.
  std::uint32_t retained_claims{0};  ///< Samples of it that somebody here still holds.
};

/// The way into the process for one imported topic, whatever carries it. Nothing here blocks.
class ImportPort {
 public:
  ImportPort() = default;
  ImportPort(const ImportPort&) = delete;
  ImportPort& operator=(const ImportPort&) = delete;
  virtual ~ImportPort() = default;

  /// The lane to wake when a sample or an end may be there. Before anything else.
  virtual void wake(Parker& lane) noexcept = 0;

  // The lane that takes.

  /// Constructs the oldest sample of the current incarnation at `value`, which holds none; false
  /// when there is none now. An error is final.
  [[nodiscard]] virtual expected<bool, Error> take(void* value,
                                                   SampleMetadata& metadata) noexcept = 0;
  /// True when the current incarnation ended its stream by its own word, and everything before was
  /// taken. Silence, a disconnect and a crash never make it true.
  [[nodiscard]] virtual bool ended() noexcept = 0;

  // The controller, while no lane runs.

  [[nodiscard]] virtual ImportEvidence evidence() noexcept = 0;
  /// Gives the current incarnation up and lets one later incarnation attach. There is no way back:
  /// after an error the port is of no use.
  [[nodiscard]] virtual expected<void, Error> rebind() noexcept = 0;
};

}  // namespace weftline::runtime
