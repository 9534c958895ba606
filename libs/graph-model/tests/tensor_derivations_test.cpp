// SPDX-License-Identifier: Apache-2.0
//
// What produces_tensor() and add_flow() refuse at the call.

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <optional>
#include <string>

#include "derivation_test_params.hpp"
#include "weftline/graph/graph.hpp"

using namespace weftline;
using derive::Image;

namespace {

constexpr DLDataType kUInt8{kDLUInt, 8, 1};
constexpr DLDataType kFloat32{kDLFloat, 32, 1};

/// A pool that leaves bytes and memory kind open.
constexpr TensorOutputSpec kOpen{.representation = {.dtype = kUInt8, .rank = 3},
                                 .storage = TensorOutputStorage::kRuntimePool};

class Derives final : public Operator<Image> {
 public:
  using Declaration = std::function<void(Derives&, OperatorSpec&)>;
  explicit Derives(Declaration declaration) : declaration_(std::move(declaration)) {}
  Input<Tensor> in;
  Output<Tensor> out;
  Output<std::uint32_t> number;
  void setup(OperatorSpec& spec) override { declaration_(*this, spec); }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }

 private:
  Declaration declaration_;
};

template <class Call>
std::string thrown(Call call) {
  try {
    call();
  } catch (const RuntimeError& error) {
    return std::string(error.token()) + ": " + error.error().message;
  }
  return {};
}

std::string declaring(Derives::Declaration declaration) {
  Graph graph{"demo"};
  return thrown([&] { graph.op<Derives>("op", std::move(declaration)); });
}

std::string deriving(const TensorOutputSpec& spec, const TensorOutputDerivations& derivations) {
  return declaring([=](Derives& op, OperatorSpec& operator_spec) {
    operator_spec.output(op.out, "out").produces_tensor(spec, derivations);
  });
}

std::string shaped(const TensorRepresentation& representation,
                   const TensorByteSpanExpression& bytes) {
  return deriving({.representation = representation, .storage = TensorOutputStorage::kRuntimePool},
                  {.byte_span = bytes});
}

const auto kBytes = tensor_byte_span(100);
TensorMemoryKindExpression kind() { return parameter_memory_kind(param_ref<&Image::kind>()); }

}  // namespace

TEST_CASE("a snapshot carries what is derived, by output, and no address") {
  Graph graph{"demo"};
  graph.op<Derives>("op", [](Derives& op, OperatorSpec& spec) {
    spec.input(op.in, "in");
    spec.output(op.number, "number");
    spec.output(op.out, "out")
        .produces_tensor(
            kOpen, {.byte_span = input_max_byte_span(op.in).aligned_to(64), .memory_kind = kind()});
  });
  const GraphSnapshot snapshot = graph.snapshot();
  REQUIRE(snapshot.vertices[0].derivations.size() == 1);
  const OutputDerivationSnapshot& derivation = snapshot.vertices[0].derivations[0];
  CHECK(derivation.output == 1);
  REQUIRE(derivation.derivations.byte_span);
  CHECK(derivation.derivations.byte_span->nodes()[0].port == nullptr);
  CHECK(derivation.derivations.memory_kind);
  CHECK(snapshot.vertices[0].outputs[1].tensor->storage == TensorOutputStorage::kRuntimePool);
}

TEST_CASE("the last word of produces_tensor() holds") {
  Graph graph{"demo"};
  graph.op<Derives>("op", [](Derives& op, OperatorSpec& spec) {
    spec.output(op.out, "out").produces_tensor(kOpen, kBytes).produces_tensor({});
  });
  CHECK(graph.snapshot().vertices[0].derivations.empty());
}

TEST_CASE("a fact is stated or derived, not both") {
  TensorOutputSpec bounded = kOpen;
  bounded.bounds = tensor_bounds(7);
  CHECK(deriving(bounded, {.byte_span = kBytes}) ==
        "PORT_DERIVATION_CONFLICT: port \"out\": max_byte_span is stated as 7 and derived as well; "
        "keep one of them");
  CHECK(deriving(bounded, {.memory_kind = kind()}).empty());
  TensorOutputSpec placed = kOpen;
  placed.representation.memory_kind = MemoryKind::kHost;
  CHECK(deriving(placed, {.memory_kind = kind()}) ==
        "PORT_DERIVATION_CONFLICT: port \"out\": its memory kind is stated as host and derived as "
        "well; keep one of them");
  CHECK(deriving(placed, {.byte_span = kBytes}).empty());
}

TEST_CASE("only a pool's facts are derived") {
  const TensorOutputSpec through{.representation = kOpen.representation};
  CHECK(deriving(through, {.byte_span = kBytes}).starts_with("PORT_DERIVATION_WITHOUT_POOL"));
  CHECK(deriving(through, {.memory_kind = kind()}).starts_with("PORT_DERIVATION_WITHOUT_POOL"));
  CHECK(deriving(through, {}).empty());
  CHECK(declaring([](Derives& op, OperatorSpec& spec) {
          spec.output(op.number, "number").produces_tensor(kOpen, kBytes);
        }).starts_with("PORT_NOT_A_TENSOR"));
}

TEST_CASE("an expression with a mistake is refused with its reason") {
  CHECK(deriving(kOpen, {.byte_span = tensor_byte_span(0)}) ==
        "PORT_DERIVATION_INVALID: port \"out\": the formula of its slot bytes can't be used: a "
        "literal is 0");
  CHECK(deriving(kOpen, {.memory_kind = parameter_memory_kind(param_ref<&Image::any_kind>())}) ==
        "PORT_DERIVATION_INVALID: port \"out\": the memory kind of parameter any_kind can't be "
        "used: it can lead to MemoryKind::kUnknown or to no kind at all");
}

TEST_CASE("a formula reads inputs of its own operator") {
  CHECK(declaring([](Derives& op, OperatorSpec& spec) {
          spec.output(op.out, "out").produces_tensor(kOpen, input_max_byte_span(op.in));
        }).starts_with("PORT_DERIVATION_INVALID"));
  Input<Tensor> elsewhere;
  elsewhere.declare(0);
  const auto foreign = input_max_byte_span(elsewhere);
  CHECK(declaring([&](Derives& op, OperatorSpec& spec) {
          spec.input(op.in, "in");
          spec.output(op.out, "out").produces_tensor(kOpen, foreign);
        }).starts_with("PORT_DERIVATION_INPUT_FOREIGN"));
  CHECK(declaring([&](Derives& op, OperatorSpec& spec) {
          spec.output(op.out, "out").produces_tensor(kOpen, foreign);
        }).starts_with("PORT_DERIVATION_INPUT_FOREIGN"));
}

TEST_CASE("a shape needs dtype and rank, and can have that rank") {
  const auto list = parameter_contiguous_byte_span(param_ref<&Image::shape>());
  const auto array = parameter_contiguous_byte_span(param_ref<&Image::eight>());
  CHECK(shaped({.dtype = kUInt8, .rank = 3}, list).empty());
  CHECK(shaped({.dtype = kUInt8, .rank = 0}, list).empty());
  CHECK(shaped({.dtype = kUInt8, .rank = 8}, array).empty());
  CHECK(shaped({.dtype = kUInt8, .rank = 9}, list) ==
        "PORT_DERIVATION_SHAPE: port \"out\": it has rank 9, parameter shape 0 to 8 extents");
  CHECK(shaped({.dtype = kUInt8, .rank = 7}, array) ==
        "PORT_DERIVATION_SHAPE: port \"out\": it has rank 7, parameter eight 8 extents");
  CHECK(shaped({.dtype = kUInt8}, list).starts_with("PORT_DERIVATION_SHAPE"));
  CHECK(shaped({.rank = 3}, list).starts_with("PORT_DERIVATION_SHAPE"));
  CHECK(shaped({.dtype = DLDataType{kDLUInt, 0, 1}, .rank = 3}, list)
            .starts_with("PORT_DERIVATION_SHAPE"));
}

namespace {

template <class P>
struct Produces final : Operator<P> {
  explicit Produces(TensorOutputSpec spec) : stated(spec) {}
  Output<Tensor> out;
  TensorOutputSpec stated;
  void setup(OperatorSpec& spec) override { spec.output(out, "out").produces_tensor(stated); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::milliseconds(5)});
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

struct Expects final : Operator<> {
  explicit Expects(TensorRepresentation representation) : stated(representation) {}
  Input<Tensor> in;
  TensorRepresentation stated;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in").expects_tensor({.representation = stated});
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

template <class P = NoParams>
std::string connecting(const TensorRepresentation& produced, const TensorRepresentation& wanted) {
  Graph graph{"demo"};
  const auto source = graph.op<Produces<P>>("a", TensorOutputSpec{.representation = produced});
  const auto sink = graph.op<Expects>("b", wanted);
  std::string first = thrown([&] { graph.add_flow(source->out, sink->in); });
  CHECK(graph.snapshot().flows.size() == (first.empty() ? 1 : 0));
  return first;
}

}  // namespace

TEST_CASE("a flow between tensors that differ is refused at the call, with both sides") {
  CHECK(connecting({.memory_kind = MemoryKind::kHost, .dtype = kUInt8, .rank = 2},
                   {.memory_kind = MemoryKind::kCudaDevice, .dtype = kFloat32, .rank = 3}) ==
        "TENSOR_CONTRACT_CONFLICT: a -> b: the output states memory kind host, the input "
        "cuda_device; the output states dtype uint8, the input float32; the output states rank 2, "
        "the input 3; state the same on both sides, or put an operator between them that converts");
  CHECK(connecting({.rank = 2}, {.rank = 2}).empty());
  CHECK(connecting({.rank = 2}, {.dtype = kUInt8}).empty());
  CHECK(connecting({}, {.rank = 2}).empty());
}

TEST_CASE("what a parameter may still change is left to compile()") {
  CHECK(connecting<Image>({.rank = 2}, {.rank = 3}).empty());
}
