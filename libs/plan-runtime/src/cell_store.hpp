// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "flow_stamp.hpp"
#include "weftline/core/sample.hpp"
#include "weftline/graph/payload_ops.hpp"

namespace weftline::runtime {

/// Raw memory for so many samples of one payload: a cell has room for the metadata at its begin, a
/// FlowStamp where samples have one, and the value, aligned as its type asks, on cache lines of its
/// own. Constructs and destroys nothing; whoever has it knows which cells hold a sample. All memory
/// is taken, and touched, at construction.
class CellStore {
 public:
  CellStore(const PayloadOps& ops, std::uint32_t count, bool stamped);

  [[nodiscard]] std::byte* cell(std::uint32_t number) const noexcept {
    return cells_.get() + std::size_t{number} * stride_;
  }
  [[nodiscard]] SampleMetadata* metadata(std::uint32_t number) const noexcept {
    return reinterpret_cast<SampleMetadata*>(cell(number));
  }
  /// Of a store for stamped samples.
  [[nodiscard]] FlowStamp* stamp(std::uint32_t number) const noexcept {
    return reinterpret_cast<FlowStamp*>(cell(number) + kStampOffset);
  }
  [[nodiscard]] void* value(std::uint32_t number) const noexcept {
    return cell(number) + value_offset_;
  }
  [[nodiscard]] std::size_t stride() const noexcept { return stride_; }
  [[nodiscard]] std::size_t value_offset() const noexcept { return value_offset_; }

 private:
  static constexpr std::size_t kStampOffset = sizeof(SampleMetadata);
  static_assert(kStampOffset % alignof(FlowStamp) == 0);
  struct Free {
    std::align_val_t alignment;
    void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, alignment); }
  };

  std::size_t stride_{0};
  std::uint32_t value_offset_{0};
  std::unique_ptr<std::byte[], Free> cells_{};
};

}  // namespace weftline::runtime
