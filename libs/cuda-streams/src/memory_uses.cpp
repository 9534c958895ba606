// SPDX-License-Identifier: Apache-2.0
#include "memory_uses.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weftline::cuda_streams {
namespace {

std::uintptr_t address_of(const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace

void MemoryUses::add_block(const void* begin, std::uint64_t bytes, std::string name) {
  Block block{.end = address_of(begin) + bytes, .name = std::move(name)};
  block.cells[address_of(begin)].end = block.end;
  blocks_.insert_or_assign(address_of(begin), std::move(block));
}

void MemoryUses::remove_block(const void* begin) { blocks_.erase(address_of(begin)); }

void MemoryUses::name_range(const void* begin, std::uint64_t bytes, std::string name) {
  const auto block = block_at(address_of(begin));
  if (block != blocks_.end()) {
    block->second.ranges[address_of(begin)] = {address_of(begin) + bytes, std::move(name)};
  }
}

MemoryUses::AddressMap<MemoryUses::Block>::iterator MemoryUses::block_at(Address address) {
  auto block = blocks_.upper_bound(address);
  if (block == blocks_.begin() || address >= (--block)->second.end) {
    return blocks_.end();
  }
  return block;
}

void MemoryUses::split(Block& block, Address address) {
  const auto cell = std::prev(block.cells.upper_bound(address));
  if (cell->first != address) {
    block.cells.emplace(address, cell->second);
    cell->second.end = address;
  }
}

UncountedVector<MemoryUses::Conflict> MemoryUses::use(MemoryAccess bytes, const UsePointer& made,
                                                      const VectorClock& now) {
  const Address begin = address_of(bytes.begin);
  const auto found = bytes.bytes == 0 ? blocks_.end() : block_at(begin);
  if (found == blocks_.end()) {
    return {};
  }
  Block& block = found->second;
  const Address end = bytes.bytes > block.end - begin ? block.end : begin + bytes.bytes;
  split(block, begin);
  if (end != block.end) {
    split(block, end);
  }
  UncountedVector<Conflict> conflicts;
  const auto check = [&](const UsePointer& earlier) {
    const auto is_same = [&](const Conflict& told) { return told.earlier == earlier; };
    if (!comes_before(*earlier, made->actor, now) &&
        std::none_of(conflicts.begin(), conflicts.end(), is_same)) {  // it may stand in many cells
      conflicts.push_back(describe(found->first, block, begin, end, earlier));
    }
  };
  for (auto cell = block.cells.find(begin); cell != block.cells.end() && cell->first < end;
       ++cell) {
    std::for_each(cell->second.writes.begin(), cell->second.writes.end(), check);
    if (made->use == MemoryUse::kWrite) {
      std::for_each(cell->second.reads.begin(), cell->second.reads.end(), check);
    }
    add(cell->second, made, now);
  }
  return conflicts;
}

// What is left out never shows: whoever comes after the uses that stay comes after it, too.
void MemoryUses::add(Cell& cell, const UsePointer& made, const VectorClock& now) {
  // A step within a phase of its own actor ends before the phase does.
  const auto holds = [&](const UsePointer& phase) {
    return !made->open && phase->open && phase->actor == made->actor;
  };
  const auto passed = [&](const UsePointer& earlier) {
    return !earlier->open && comes_before(*earlier, made->actor, now);
  };
  if (std::any_of(cell.writes.begin(), cell.writes.end(), holds)) {
    return;
  }
  if (made->use == MemoryUse::kWrite) {
    const auto told = [](const UsePointer& earlier) { return !earlier->open; };
    std::erase_if(cell.writes, told);
    std::erase_if(cell.reads, told);
    cell.writes.push_back(made);
  } else if (std::none_of(cell.reads.begin(), cell.reads.end(), holds)) {
    std::erase_if(cell.reads, passed);
    cell.reads.push_back(made);
  }
}

MemoryUses::Conflict MemoryUses::describe(Address block_begin, const Block& block, Address begin,
                                          Address end, const UsePointer& earlier) {
  Address named_begin = block_begin;
  Address named_end = block.end;
  const std::string* name = &block.name;
  if (auto range = block.ranges.upper_bound(begin); range != block.ranges.begin()) {
    if (begin < (--range)->second.end) {
      named_begin = range->first;
      named_end = range->second.end;
      name = &range->second.name;
    }
  }
  return {earlier, *name, begin - named_begin, std::min(end, named_end) - begin};
}

}  // namespace weftline::cuda_streams
