// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "test_derivations.hpp"
#include "test_graph.hpp"

namespace weftline {
namespace {

using Form = TensorMemoryKindExpressionForm;

TensorMemoryKindExpression by_storage() {
  return parameter_memory_kind(param_ref<&ResizeParams::storage>(),
                               {memory_kind_case(Storage::kHost, MemoryKind::kHost),
                                memory_kind_case(Storage::kPinned, MemoryKind::kPinnedHost),
                                memory_kind_case(Storage::kDevice, MemoryKind::kCudaDevice)});
}

TestGraph placed(const TensorMemoryKindExpression& kind, ResizeParams values = {}) {
  TestGraph graph;
  graph.source("source").sink("sink").tensor_input("sink.in");
  graph.tensor_output("source.out", pool_in(MemoryKind::kHost)).flow("source.out", "sink.in");
  graph.params("source", std::move(values));
  return graph.derive("source.out", {.memory_kind = kind});
}

TEST_CASE("a parameter puts a pool where it says, as if setup() had") {
  const ExecutionPlan host = placed(by_storage()).compile();
  CHECK(host.ok());
  CHECK(host.tensor_allocations()[0].memory_kind == MemoryKind::kHost);
  TestGraph on_device = placed(by_storage(), {.storage = Storage::kDevice});
  on_device.bind("source", "out", kEmulated0);
  const ExecutionPlan device = on_device.compile();
  INFO(format_diagnostics(device.diagnostics()));
  REQUIRE(device.ok());
  CHECK(device.tensor_allocations()[0].memory_kind == MemoryKind::kCudaDevice);
  CHECK(device.tensor_allocations()[0].device == kEmulated0);
  CHECK(find_op(device, "source").outputs[0].tensor->representation.memory_kind ==
        MemoryKind::kCudaDevice);
  REQUIRE(device.tensor_memory_kind_derivations().size() == 1);
  const auto& record = device.tensor_memory_kind_derivations()[0];
  CHECK(device.records().output_name(record.output) == "source.out");
  CHECK(record.form == Form::kMapped);
  CHECK(record.parameter == "storage");
  CHECK(record.schema_id == "com.example.Resize");
  CHECK(record.schema_version == 3);
  CHECK(record.value == "device");
  CHECK(record.kind == MemoryKind::kCudaDevice);
  CHECK(record.update == TensorByteSpanDerivationUpdateDisposition::kRecompileRequired);
}

TEST_CASE("a device that was derived is still never guessed") {
  const std::string report = placed(by_storage(), {.storage = Storage::kDevice}).diagnostics();
  CHECK(report.starts_with("error DEVICE_UNRESOLVED at source.out"));
}

TEST_CASE("a parameter that is a kind, and one that is a bool") {
  TestGraph direct = placed(parameter_memory_kind(param_ref<&ResizeParams::kind>()),
                            {.kind = MemoryKind::kCudaDevice});
  direct.bind("source", "out", kEmulated1);
  const ExecutionPlan plan = direct.compile();
  REQUIRE(plan.ok());
  CHECK(plan.tensor_memory_kind_derivations()[0].form == Form::kDirect);
  CHECK(plan.tensor_memory_kind_derivations()[0].value == "device");
  CHECK(plan.tensor_memory_kind_derivations()[0].kind == MemoryKind::kCudaDevice);
  CHECK(plan.tensor_memory_kind_derivations()[0].update ==
        TensorByteSpanDerivationUpdateDisposition::kFrozenCompileTime);
  const auto either = parameter_memory_kind(param_ref<&ResizeParams::pinned>(),
                                            {memory_kind_case(true, MemoryKind::kCudaManaged),
                                             memory_kind_case(false, MemoryKind::kHost)});
  const ExecutionPlan no = placed(either).compile();
  CHECK(no.tensor_memory_kind_derivations()[0].value == "false");
  CHECK(no.tensor_memory_kind_derivations()[0].kind == MemoryKind::kHost);
  TestGraph yes = placed(either, {.pinned = true});
  CHECK(yes.compile().tensor_memory_kind_derivations()[0].kind == MemoryKind::kCudaManaged);
}

TEST_CASE("a consumer can insist on the derived kind") {
  TestGraph graph = placed(by_storage());
  graph.tensor_input("sink.in", takes(MemoryKind::kHost));
  CHECK(graph.compile().ok());
  graph.tensor_input("sink.in", takes(MemoryKind::kPinnedHost));
  CHECK(graph.diagnostics().starts_with("error PHYSICAL_TENSOR_LAYOUT_MISMATCH"));
}

TEST_CASE("a value that its schema refuses places nothing, and is reported once") {
  TestGraph graph = placed(by_storage(), {.storage = static_cast<Storage>(9)});
  graph.bind("source", "out", kEmulated0);
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.diagnostics().size() == 1);
  CHECK(plan.diagnostics()[0].token == "PARAM_VALIDATION_FAILED");
  CHECK(plan.tensor_allocations().empty());
  CHECK_FALSE(plan.tensor_memory_kind_derivations()[0].kind);
  CHECK(plan.tensor_memory_kind_derivations()[0].value.empty());
}

}  // namespace
}  // namespace weftline
