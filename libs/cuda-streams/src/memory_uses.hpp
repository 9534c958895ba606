// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "vector_clock.hpp"
#include "weftline/cuda/memory_access.hpp"

namespace weftline::cuda_streams {

/// One use of memory: a step of its actor, or a phase that is still open.
struct UseRecord {
  MemoryUse use{MemoryUse::kRead};
  Actor actor{kHostActor};
  bool open{false};
  Epoch end{0};                ///< The actor's step with which it ended; none while it is open.
  std::string_view operation;  ///< A literal.
  std::string_view activity;   ///< Interned.
};
using UsePointer = std::shared_ptr<UseRecord>;

/// Whether everything that `earlier` does comes before what an actor does at `now`.
[[nodiscard]] inline bool comes_before(const UseRecord& earlier, Actor actor,
                                       const VectorClock& now) noexcept {
  return earlier.actor == actor || (!earlier.open && now.at(earlier.actor) >= earlier.end);
}

/// Of each byte of watched memory the uses that a later one may conflict with: the last write, the
/// reads after it, and the phases that are open.
class MemoryUses {
 public:
  struct Conflict {
    UsePointer earlier;
    std::string memory;
    std::uint64_t offset;
    std::uint64_t bytes;
  };

  void add_block(const void* begin, std::uint64_t bytes, std::string name);
  /// Nothing where it was never added.
  void remove_block(const void* begin);
  void name_range(const void* begin, std::uint64_t bytes, std::string name);

  /// Each earlier use that conflicts with this one and does not come before it. Then this one
  /// stands in their place.
  [[nodiscard]] UncountedVector<Conflict> use(MemoryAccess bytes, const UsePointer& made,
                                              const VectorClock& now);

 private:
  using Address = std::uintptr_t;
  template <class Value>
  using AddressMap =
      std::map<Address, Value, std::less<>, UncountedAllocator<std::pair<const Address, Value>>>;
  struct Cell {
    Address end{0};
    UncountedVector<UsePointer> writes{};
    UncountedVector<UsePointer> reads{};
  };
  struct NamedRange {
    Address end{0};
    std::string name{};
  };
  struct Block {
    Address end{0};
    std::string name{};
    AddressMap<Cell> cells{};         // they cover the block
    AddressMap<NamedRange> ranges{};  // these need not
  };

  [[nodiscard]] AddressMap<Block>::iterator block_at(Address address);
  static void split(Block& block, Address address);
  static void add(Cell& cell, const UsePointer& made, const VectorClock& now);
  [[nodiscard]] static Conflict describe(Address block_begin, const Block& block, Address begin,
                                         Address end, const UsePointer& earlier);

  AddressMap<Block> blocks_{};
};

}  // namespace weftline::cuda_streams
