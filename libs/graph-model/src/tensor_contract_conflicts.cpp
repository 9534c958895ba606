// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/tensor_contract_conflicts.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

#include "weftline/core/memory_kind.hpp"
#include "weftline/core/tensor_layout.hpp"
#include "weftline/graph/operator_spec.hpp"

namespace weftline {
namespace {

std::string text(MemoryKind kind) { return std::string(memory_kind_name(kind)); }
std::string text(DLDataType dtype) { return dtype_name(dtype); }
std::string text(std::uint32_t rank) { return std::to_string(rank); }

bool differs(MemoryKind a, MemoryKind b) { return a != b; }
bool differs(DLDataType a, DLDataType b) { return !same_dtype(a, b); }
bool differs(std::uint32_t a, std::uint32_t b) { return a != b; }

/// The two sides of a comparison, by their names in a message.
struct Sides {
  std::string_view first{};   ///< "the output states "
  std::string_view second{};  ///< ", the input "
};

template <class Fact>
void compare(std::string& differences, const Sides& sides, std::string_view what,
             const std::optional<Fact>& a, const std::optional<Fact>& b) {
  if (!a || !b || !differs(*a, *b)) return;
  differences.append(differences.empty() ? "" : "; ");
  differences.append(sides.first).append(what).append(" ").append(text(*a));
  differences.append(sides.second).append(text(*b));
}

std::string compare(const Sides& sides, const TensorRepresentation& a,
                    const TensorRepresentation& b) {
  std::string differences;
  compare(differences, sides, "memory kind", a.memory_kind, b.memory_kind);
  compare(differences, sides, "dtype", a.dtype, b.dtype);
  compare(differences, sides, "rank", a.rank, b.rank);
  return differences;
}

}  // namespace

std::string tensor_contract_conflicts(const std::optional<TensorOutputSpec>& produced,
                                      const std::optional<TensorInputSpec>& expected) {
  if (!produced || !expected) return {};
  return compare({"the output states ", ", the input "}, produced->representation,
                 expected->representation);
}

}  // namespace weftline
