// SPDX-License-Identifier: Apache-2.0
//
// Formulas against a slow evaluator that knows nothing of the compiler: a tree of its own, numbers
// of 128 bits.

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "test_derivations.hpp"
#include "test_graph.hpp"

namespace weftline {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr Wide kLimit = (Wide{1} << 63) - 1;

enum class Kind { kLiteral, kShape, kInput, kSize, kMultiply, kDivide, kMaximum, kAlign };

struct Tree {
  Kind kind{Kind::kLiteral};
  std::uint64_t number{0};  ///< Literal, alignment, or which input or size.
  std::unique_ptr<Tree> left{};
  std::unique_ptr<Tree> right{};
};

/// What the leaves stand for.
struct World {
  ResizeParams params{};
  std::array<std::optional<std::uint64_t>, 3> inputs{};
};

std::optional<Wide> value_of(const Tree& tree, const World& world) {
  const auto admitted = [](Wide value) {
    return value >= 1 && value <= kLimit ? std::optional(value) : std::nullopt;
  };
  const auto shape = [&]() -> std::optional<Wide> {
    Wide product = 1;
    for (const std::int64_t extent : world.params.shape) {
      if (extent < 1) return std::nullopt;
    }
    for (const std::int64_t extent : world.params.shape) {
      product *= static_cast<Wide>(extent);
      if (product > kLimit) return std::nullopt;
    }
    return product;
  };
  switch (tree.kind) {
    case Kind::kLiteral:
      return admitted(tree.number);
    case Kind::kShape:
      return shape();
    case Kind::kInput:
      return admitted(world.inputs[tree.number].value_or(0));
    case Kind::kSize:
      return admitted(world.params.sizes[tree.number]);
    default:
      break;
  }
  const auto left = value_of(*tree.left, world);
  if (tree.kind == Kind::kAlign) {
    return left ? admitted((*left + tree.number - 1) / tree.number * tree.number) : std::nullopt;
  }
  const auto right = value_of(*tree.right, world);
  if (!left || !right) return std::nullopt;
  if (tree.kind == Kind::kMultiply) return admitted(*left * *right);
  if (tree.kind == Kind::kDivide) return admitted((*left + *right - 1) / *right);
  return std::max(*left, *right);
}

std::size_t nodes_of(const Tree& tree) {
  return 1 + (tree.left ? nodes_of(*tree.left) : 0) + (tree.right ? nodes_of(*tree.right) : 0);
}

std::size_t depth_of(const Tree& tree) {
  return 1 + std::max(tree.left ? depth_of(*tree.left) : 0, tree.right ? depth_of(*tree.right) : 0);
}

bool leaves_are_sound(const Tree& tree) {
  if (tree.kind == Kind::kLiteral && (tree.number == 0 || tree.number > kLimit)) return false;
  if (tree.kind == Kind::kAlign && (tree.number == 0 || (tree.number & (tree.number - 1)) != 0)) {
    return false;
  }
  return (!tree.left || leaves_are_sound(*tree.left)) &&
         (!tree.right || leaves_are_sound(*tree.right));
}

TensorByteSpanExpression build(const Tree& tree) {
  static const auto kShape = shape_bytes();
  static const std::array kInputs{largest_at(0), largest_at(1), largest_at(2)};
  static const std::array kSizes{
      parameter_projected_byte_span<&size_at<0>>("test.0", param_ref<&ResizeParams::sizes>()),
      parameter_projected_byte_span<&size_at<1>>("test.1", param_ref<&ResizeParams::sizes>()),
      parameter_projected_byte_span<&size_at<2>>("test.2", param_ref<&ResizeParams::sizes>()),
      parameter_projected_byte_span<&size_at<3>>("test.3", param_ref<&ResizeParams::sizes>())};
  switch (tree.kind) {
    case Kind::kLiteral:
      return tensor_byte_span(tree.number);
    case Kind::kShape:
      return kShape;
    case Kind::kInput:
      return kInputs[tree.number];
    case Kind::kSize:
      return kSizes[tree.number];
    case Kind::kMultiply:
      return build(*tree.left).multiplied_by(build(*tree.right));
    case Kind::kDivide:
      return build(*tree.left).ceiling_divided_by(build(*tree.right));
    case Kind::kMaximum:
      return build(*tree.left).maximum_with(build(*tree.right));
    case Kind::kAlign:
      return build(*tree.left).aligned_to(tree.number);
  }
  return tensor_byte_span(0);
}

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  /// Small, at the ends of what fits, or anything.
  std::uint64_t number() {
    switch (below(60)) {
      case 0:
        return 0;
      case 1:
        return static_cast<std::uint64_t>(kLimit) - 1 + below(3);
      case 2:
        return ~std::uint64_t{0} - below(2);
      case 3:
        return random_() >> below(64);
      case 4:
      case 5:
        return std::uint64_t{1} << below(63);
      default:
        return 1 + below(50);
    }
  }
  std::unique_ptr<Tree> tree(std::size_t leaves, bool chain) {
    auto made = std::make_unique<Tree>();
    if (leaves <= 1) {
      made->kind = static_cast<Kind>(std::array{0, 0, 1, 2, 2, 3}[below(6)]);
      if (made->kind == Kind::kLiteral) made->number = number();
      if (made->kind == Kind::kInput) made->number = below(40) == 0 ? 2 : below(2);
      if (made->kind == Kind::kSize) made->number = below(4);
      return made;
    }
    if (below(6) == 0) {
      made->kind = Kind::kAlign;
      made->number = below(40) == 0 ? number() : std::uint64_t{1} << below(12);
      made->left = tree(leaves, chain);
      return made;
    }
    made->kind = static_cast<Kind>(static_cast<int>(Kind::kMultiply) + static_cast<int>(below(3)));
    const std::size_t first = chain ? 1 : 1 + below(leaves - 1);
    made->left = tree(first, chain);
    made->right = tree(leaves - first, chain);
    if (below(2) == 0) std::swap(made->left, made->right);
    return made;
  }

 private:
  std::mt19937_64 random_;
};

World random_world(Dice& dice) {
  World world;
  for (std::int64_t& extent : world.params.shape) {
    const std::uint64_t number = dice.number();
    // Unsigned: the least integer has no negative.
    extent = static_cast<std::int64_t>(dice.below(40) == 0 ? std::uint64_t{0} - number : number);
  }
  for (std::uint64_t& size : world.params.sizes) size = dice.number();
  for (std::size_t input = 0; input < 2; ++input) world.inputs[input] = dice.number();
  return world;
}

/// "op" takes three inputs: of a pool, of a bounded pass-through output and of an unbounded one.
TestGraph graph_of(const TensorByteSpanExpression& bytes, const World& world) {
  TestGraph graph;
  TensorOutputSpec pool = pool_in(MemoryKind::kHost);
  pool.bounds.max_byte_span = world.inputs[0];
  graph.source("s0").tensor_output("s0.out", pool);
  graph.source("s1").tensor_output("s1.out", {.bounds = {.max_byte_span = world.inputs[1]}});
  graph.source("s2").tensor_output("s2.out", {});
  graph.op("op", {"i0", "i1", "i2"}, {"out"});
  for (const char* number : {"0", "1", "2"}) {
    const std::string input = std::string("op.i") + number;
    graph.tensor_input(input).flow(std::string("s") + number + ".out", input);
  }
  pool.representation.rank = 3;
  graph.tensor_output("op.out", pool).params("op", world.params);
  return graph.derive("op.out", {.byte_span = bytes});
}

TEST_CASE("random formulas have the value, or the refusal, of a slow evaluator") {
  std::size_t accepted = 0;
  std::size_t refused = 0;
  std::size_t invalid = 0;
  for (std::uint32_t seed = 0; seed < 3'000; ++seed) {
    Dice dice(seed);
    const World world = random_world(dice);
    const auto tree = dice.tree(1 + dice.below(dice.below(3) == 0 ? 18 : 6), dice.below(3) == 0);
    const auto bytes = build(*tree);
    INFO("seed " << seed);
    const bool sound = leaves_are_sound(*tree) && nodes_of(*tree) <= 32 && depth_of(*tree) <= 16;
    REQUIRE(bytes.valid() == sound);
    if (!sound) {
      ++invalid;
      continue;
    }
    REQUIRE(bytes.nodes().size() == nodes_of(*tree));
    const ExecutionPlan plan = graph_of(bytes, world).compile();
    const auto expected_value = value_of(*tree, world);
    const auto& record = plan.tensor_byte_span_derivations()[0];
    REQUIRE(record.resolved_bytes == static_cast<std::uint64_t>(expected_value.value_or(0)));
    const auto& bound = find_op(plan, "op").outputs[0].tensor->bounds.max_byte_span;
    REQUIRE(bound.has_value() == expected_value.has_value());
    if (expected_value) {
      ++accepted;
      REQUIRE(*bound == record.resolved_bytes);
      REQUIRE(plan.provider_allocation_plans()[0].entry_bytes == record.resolved_bytes);
    } else {
      ++refused;
      REQUIRE_FALSE(plan.ok());
    }
  }
  CHECK(accepted > 1'000);
  CHECK(refused > 300);
  CHECK(invalid > 300);
}

}  // namespace
}  // namespace weftline
