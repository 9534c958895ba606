// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/tensor_refinement.hpp"

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

template <class Bound>
std::string widened(std::string_view what, const std::optional<Bound>& declared,
                    const std::optional<Bound>& refined) {
  if (!refined) return {};
  if (*refined == 0) return std::string(what) + " 0, which refuses every tensor";
  if (!declared || *refined <= *declared) return {};
  return std::string(what) + " " + std::to_string(*refined) + ", setup() " +
         std::to_string(*declared);
}

auto refuse(std::string_view token, const OutputDeclaration& declared, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument, token,
              "output \"" + declared.name + "\": " + std::string(why));
}

template <class Fact>
void adopt(std::optional<Fact>& fact, const std::optional<Fact>& refined) {
  if (refined) fact = refined;
}

}  // namespace

std::string tensor_contract_conflicts(const std::optional<TensorOutputSpec>& produced,
                                      const std::optional<TensorInputSpec>& expected) {
  if (!produced || !expected) return {};
  return compare({"the output states ", ", the input "}, produced->representation,
                 expected->representation);
}

expected<TensorOutputSpec, Error> refine_tensor_output(const OutputDeclaration& declared,
                                                       const TensorOutputSpec& refinement) {
  TensorOutputSpec spec = declared.tensor.value_or(TensorOutputSpec{});
  const TensorOutputDerivations& derived = declared.derivations;
  if (refinement.storage == TensorOutputStorage::kRuntimePool) {
    if (spec.storage != TensorOutputStorage::kRuntimePool) {
      return refuse("TENSOR_OVERRIDE_POOL", declared,
                    "setup() passes tensors through; a graph can't give the output a pool");
    }
    if (derived.any()) {
      return refuse("TENSOR_OVERRIDE_POOL", declared,
                    "its pool is derived; a graph can't replace it, refine with kPassThrough");
    }
  }
  if (derived.byte_span && refinement.bounds.max_byte_span) {
    return refuse("TENSOR_OVERRIDE_POOL", declared,
                  "its slot bytes are derived; a graph can't state max_byte_span " +
                      std::to_string(*refinement.bounds.max_byte_span));
  }
  if (derived.memory_kind && refinement.representation.memory_kind) {
    return refuse("TENSOR_OVERRIDE_POOL", declared,
                  "its memory kind is derived; a graph can't state " +
                      text(*refinement.representation.memory_kind));
  }
  const std::string conflicts =
      compare({"setup() states ", ", the graph "}, spec.representation, refinement.representation);
  if (!conflicts.empty()) return refuse("TENSOR_OVERRIDE_CONFLICT", declared, conflicts);
  for (const std::string& wider :
       {widened("max_byte_span", spec.bounds.max_byte_span, refinement.bounds.max_byte_span),
        widened("max_rank", spec.bounds.max_rank, refinement.bounds.max_rank)}) {
    if (!wider.empty()) {
      return refuse("TENSOR_OVERRIDE_WIDENS", declared, "the graph states " + wider);
    }
  }
  adopt(spec.representation.memory_kind, refinement.representation.memory_kind);
  adopt(spec.representation.dtype, refinement.representation.dtype);
  adopt(spec.representation.rank, refinement.representation.rank);
  adopt(spec.bounds.max_byte_span, refinement.bounds.max_byte_span);
  adopt(spec.bounds.max_rank, refinement.bounds.max_rank);
  return spec;
}

}  // namespace weftline
