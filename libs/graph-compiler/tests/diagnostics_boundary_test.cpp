// SPDX-License-Identifier: Apache-2.0
//
// Mistakes at the border of the process and in deployments.

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "diagnostic_cases.hpp"
#include "weftline/catalog/endpoint_catalog_builder.hpp"

namespace weftline {
namespace {

constexpr GreenContextSupport kByFours{4, 2};

TestGraph importing(TopicOptions options = {}) {
  TestGraph graph;
  graph.sink("b").import("weftline://in", {"b.in"}, std::move(options));
  return graph;
}

TestGraph importing_tensors(std::optional<MemoryKind> kind, TopicOptions options = {}) {
  TestGraph graph;
  if (kind) options.tensor = boundary(*kind);
  graph.sink("b").tensor_input("b.in").import("weftline://in", {"b.in"}, std::move(options));
  return graph;
}

TestGraph exporting_tensors(TensorOutputSpec spec, TopicOptions options = {}) {
  TestGraph graph;
  graph.source("a").tensor_output("a.out", spec);
  graph.topic("weftline://out", {"a.out"}, std::move(options));
  return graph;
}

TopicOptions restarting(std::uint32_t capacity) {
  return {.restart = {.allow_external_restart = true, .generation_capacity = capacity}};
}

TestGraph with_generations(TestGraph graph, std::string name, std::uint32_t capacity) {
  graph.options.deployment.raise_import_generations({std::move(name), capacity});
  return graph;
}

/// "a" in lane "fast" makes images on emulated:0, "b" in no named lane takes them.
TestGraph laned(std::vector<GreenContextBinding> bindings) {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in").place("a", "fast");
  graph.tensor_output("a.out", pool_in(MemoryKind::kCudaDevice)).tensor_input("b.in");
  graph.bind("a", "out", kEmulated0);
  graph.options.devices.devices = {{.id = kEmulated0, .sm_count = 18, .green_contexts = kByFours},
                                   {.id = kEmulated1}};
  for (auto& binding : bindings) graph.options.deployment.bind_green_context(std::move(binding));
  return graph;
}

TestGraph placed(const std::string& partition, ThreadPlacement placement) {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in").place("a", "fast");
  graph.options.deployment.place_partition({partition, std::move(placement)});
  return graph;
}

ThreadPlacement on_cpus(std::vector<CpuRange> ranges) {
  return {.affinity = CpuAffinity{std::move(ranges)}};
}

TestGraph under(Profile profile, TestGraph graph) {
  graph.options.profile = profile;
  return graph;
}

/// The one catalog of a peer: a number called "in".
TestGraph against(ChannelEndpointCatalogBuilder builder, TopicOptions options = {}) {
  TestGraph graph = importing(std::move(options));
  graph.options.endpoint_catalog = std::move(builder).build().value();
  return graph;
}

template <class T>
ChannelEndpointCatalogBuilder catalog(std::string deployment, std::string name,
                                      EndpointOptions options = {}) {
  ChannelEndpointCatalogBuilder builder(std::move(deployment));
  if (!builder.import_topic<T>(std::move(name), "weftline://in", std::move(options))) {
    throw std::logic_error("no such endpoint");
  }
  return builder;
}

std::vector<DiagnosticCase> topic_cases() {
  return {
      {"a clock that has to be healthy and says nothing",
       importing({.clock_health = {.requirement = ClockHealthRequirement::kFreshHealthyReport}}),
       "error CATALOG_CLOCK_HEALTH_INVALID at endpoint in: endpoint 'in': clock_health requires "
       "fresh_healthy_report, but its capability is unavailable; give status_reports\n"},
      {"a contract of tensors for a number", importing({.tensor = boundary(MemoryKind::kHost)}),
       "error CATALOG_TENSOR_INVALID at endpoint in: endpoint 'in': tensor contract is given for a "
       "payload of kind scalar; leave it out\n"},
      {"two depths of one topic",
       importing({.queue_depth = 4, .bounds = {.subscriber = {.queue_depth = 5}}}),
       "error ENDPOINT_BOUNDS_CONFLICT at endpoint in: queue_depth is 4, "
       "bounds.subscriber.queue_depth 5. Fix: give one of them\n"},
      {"restarts with room for one producer", importing(restarting(1)),
       "error ENDPOINT_RESTART_INVALID at endpoint in: external restarts are allowed with a "
       "generation capacity of 1. Fix: give TopicRestartOptions::generation_capacity 2 to 65536, "
       "or allow no restart\n"},
      {"restarts with room for too many", importing(restarting(65'537)),
       "error ENDPOINT_RESTART_INVALID at endpoint in: external restarts are allowed with a "
       "generation capacity of 65537. Fix: give TopicRestartOptions::generation_capacity 2 to "
       "65536, or allow no restart\n"},
      {"restarts of this graph", exporting_tensors(pool_in(MemoryKind::kHost), restarting(2)),
       "error ENDPOINT_RESTART_INVALID at endpoint out: an exported topic allows external "
       "restarts, but its producer is this graph. Fix: leave TopicOptions::restart out\n"},
      {"more producers of a topic that admits one", with_generations(importing(), "in", 3),
       "error ENDPOINT_GENERATIONS_INVALID at endpoint in: the deployment admits 3 producer "
       "incarnations, but the graph imports no topic of that name that allows external restarts. "
       "Fix: set TopicOptions::restart.allow_external_restart, or take the binding out\n"},
      {"fewer producers than the graph admits", with_generations(importing(restarting(4)), "in", 3),
       "error ENDPOINT_GENERATIONS_INVALID at endpoint in: the deployment admits 3 producer "
       "incarnations, the graph 4. Fix: give at least as many as the graph and at most 65536, or "
       "take the binding out\n"},
      {"two numbers of producers",
       with_generations(with_generations(importing(restarting(2)), "in", 5), "in", 3),
       "error ENDPOINT_GENERATIONS_INVALID at endpoint in: the deployment admits 3 producer "
       "incarnations and 5. Fix: raise it once\n"},
      {"an import that nobody takes",
       changed(TestGraph(),
               [](TestGraph& graph) {
                 graph.sink("b").source("a").flow("a.out", "b.in").import("weftline://in", {});
               }),
       "error ENDPOINT_UNCONNECTED at endpoint in: no input takes from the imported topic "
       "weftline://in. Fix: add_flow() its output() to an input, or do not import it\n"},
      {"a flow and an import into one input",
       changed(importing(), [](TestGraph& graph) { graph.source("a").flow("a.out", "b.in"); }),
       "error GRAPH_INPUT_FAN_IN at b.in: 2 outputs lead to one input: a.out, weftline://in. Fix: "
       "give the operator one input for each of them\n"},
      {"two imports into one input",
       changed(importing(), [](TestGraph& graph) { graph.import("weftline://other", {"b.in"}); }),
       "error GRAPH_INPUT_FAN_IN at b.in: 2 outputs lead to one input: weftline://in, "
       "weftline://other. Fix: give the operator one input for each of them\n"},
      {"one URI in both spellings",
       changed(importing(),
               [](TestGraph& graph) { graph.sink("c").import("holomq://in", {"c.in"}); }),
       "error CATALOG_DUPLICATE_NAME at endpoint in: endpoint 'in' is there already, as "
       "weftline://in, and is added again as weftline://in; give one of them another name\n"},
      {"a boundary that converts",
       importing_tensors(MemoryKind::kHost,
                         {.memory_conversion = MemoryConversionPolicy::kRequire}),
       "error TENSOR_CONVERSION_UNAVAILABLE at endpoint in: the topic requires a conversion "
       "between "
       "kinds of memory, and there is none yet. Fix: use MemoryConversionPolicy::kDisable and "
       "state "
       "the same memory kind on both sides\n"},
      {"a conversion outside its enum",
       importing({.memory_conversion = static_cast<MemoryConversionPolicy>(9)}),
       "error TENSOR_CONVERSION_UNAVAILABLE at endpoint in: memory_conversion is outside its enum. "
       "Fix: use MemoryConversionPolicy::kDisable and state the same memory kind on both sides\n"},
      {"an endpoint of another deployment", against(catalog<std::uint32_t>("other", "in")),
       "error ENDPOINT_CATALOG_MISMATCH at graph test: CompileOptions::endpoint_catalog is of "
       "deployment \"other\", so no peer would find this graph's topics. Fix: give the catalog of "
       "this graph, or none\n"},
      {"an endpoint of another depth",
       against(catalog<std::uint32_t>("test", "in"), {.queue_depth = 3}),
       "error ENDPOINT_CATALOG_MISMATCH at endpoint in: the graph (here) and "
       "CompileOptions::endpoint_catalog (there): endpoint 'in' differs: queue_depth is 3 here and "
       "8 there; share the same catalog file and rebuild the side that is older\n"},
      {"an endpoint that peers do not know", against(catalog<std::uint32_t>("test", "out")),
       "error ENDPOINT_NOT_IN_CATALOG at endpoint in: the graph has this endpoint, "
       "CompileOptions::endpoint_catalog does not. Fix: save the graph's own catalog for its "
       "peers, "
       "or correct the endpoint's name\n"},
      {"an endpoint of another type", against(catalog<float>("test", "in")),
       "error ENDPOINT_TYPE_MISMATCH at endpoint in: the graph (here) and "
       "CompileOptions::endpoint_catalog (there): endpoint 'in' differs: payload.name is uint32 "
       "here and float32 there; share the same catalog file and rebuild the side that is older\n"},
  };
}

std::vector<DiagnosticCase> tensor_cases() {
  TensorOutputSpec without_dtype = pool_in(MemoryKind::kHost);
  without_dtype.representation.dtype.reset();
  return {
      {"managed tensors that leave",
       changed(exporting_tensors(pool_in(MemoryKind::kCudaManaged)),
               [](TestGraph& graph) { graph.bind("a", "out", kEmulated0); }),
       "error TENSOR_BOUNDARY_MANAGED at endpoint out: a.out has tensors in cuda_managed memory, "
       "which never crosses processes. Fix: emit tensors in host, pinned_host or cuda_device "
       "memory\n"},
      {"managed tensors that come in", importing_tensors(MemoryKind::kCudaManaged),
       "error TENSOR_BOUNDARY_MANAGED at endpoint in: the topic states memory kind cuda_managed, "
       "which never crosses processes. Fix: state host, pinned_host or cuda_device\n"},
      {"imported tensors of which nobody says anything", importing_tensors(std::nullopt),
       "error TENSOR_BOUNDARY_MISSING at endpoint in: the imported topic weftline://in does not "
       "say "
       "what its tensors are. Fix: set TopicOptions::tensor to a TensorBoundaryContract\n"},
      {"exported tensors of unknown type", exporting_tensors(without_dtype),
       "error TENSOR_BOUNDARY_MISSING at endpoint out: neither the exported topic nor a pool of "
       "a.out states memory kind, dtype, rank and largest span. Fix: set TopicOptions::tensor to a "
       "TensorBoundaryContract, or state them all in the output's TensorOutputSpec\n"},
      {"exported tensors without a pool", exporting_tensors({}),
       "error TENSOR_BOUNDARY_MISSING at endpoint out: neither the exported topic nor a pool of "
       "a.out states memory kind, dtype, rank and largest span. Fix: set TopicOptions::tensor to a "
       "TensorBoundaryContract, or state them all in the output's TensorOutputSpec\n"},
      {"an export and its topic state different tensors",
       exporting_tensors(pool_in(MemoryKind::kHost),
                         {.tensor = TensorBoundaryContract{.memory_kind = MemoryKind::kCudaDevice,
                                                           .dtype = kFloat32,
                                                           .rank = 3,
                                                           .max_byte_span = 999}}),
       "error TENSOR_BOUNDARY_MISMATCH at a.out -> endpoint out: the topic states memory kind "
       "cuda_device, a.out host; the topic states dtype float32, a.out uint8; the topic states "
       "rank "
       "3, a.out 2; the topic states at most 999 bytes, a.out 1000. Fix: state the same on both "
       "sides, or put an operator between them that converts\n"},
      {"an import and its input state different tensors",
       changed(importing_tensors(MemoryKind::kHost),
               [](TestGraph& graph) {
                 graph.input("b.in").tensor = {
                     .representation = {.memory_kind = MemoryKind::kCudaDevice, .rank = 1}};
               }),
       "error TENSOR_BOUNDARY_MISMATCH at endpoint in -> b.in: the topic states memory kind host, "
       "b.in cuda_device; the topic states rank 2, b.in 1. Fix: state the same on both sides, or "
       "put an operator between them that converts\n"},
      {"more samples held than lent",
       changed(importing_tensors(MemoryKind::kHost,
                                 {.bounds = {.subscriber = {.max_borrowed_samples = 3}}}),
               [](TestGraph& graph) { graph.input("b.in").retained_samples = 3; }),
       "error IMPORT_BORROWS_EXCEEDED at endpoint in: the topic's inputs hold up to 4 samples "
       "together, max_borrowed_samples is 3. Fix: give "
       "EndpointBounds::subscriber.max_borrowed_samples 4 or more, or leave it out\n"},
      {"imported device tensors without a device", importing_tensors(MemoryKind::kCudaDevice),
       "error DEVICE_UNRESOLVED at endpoint in: nothing says which device takes the topic's "
       "cuda_device tensors. Fix: add "
       "options.deployment.bind_imported_topic_device({.endpoint_name = \"in\", .device = …})\n"},
      {"imported pinned tensors without a device", importing_tensors(MemoryKind::kPinnedHost),
       "error DEVICE_UNRESOLVED at endpoint in: nothing says which device takes the topic's "
       "pinned_host tensors. Fix: add "
       "options.deployment.bind_imported_topic_device({.endpoint_name = \"in\", .device = …})\n"},
      {"an import bound to a device that the target lacks",
       importing_tensors(MemoryKind::kCudaDevice).bind_import("in", kCuda7),
       "error DEVICE_NOT_IN_CATALOG at endpoint in: the topic is bound to cuda:7; "
       "CompileOptions::devices has emulated:0, emulated:1. Fix: bind it to one of these, or "
       "compile with the device catalog of the target\n"},
      {"an import bound to two devices",
       importing_tensors(MemoryKind::kCudaDevice)
           .bind_import("in", kEmulated1)
           .bind_import("in", kEmulated0),
       "error TENSOR_DEVICE_BINDING_CONFLICT at endpoint in: the topic is bound to emulated:0 and "
       "to emulated:1. Fix: bind it once\n"},
      {"host imports bound to a device",
       importing_tensors(MemoryKind::kHost).bind_import("in", kEmulated0),
       "error TENSOR_DEVICE_BINDING_UNEXPECTED at endpoint in: the topic is bound to emulated:0, "
       "but it carries host tensors. Fix: take the binding out\n"},
      {"numbers bound to a device", importing().bind_import("in", kEmulated0),
       "error TENSOR_DEVICE_BINDING_UNEXPECTED at endpoint in: the topic is bound to emulated:0, "
       "but it carries no tensors. Fix: take the binding out\n"},
      {"a binding for an import that is none",
       exporting_tensors(pool_in(MemoryKind::kHost)).bind_import("out", kEmulated0),
       "error TENSOR_DEVICE_BINDING_UNKNOWN at endpoint out: a device binding names endpoint "
       "\"out\", which the graph does not import. Fix: correct endpoint_name, or take the binding "
       "out\n"},
      {"device memory passed through from nowhere",
       changed(TestGraph(),
               [](TestGraph& graph) {
                 graph.source("a").sink("b").flow("a.out", "b.in").tensor_input("b.in");
                 graph.tensor_output("a.out",
                                     {.representation = {.memory_kind = MemoryKind::kCudaDevice}});
               }),
       "error DEVICE_UNRESOLVED at a.out: nothing says on which device the cuda_device memory is "
       "that this output passes through; where the operator's inputs are says nothing about it. "
       "Fix: add options.deployment.bind_tensor_output_device({.operator_path = \"a\", "
       ".output_port = \"out\", .device = …})\n"},
      {"a pinned export that no device uses", exporting_tensors(pool_in(MemoryKind::kPinnedHost)),
       "error DEVICE_UNRESOLVED at a.out: pinned memory is made for one device, but neither a nor "
       "an operator that receives from here is on one. Fix: add "
       "options.deployment.bind_tensor_output_device({.operator_path = \"a\", .output_port = "
       "\"out\", .device = …})\n"},
      {"host memory passed through, bound to a device",
       changed(exporting_tensors({.representation = {.memory_kind = MemoryKind::kHost}},
                                 {.tensor = boundary(MemoryKind::kHost)}),
               [](TestGraph& graph) { graph.bind("a", "out", kEmulated0); }),
       "error TENSOR_DEVICE_BINDING_UNEXPECTED at a.out: the output is bound to emulated:0, but it "
       "passes host memory through. Fix: take the binding out, or let the output state device or "
       "managed memory\n"},
      {"an operator whose outputs pass memory of two devices through",
       changed(TestGraph(),
               [](TestGraph& graph) {
                 graph.op("a", {}, {"x", "y", "z"}).op("b", {"x", "y", "z"}, {});
                 for (const std::string port : {"x", "y", "z"}) {
                   graph.tensor_output(
                       "a." + port, {.representation = {.memory_kind = MemoryKind::kCudaDevice}});
                   graph.tensor_input("b." + port).flow("a." + port, "b." + port);
                 }
                 graph.bind("a", "x", kEmulated0).bind("a", "y", kEmulated1);
               }),
       "error OPERATOR_DEVICE_CONFLICT at a: an operator runs on one device, this one has output "
       "a.x on emulated:0, output a.y on emulated:1. Fix: bind its pooled outputs to the device "
       "that its inputs come from, or split the operator\n"
       "error OPERATOR_DEVICE_CONFLICT at b: an operator runs on one device, this one has input "
       "b.x "
       "(from a.x) on emulated:0, input b.y (from a.y) on emulated:1. Fix: bind its pooled outputs "
       "to the device that its inputs come from, or split the operator\n"},
  };
}

std::vector<DiagnosticCase> deployment_cases() {
  return {
      {"SMs of a device without green contexts", laned({{"fast", kEmulated1, 4}}),
       "error GREEN_CONTEXT_DEVICE_UNSUPPORTED at partition fast: emulated:1 can't set SMs apart. "
       "Fix: take the binding out, or compile for a device with green contexts\n"},
      {"SMs of a device that the target lacks", laned({{"fast", kCuda7, 4}}),
       "error DEVICE_NOT_IN_CATALOG at partition fast: the partition has SMs of cuda:7; "
       "CompileOptions::devices has emulated:0, emulated:1. Fix: bind it to one of these, or "
       "compile with the device catalog of the target\n"},
      {"SMs bound twice", laned({{"fast", kEmulated0, 4}, {"fast", kEmulated0, 4}}),
       "error GREEN_CONTEXT_DUPLICATE at partition fast: the partition's SMs of emulated:0 are "
       "bound twice. Fix: bind them once\n"},
      {"all SMs for one partition, and work beside it", laned({{"fast", kEmulated0, 16}}),
       "error GREEN_CONTEXT_NO_RESIDUAL at emulated:0: operator b works on the device, but all SMs "
       "that can be set apart are bound to partitions that it is not in. Fix: leave SMs unbound, "
       "or "
       "bind some to the operator's partition\n"},
      {"more SMs than there are", laned({{"fast", kEmulated0, 20}}),
       "error GREEN_CONTEXT_OVERSUBSCRIBED at emulated:0: 20 SMs are bound to 1 partitions, the "
       "device has 18. Fix: bind fewer\n"},
      {"SMs for an unknown partition", laned({{"slow", kEmulated0, 4}}),
       "error GREEN_CONTEXT_PARTITION_UNKNOWN at partition slow: SMs are bound to partition "
       "\"slow\", which names no operators of the graph. Fix: name an authored partition, or take "
       "the binding out\n"},
      {"SMs for an automatic partition", laned({{"auto:b", kEmulated0, 4}}),
       "error GREEN_CONTEXT_PARTITION_UNKNOWN at partition auto:b: SMs are bound to partition "
       "\"auto:b\", which names no operators of the graph. Fix: name an authored partition, or "
       "take "
       "the binding out\n"},
      {"no SMs at all", laned({{"fast", kEmulated0, 0}}),
       "error GREEN_CONTEXT_SM_COUNT_INVALID at partition fast: 0 SMs of emulated:0, which gives "
       "them out in multiples of 4. Fix: give a positive multiple of that\n"},
      {"SMs that are no multiple", laned({{"fast", kEmulated0, 6}}),
       "error GREEN_CONTEXT_SM_COUNT_INVALID at partition fast: 6 SMs of emulated:0, which gives "
       "them out in multiples of 4. Fix: give a positive multiple of that\n"},
      {"SMs of a device on which the partition has no work",
       changed(laned({{"fast", kEmulated1, 4}}),
               [](TestGraph& graph) {
                 graph.options.devices.devices[1] = {
                     .id = kEmulated1, .sm_count = 8, .green_contexts = kByFours};
               }),
       "warning GREEN_CONTEXT_UNUSED at partition fast: 4 SMs of emulated:1 are bound, but none of "
       "the partition's operators is on that device. Fix: take the binding out\n"},
      {"a thread on a CPU that the target lacks", placed("fast", on_cpus({{2, 4}})),
       "error PLACEMENT_CPU_UNKNOWN at partition fast: the placement asks for CPUs 2-4, "
       "CompileOptions::devices has CPUs 0 to 3. Fix: name CPUs of the target, or compile with its "
       "device catalog\n"},
      {"a thread on a CPU of nobody knows how many",
       changed(placed("fast", on_cpus({{0, 0}})),
               [](TestGraph& graph) { graph.options.devices.host_cpu_count = 0; }),
       "error PLACEMENT_CPU_UNKNOWN at partition fast: the placement asks for CPUs 0, "
       "CompileOptions::devices has no CPU count. Fix: name CPUs of the target, or compile with "
       "its "
       "device catalog\n"},
      {"a thread placed twice",
       changed(placed("fast", {}),
               [](TestGraph& graph) {
                 graph.options.deployment.place_partition({"fast", {}});
               }),
       "error PLACEMENT_DUPLICATE at partition fast: its thread is placed twice. Fix: place it "
       "once\n"},
      {"a support thread placed twice",
       changed(
           TestGraph(),
           [](TestGraph& graph) {
             for (int i = 0; i < 2; ++i) {
               graph.options.deployment.place_support_thread({.affinity = CpuAffinity{{{0, 1}}}});
             }
           }),
       "error PLACEMENT_DUPLICATE at support thread 0: its thread is placed twice. Fix: place it "
       "once\n"},
      {"a support thread without CPUs, and one that there is not",
       changed(TestGraph(),
               [](TestGraph& graph) {
                 graph.options.deployment.place_support_thread({}).place_support_thread(
                     {.role = static_cast<SupportThreadRole>(9),
                      .affinity = CpuAffinity{{{0, 1}}}});
               }),
       "error PLACEMENT_INVALID at support thread 0: the placement asks for an affinity of no CPU; "
       "name one or leave the affinity out\n"
       "error PLACEMENT_INVALID at support thread 9: the placement asks for the role is outside "
       "its "
       "enum; use one of its enumerators\n"},
      {"a thread of a priority that there is not",
       placed("fast", {.scheduling = {SchedulingPolicy::kFifo, 100}}),
       "error PLACEMENT_INVALID at partition fast: the placement asks for priority 100 under "
       "policy "
       "fifo; give 1 to 99\n"},
      {"a thread of an unknown partition", placed("auto:b", {}),
       "error PLACEMENT_PARTITION_UNKNOWN at partition auto:b: a thread placement names partition "
       "\"auto:b\", which names no operators of the graph. Fix: name an authored partition; "
       "automatic ones have no name to place them by\n"},
  };
}

std::vector<DiagnosticCase> profile_cases() {
  TestGraph paced;
  paced.source("a").sink("b").flow("a.out", "b.in").nominal("a.out", Rate::hz(60));
  paced.accumulates("b.in", Horizon::seconds(1, 15));
  TestGraph unpaced;
  unpaced.source("a").sink("b").flow("a.out", "b.in");
  TestGraph alone;
  alone.source("a").topic("weftline://out", {"a.out"},
                          {.attach = {.peer = PeerRequirement::kOptional}});
  return {
      {"an import without evidence of its clock", under(Profile::kDeployment, importing()),
       "error PROFILE_CLOCK_HEALTH_UNSPECIFIED at endpoint in: the import requires nothing of its "
       "capture clock's health, which is refused under profile deployment of the graph. Fix: set "
       "TopicOptions::clock_health to require fresh_healthy_report, with a max_report_age and an "
       "action\n"},
      {"a topic without its peer", under(Profile::kStrict, alone),
       "error PROFILE_PEER_OPTIONAL at endpoint out: the topic runs without its peer, which is "
       "refused under profile strict of the graph. Fix: set TopicAttachPolicy::peer to "
       "PeerRequirement::kRequired\n"},
      {"a depth that nothing speaks for", under(Profile::kDeployment, unpaced),
       "error PROFILE_QUEUE_DEFAULT_DEPTH at a.out -> b.in: the queue has the default depth of 4, "
       "for want of a rate or a horizon, which is refused under profile deployment of the graph. "
       "Fix: give ConnectionOptions::queue_depth, or state the rate and how long samples may pile "
       "up\n"},
      {"a depth from a nominal rate", under(Profile::kStrict, paced),
       "error PROFILE_RATE_NOMINAL_ONLY at a.out -> b.in: the depth of 8 comes from a nominal "
       "rate, "
       "which bounds no burst, and is refused under profile strict of the graph. Fix: give "
       "ConnectionOptions::queue_depth for the longest burst\n"},
      {"a profile that there is not", under(static_cast<Profile>(3), unpaced),
       "error PROFILE_UNKNOWN at profile: CompileOptions::profile is number 3, outside its enum. "
       "Fix: use kDevelopment, kDeployment or kStrict\n"},
  };
}

}  // namespace

std::vector<DiagnosticCase> boundary_diagnostic_cases() {
  std::vector<DiagnosticCase> cases = topic_cases();
  for (const auto& more : {tensor_cases, deployment_cases, profile_cases}) {
    for (DiagnosticCase& each : more()) cases.push_back(std::move(each));
  }
  return cases;
}

}  // namespace weftline
