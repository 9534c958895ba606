// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "cell_store.hpp"
#include "flow_stamp.hpp"
#include "weftline/core/sample.hpp"
#include "weftline/graph/payload_ops.hpp"
#include "weftline/graph/port_binding.hpp"

namespace weftline::runtime {

/// Samples of one input that are held outside its queue, oldest first. All memory is taken at
/// construction; one lane's. A held tensor holds its slot.
class SampleCache {
 public:
  SampleCache(const PayloadOps& ops, std::uint32_t capacity);
  SampleCache(const SampleCache&) = delete;
  SampleCache& operator=(const SampleCache&) = delete;
  ~SampleCache() { clear(); }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] bool full() const noexcept { return size_ == capacity_; }

  /// Behind the youngest, moved out of `value` or copied from it; not while full().
  void push_back(void* value, bool move, const SampleMetadata& metadata) noexcept;
  /// Destroys the oldest; not while empty().
  void pop_front() noexcept;
  void clear() noexcept {
    while (!empty()) pop_front();
  }

  /// The number of the cell of the `index`-th sample from the oldest; its own until it is popped.
  [[nodiscard]] std::uint32_t number_of(std::uint32_t index) const noexcept {
    const std::uint32_t number = first_ + index;
    return number < capacity_ ? number : number - capacity_;
  }
  [[nodiscard]] void* value(std::uint32_t number) const noexcept { return cells_.value(number); }
  [[nodiscard]] const SampleMetadata& metadata(std::uint32_t number) const noexcept {
    return *cells_.metadata(number);
  }
  [[nodiscard]] const SampleMetadata& metadata_at(std::uint32_t index) const noexcept {
    return metadata(number_of(index));
  }
  /// Where it comes from, for latencies; without an origin where the run keeps none.
  [[nodiscard]] FlowStamp& stamp(std::uint32_t number) noexcept { return *cells_.stamp(number); }
  /// Whether an activation was given that sample. A tensor is then ordered on the operator's
  /// stream, for good.
  [[nodiscard]] bool given(std::uint32_t number) const noexcept { return given_[number] != 0; }
  void mark_given(std::uint32_t number) noexcept { given_[number] = 1; }

  [[nodiscard]] SampleCells cells(std::span<const std::uint32_t> numbers) const noexcept {
    return {cells_.cell(0), cells_.stride(), cells_.value_offset(), numbers};
  }

 private:
  const PayloadOps& ops_;
  const std::uint32_t capacity_;
  const CellStore cells_;
  std::vector<std::uint8_t> given_;
  std::uint32_t first_{0};
  std::uint32_t size_{0};
};

}  // namespace weftline::runtime
