// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "input_queue.hpp"

namespace weftline::runtime {

/// What one activation has selected from one input, and where it lies.
struct Selected {
  SelectionReason reason{SelectionReason::kNothing};  ///< kFound: one sample or more.
  /// Whose cells `numbers` are; null: the head of the queue.
  SampleCache* cache{nullptr};
  /// The samples are needed again: they are copied out, not moved.
  bool kept{false};
  std::vector<std::uint32_t> numbers{};  ///< Has room for as many as may be selected.
};

/// Takes what an activation wants from an input that the trigger does not wait for, by the rules of
/// weftline/graph/selection.hpp. Its storage is what the plan counted; one lane's.
class SelectorState {
 public:
  virtual ~SelectorState() = default;
  /// Takes from the queue, and writes what of it the activation gets. An error fails the run.
  [[nodiscard]] virtual expected<void, Error> select(InputQueue& queue, std::int64_t reference_ns,
                                                     Selected& selected) noexcept = 0;
  /// Whether all that a window around the reference may hold is there; may take from the queue
  /// already. For a reference that the next select() will have.
  [[nodiscard]] virtual expected<bool, Error> complete(InputQueue& queue,
                                                       std::int64_t reference_ns) noexcept {
    static_cast<void>(queue);
    static_cast<void>(reference_ns);
    return true;
  }
  /// The activation, or the candidate that was skipped, is over.
  virtual void finish(InputQueue& queue) noexcept { static_cast<void>(queue); }
  /// Drops what is held.
  virtual void clear(InputQueue& queue) noexcept { static_cast<void>(queue); }
};

/// For a selection that does not trigger.
[[nodiscard]] std::unique_ptr<SelectorState> make_selector(const EdgeSelectionRecord& record,
                                                           const PayloadOps& ops);

}  // namespace weftline::runtime
