// SPDX-License-Identifier: Apache-2.0
#include "tensor_narrowing.hpp"

#include <string_view>

#include "weftline/core/memory_kind.hpp"
#include "weftline/core/tensor_layout.hpp"

namespace weftline {
namespace {

std::string text(MemoryKind kind) { return std::string(memory_kind_name(kind)); }
std::string text(DLDataType dtype) { return dtype_name(dtype); }
std::string text(std::uint64_t number) { return std::to_string(number); }

bool same(MemoryKind a, MemoryKind b) { return a == b; }
bool same(DLDataType a, DLDataType b) { return same_dtype(a, b); }
bool same(std::uint32_t a, std::uint32_t b) { return a == b; }

void add(std::string& contradictions, std::string_view verb, std::string_view what,
         const std::string& declared, const std::string& given) {
  contradictions.append(contradictions.empty() ? "setup() " : "; setup() ");
  contradictions.append(verb).append(" ").append(what).append(" ").append(declared);
  contradictions.append(", the graph ").append(given);
}

template <class Fact>
void state(std::string& contradictions, std::string_view what, std::optional<Fact>& declared,
           const std::optional<Fact>& given) {
  if (!given) return;
  if (declared && !same(*declared, *given)) {
    add(contradictions, "states", what, text(*declared), text(*given));
  }
  declared = given;
}

template <class Number>
void bound(std::string& contradictions, std::string_view what, std::optional<Number>& declared,
           const std::optional<Number>& given) {
  if (!given) return;
  if (declared && *declared < *given) {
    add(contradictions, "bounds", what, "by " + text(*declared), "by " + text(*given));
  }
  declared = given;
}

void state(std::string& contradictions, TensorRepresentation& declared,
           const TensorRepresentation& given) {
  state(contradictions, "memory kind", declared.memory_kind, given.memory_kind);
  state(contradictions, "dtype", declared.dtype, given.dtype);
  state(contradictions, "rank", declared.rank, given.rank);
}

}  // namespace

std::string narrow(std::optional<TensorInputSpec>& declared, const TensorInputSpec& refinement) {
  TensorInputSpec joined = declared.value_or(TensorInputSpec{});
  std::string contradictions;
  state(contradictions, joined.representation, refinement.representation);
  if (contradictions.empty()) declared = joined;
  return contradictions;
}

std::string narrow(std::optional<TensorOutputSpec>& declared,
                   const TensorOutputDerivations& derived, const TensorOutputSpec& refinement) {
  if (!declared) {
    declared = refinement;
    return {};
  }
  TensorOutputSpec joined = *declared;
  std::string contradictions;
  state(contradictions, joined.representation, refinement.representation);
  bound(contradictions, "max_rank", joined.bounds.max_rank, refinement.bounds.max_rank);
  bound(contradictions, "max_byte_span", joined.bounds.max_byte_span,
        refinement.bounds.max_byte_span);
  const bool new_pool = refinement.storage == TensorOutputStorage::kRuntimePool &&
                        joined.storage == TensorOutputStorage::kPassThrough;
  if (new_pool) {
    add(contradictions, "declares", "an output that", "passes through", "a pool");
  }
  if (derived.any() && refinement.storage == TensorOutputStorage::kRuntimePool) {
    add(contradictions, "derives", "the pool", "by a formula or a parameter", "replaces it");
  }
  if (derived.byte_span && refinement.bounds.max_byte_span) {
    add(contradictions, "derives", "max_byte_span", "by a formula",
        "states " + text(*refinement.bounds.max_byte_span));
  }
  if (derived.memory_kind && refinement.representation.memory_kind) {
    add(contradictions, "derives", "the memory kind", "from a parameter",
        "states " + text(*refinement.representation.memory_kind));
  }
  if (contradictions.empty()) declared = joined;
  return contradictions;
}

}  // namespace weftline
