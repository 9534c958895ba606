// SPDX-License-Identifier: Apache-2.0
//
// Every diagnostic, word by word.

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnostic_cases.hpp"
#include "test_graph.hpp"
#include "test_params.hpp"

namespace weftline {
namespace {

using Kind = TemporalRecordTriggerKind;

using Case = DiagnosticCase;

TestGraph linear() {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in");
  return graph;
}

/// "a" emits tensors of a pool, "b" takes them.
TestGraph pooled(MemoryKind kind) {
  TestGraph graph = linear();
  graph.tensor_output("a.out", pool_in(kind)).tensor_input("b.in");
  return graph;
}

TestGraph pool_with(TensorBounds bounds, std::optional<std::uint32_t> rank) {
  TestGraph graph = pooled(MemoryKind::kHost);
  TensorOutputSpec& spec = *graph.output("a.out").tensor;
  spec.bounds = bounds;
  spec.representation.rank = rank;
  return graph;
}

TestGraph exporting(std::string uri, TopicOptions options = {}) {
  TestGraph graph = linear();
  graph.topic(std::move(uri), {"a.out"}, std::move(options));
  return graph;
}

/// "join" takes "a" and "b" by the given trigger.
TestGraph joined(TemporalTriggerPlanRecord trigger) {
  TestGraph graph;
  graph.source("a").source("b").op("join", {"left", "right"}, {});
  graph.flow("a.out", "join.left").flow("b.out", "join.right").trigger("join", std::move(trigger));
  return graph;
}

/// "a" at a rate, "b" takes its samples within a horizon.
TestGraph paced(Rate rate, Horizon horizon) {
  TestGraph graph = linear();
  graph.nominal("a.out", rate).accumulates("b.in", horizon);
  return graph;
}

/// "b" follows "a" by a ratio.
TestGraph following(Rate rate, RateRatio ratio, std::uint32_t input_index = 0) {
  TestGraph graph;
  graph.source("a").relay("b").sink("c").flow("a.out", "b.in").flow("b.out", "c.in");
  return graph.nominal("a.out", rate).follows("b.out", ratio, input_index);
}

std::vector<Case> general_cases() {
  return {
      {"an endpoint's choice outside its enum",
       exporting("weftline://t", {.attach = {.peer = static_cast<PeerRequirement>(7)}}),
       "error CATALOG_CHOICE_UNKNOWN at endpoint t: endpoint 't': peer is outside its enum; use "
       "one of its enumerators\n"},
      {"a graph whose name names no deployment",
       changed(exporting("weftline://t"),
               [](TestGraph& graph) { graph.snapshot().name = "two words"; }),
       "error CATALOG_DEPLOYMENT_INVALID at graph two words: deployment_id is 'two words'; use 1 "
       "to 128 of A-Z a-z 0-9 . _ - and no dot in front\n"},
      {"two topics of one name",
       changed(exporting("weftline://x/t"),
               [](TestGraph& graph) { graph.topic("weftline://x.t", {"a.out"}); }),
       "error CATALOG_DUPLICATE_NAME at endpoint x.t: endpoint 'x.t' is there already, as "
       "weftline://x.t, and is added again as weftline://x/t; give one of them another name\n"},
      {"a payload larger than a frame",
       changed(exporting("weftline://t"),
               [](TestGraph& graph) {
                 graph.snapshot().exports.front().payload = {
                     .kind = PayloadIdentityKind::kPod,
                     .name = "Big",
                     .version = 1,
                     .size = 40'000,
                     .alignment = 1,
                     .fields = {{"bytes", PodScalarKind::kByte, 0, 40'000}}};
               }),
       "error CATALOG_FRAME_TOO_LARGE at endpoint t: endpoint 't': payload pod Big v1 (40000 "
       "bytes) has 40000 bytes, an inline frame of this kind carries at most 32744; send less, or "
       "send it as a tensor\n"},
      {"an endpoint name that is no file name",
       exporting("weftline://t", {.endpoint_name = "../t"}),
       "error CATALOG_NAME_INVALID at endpoint ../t: endpoint '../t': the name is not admitted; "
       "use 1 to 128 of A-Z a-z 0-9 . _ - and no dot in front\n"},
      {"an endpoint without a queue", exporting("weftline://t", {.queue_depth = 0}),
       "error CATALOG_NUMBER_OUT_OF_RANGE at endpoint t: endpoint 't': queue_depth is 0; give 1 to "
       "65536\n"},
      {"a payload type without a name",
       changed(exporting("weftline://t"),
               [](TestGraph& graph) { graph.snapshot().exports.front().payload.name = ""; }),
       "error CATALOG_PAYLOAD_INVALID at endpoint t: endpoint 't': payload name is ''; use 1 to "
       "128 printing characters without spaces\n"},
      {"a URI of another scheme", exporting("http://t"),
       "error CATALOG_URI_INVALID at endpoint t: endpoint 't': uri is 'http://t'; write "
       "weftline://<path> in at most 1024 printing characters\n"},
      {"samples that pile up for no time", paced(Rate::hz(60), Horizon::seconds(0, 15)),
       "error CONTRACT_HORIZON_INVALID at b.in: the contract lets samples pile up for 0/15 s. Fix: "
       "give Contract::accumulates() a positive Horizon\n"},
      {"samples that pile up without end", paced(Rate::hz(60), Horizon::seconds(1, 0)),
       "error CONTRACT_HORIZON_INVALID at b.in: the contract lets samples pile up for 1/0 s. Fix: "
       "give Contract::accumulates() a positive Horizon\n"},
      {"a device that the target lacks",
       changed(pooled(MemoryKind::kCudaDevice),
               [](TestGraph& graph) { graph.bind("a", "out", kCuda7); }),
       "error DEVICE_NOT_IN_CATALOG at a.out: the output is bound to cuda:7; "
       "CompileOptions::devices has emulated:0, emulated:1. Fix: bind it to one of these, or "
       "compile with the device catalog of the target\n"},
      {"a device where the target has none",
       changed(pooled(MemoryKind::kCudaDevice),
               [](TestGraph& graph) {
                 graph.bind("a", "out", kCuda7).options.devices.devices.clear();
               }),
       "error DEVICE_NOT_IN_CATALOG at a.out: the output is bound to cuda:7; "
       "CompileOptions::devices has none. Fix: bind it to one of these, or compile with the device "
       "catalog of the target\n"},
      {"a device pool without a binding", pooled(MemoryKind::kCudaDevice),
       "error DEVICE_UNRESOLVED at a.out: nothing says on which device this pool's cuda_device "
       "memory is. Fix: add options.deployment.bind_tensor_output_device({.operator_path = \"a\", "
       ".output_port = \"out\", .device = …})\n"},
      {"a managed pool without a binding", pooled(MemoryKind::kCudaManaged),
       "error DEVICE_UNRESOLVED at a.out: nothing says on which device this pool's cuda_managed "
       "memory is. Fix: add options.deployment.bind_tensor_output_device({.operator_path = \"a\", "
       ".output_port = \"out\", .device = …})\n"},
      {"a pinned pool that no device uses", pooled(MemoryKind::kPinnedHost),
       "error DEVICE_UNRESOLVED at a.out: pinned memory is made for one device, but neither a nor "
       "an operator that receives from here is on one. Fix: use MemoryKind::kHost, or lead the "
       "output to an operator with a pool in device memory\n"},
      {"a device input behind a pass-through output",
       changed(
           linear(),
           [](TestGraph& graph) {
             graph.tensor_output("a.out", {}).tensor_input("b.in", takes(MemoryKind::kCudaDevice));
           }),
       "error DEVICE_UNRESOLVED at b.in: the input takes cuda_device memory, but a.out passes "
       "through tensors of an unknown device. Fix: let the input come from a pooled output, or "
       "give this operator a pooled output and bind it with "
       "options.deployment.bind_tensor_output_device()\n"},
      {"a negative wait for a peer",
       exporting("weftline://t", {.attach = {.wait = std::chrono::nanoseconds(-1)}}),
       "error ENDPOINT_ATTACH_WAIT_INVALID at endpoint t: a wait of -1 ns for the peer. Fix: give "
       "TopicAttachPolicy::wait 0 or more\n"},
      {"two outputs into one topic",
       changed(exporting("weftline://t"),
               [](TestGraph& graph) {
                 graph.source("c");
                 graph.snapshot().exports.front().sources.push_back({VertexId{2}, 0});
               }),
       "error ENDPOINT_FAN_IN at endpoint t: 2 outputs feed one topic: a.out, c.out. Fix: export "
       "one topic for each of them\n"},
      {"a topic that nothing feeds",
       changed(linear(), [](TestGraph& graph) { graph.topic("weftline://cam/left", {}); }),
       "error ENDPOINT_UNCONNECTED at endpoint cam.left: no output feeds the exported topic "
       "weftline://cam/left. Fix: add_flow() an output to its input(), or do not export it\n"},
      {"a loop of three operators, and one of one",
       changed(TestGraph(),
               [](TestGraph& graph) {
                 graph.relay("c").relay("b").relay("a").relay("me");
                 graph.flow("a.out", "b.in")
                     .flow("b.out", "c.in")
                     .flow("c.out", "a.in")
                     .flow("me.out", "me.in");
               }),
       "error GRAPH_CYCLE at a: flows lead in a loop of 3 operators: a -> b -> c -> a. Fix: take "
       "out one of these flows\n"
       "error GRAPH_CYCLE at me: flows lead in a loop of 1 operator: me -> me. Fix: take out one "
       "of these flows\n"},
      {"two outputs into one input",
       changed(linear(), [](TestGraph& graph) { graph.source("c").flow("c.out", "b.in"); }),
       "error GRAPH_INPUT_FAN_IN at b.in: 2 outputs lead to one input: a.out, c.out. Fix: give the "
       "operator one input for each of them\n"},
      {"an input that nothing feeds",
       changed(TestGraph(), [](TestGraph& graph) { graph.sink("b"); }),
       "error GRAPH_INPUT_UNCONNECTED at b.in: no flow leads to this input. Fix: add_flow() an "
       "output of scalar uint32 (4 bytes) to it\n"},
      {"an output that nobody takes",
       changed(TestGraph(), [](TestGraph& graph) { graph.source("a"); }),
       "warning GRAPH_OUTPUT_UNCONNECTED at a.out: nothing receives what this output emits. Fix: "
       "connect it, or leave it as it is: an emit then reaches 0 recipients\n"},
      {"both ends of a flow state different tensors",
       changed(pooled(MemoryKind::kHost),
               [](TestGraph& graph) {
                 graph.tensor_input(
                     "b.in",
                     {.representation = {
                          .memory_kind = MemoryKind::kCudaDevice, .dtype = kFloat32, .rank = 3}});
               }),
       "error PHYSICAL_TENSOR_LAYOUT_MISMATCH at a.out -> b.in: the output states memory kind "
       "host, the input cuda_device; the output states dtype uint8, the input float32; the output "
       "states rank 2, the input 3. Fix: state the same on both sides, or put an operator between "
       "them that converts\n"},
      {"an operator on two devices",
       changed(pooled(MemoryKind::kCudaDevice),
               [](TestGraph& graph) {
                 graph.vertex("b").outputs.push_back({.name = "out"});
                 graph.tensor_output("b.out", pool_in(MemoryKind::kCudaDevice))
                     .sink("c")
                     .flow("b.out", "c.in");
                 graph.bind("a", "out", kEmulated0).bind("b", "out", kEmulated1);
               }),
       "error OPERATOR_DEVICE_CONFLICT at b: an operator runs on one device, this one has output "
       "b.out on emulated:1, input b.in (from a.out) on emulated:0. Fix: bind its pooled outputs "
       "to the device that its inputs come from, or split the operator\n"},
      {"a source without a trigger",
       changed(linear(), [](TestGraph& graph) { graph.vertex("a").trigger.reset(); }),
       "error OPERATOR_TRIGGER_MISSING at a: the operator has no input, and its contract names no "
       "trigger of its own. Fix: return a Contract with OnClock or with a readiness source from "
       "contract()\n"},
      {"a required parameter that nobody gave",
       changed(
           linear(),
           [](TestGraph& graph) { graph.vertex("b").params = ParamSet::defaults<VideoParams>(); }),
       "error PARAM_FIELD_MISSING at b parameter path: the field is required, and the operator was "
       "given no parameters. Fix: call set_params() with a value for it\n"},
      {"two schemas of one id and version",
       changed(linear(),
               [](TestGraph& graph) {
                 graph.vertex("a").params = ParamSet::defaults<ImpostorParams>();
                 graph.vertex("b").params = ParamSet::given(VideoParams{.path = "/v"});
               }),
       "error PARAM_SCHEMA_CONFLICT at b: schema com.example.Video v1 has the contract hash "
       "sha256:8e2378fda8491733e342bf91372ab061a71a0fb9aed89b9ec5c8fd469d687e13 here, "
       "sha256:df8e84ad54828c9f5b854e9b4575c492aabb4706c98369015af0994407546f91 at a. Fix: give "
       "each "
       "struct an id of its own, and a changed struct a new version\n"
       "error PARAM_SCHEMA_CONFLICT at b: schema com.example.Video v1 has the structural hash "
       "sha256:b14b217ce67a16b30e23981b7b3fe005e731b912bcf2b59b2e740911c19b3992 here, "
       "sha256:4b1c26f71baf934375030859543e30745ec371ee96b4d3f57407d073987d961d at a. Fix: give "
       "each "
       "struct an id of its own, and a changed struct a new version\n"},
      {"a parameter outside its range",
       changed(linear(),
               [](TestGraph& graph) {
                 graph.vertex("b").params =
                     ParamSet::given(VideoParams{.path = "/v", .fps = 0, .lens = {.gain = 2}});
               }),
       "error PARAM_VALIDATION_FAILED at b parameter fps: the value is 0 Hz, the range is 1 Hz to "
       "120 Hz. Fix: give a value in the range\n"
       "error PARAM_VALIDATION_FAILED at b parameter lens.gain: the value is 2, the range is 0 to "
       "1. Fix: give a value in the range\n"},
      {"a sensitive parameter that its schema refuses",
       changed(linear(),
               [](TestGraph& graph) {
                 graph.vertex("b").params =
                     ParamSet::given(VideoParams{.path = "/v", .key = "hunter2hunter2"});
               }),
       "error PARAM_VALIDATION_FAILED at b parameter key: the length (sensitive, not shown) is "
       "refused, the field takes 0 to 8 bytes. Fix: give a value of that length\n"},
      {"a partition without operators",
       changed(linear(), [](TestGraph& graph) { graph.snapshot().partitions.push_back("spare"); }),
       "warning PARTITION_EMPTY at partition spare: the partition has no operator and is left out. "
       "Fix: add() operators to it, or do not name it\n"},
      {"a pinned pool that two devices use",
       changed(
           pooled(MemoryKind::kPinnedHost),
           [](TestGraph& graph) {
             graph.vertex("b").outputs.push_back({.name = "out"});
             graph.tensor_output("b.out", pool_in(MemoryKind::kCudaDevice))
                 .sink("c")
                 .flow("b.out", "c.in");
             graph.op("d", {"in"}, {"out"}).flow("a.out", "d.in").sink("e").flow("d.out", "e.in");
             graph.tensor_output("d.out", pool_in(MemoryKind::kCudaDevice));
             graph.bind("b", "out", kEmulated0).bind("d", "out", kEmulated1);
           }),
       "error PINNED_DEVICE_CONFLICT at a.out: pinned memory is made for one device, this pool is "
       "used by operator b on emulated:0, operator d on emulated:1. Fix: give each device an "
       "output of its own, or use MemoryKind::kHost\n"},
      {"a queue below one activation's burst",
       changed(linear(),
               [](TestGraph& graph) {
                 graph.output("a.out").max_emits_per_compute = 6;
                 graph.snapshot().flows.front().options.queue_depth = 5;
               }),
       "error QUEUE_DEPTH_BELOW_FLOOR at a.out -> b.in: a queue of depth 5 can't hold the 6 "
       "samples that one activation may emit. Fix: give ConnectionOptions::queue_depth 6 or more, "
       "or leave it out\n"},
      {"a given depth below what rates and contract suggest",
       changed(paced(Rate::hz(60), Horizon::seconds(1, 15)),
               [](TestGraph& graph) { graph.snapshot().flows.front().options.queue_depth = 4; }),
       "warning QUEUE_DEPTH_BELOW_RECOMMENDATION at a.out -> b.in: the queue has the given depth "
       "of 4; 60 samples a second over 1/15 s, times 2, is 8. Fix: raise "
       "ConnectionOptions::queue_depth, or leave it out\n"},
      {"a given depth below what can't be counted",
       changed(paced(Rate::hz(~std::uint64_t{0}), Horizon::seconds(2, 1)),
               [](TestGraph& graph) { graph.snapshot().flows.front().options.queue_depth = 4; }),
       "warning QUEUE_DEPTH_BELOW_RECOMMENDATION at a.out -> b.in: the queue has the given depth "
       "of 4; 18446744073709551615 samples a second over 2 s, times 2, is beyond 64 bits. Fix: "
       "raise ConnectionOptions::queue_depth, or leave it out\n"},
      {"more samples over the horizon than any queue holds",
       paced(Rate::hz(32'769), Horizon::seconds(1, 1)),
       "error QUEUE_DEPTH_TOO_LARGE at a.out -> b.in: the queue would have a depth of 65538 for "
       "32769 samples a second over 1 s, times 2, and at least 1; the limit is 65536. Fix: lower "
       "the rate, its maximum, the horizon or the output's max_emits_per_compute, or give "
       "ConnectionOptions::queue_depth\n"},
      {"a headroom below 1",
       changed(paced(Rate::hz(60), Horizon::seconds(1, 15)),
               [](TestGraph& graph) {
                 graph.options.automatic_queue_sizing.headroom_ratio = {99, 100};
               }),
       "error QUEUE_HEADROOM_INVALID at automatic_queue_sizing: the headroom ratio is 99/100. Fix: "
       "set CompileOptions::automatic_queue_sizing.headroom_ratio to 1/1 or more\n"},
      {"a headroom that is no number",
       changed(linear(),
               [](TestGraph& graph) {
                 graph.options.automatic_queue_sizing.headroom_ratio = {2, 0};
               }),
       "error QUEUE_HEADROOM_INVALID at automatic_queue_sizing: the headroom ratio is 2/0. Fix: "
       "set CompileOptions::automatic_queue_sizing.headroom_ratio to 1/1 or more\n"},
      {"a depth that can't be counted", paced(Rate::hz(~std::uint64_t{0}), Horizon::seconds(2, 1)),
       "error QUEUE_SIZING_OVERFLOW at a.out -> b.in: 18446744073709551615 samples a second over 2 "
       "s, times 2, is beyond 64 bits. Fix: lower the rate, its maximum or the horizon, or give "
       "ConnectionOptions::queue_depth\n"},
      {"a selectable rate that starts above its maximum",
       changed(linear(),
               [](TestGraph& graph) { graph.selectable("a.out", Rate::hz(121), Rate::hz(120)); }),
       "error RATE_ABOVE_MAXIMUM at a.out: the output starts at 121 samples a second, its maximum "
       "is 120. Fix: raise max_nominal_rate() or lower lifecycle_nominal_rate()\n"},
      {"an input that expects another rate",
       changed(paced(Rate::hz(60), Horizon::seconds(1, 15)),
               [](TestGraph& graph) { graph.input("b.in").expected_rate = Rate::hz(30); }),
       "warning RATE_EXPECTATION_DIFFERS at b.in: the input expects 30 samples a second, a.out "
       "leads to 60. Fix: correct expected_rate(), or leave it out: the upstream rate is used\n"},
      {"an output that follows another operator's input", following(Rate::hz(60), {}, 3),
       "error RATE_FOLLOWS_UNKNOWN at b.out: the output follows input number 3 of 1. Fix: follow "
       "an input that this operator declares\n"},
      {"a rate of zero",
       changed(linear(), [](TestGraph& graph) { graph.nominal("a.out", Rate::hz(0)); }),
       "error RATE_INVALID at a.out: nominal_rate() states 0/1 samples a second. Fix: state a "
       "positive number of samples and of seconds\n"},
      {"a negative rate",
       changed(linear(), [](TestGraph& graph) { graph.nominal("a.out", Rate::hz(-60)); }),
       "error RATE_INVALID at a.out: nominal_rate() states 0/1 samples a second. Fix: state a "
       "positive number of samples and of seconds\n"},
      {"an infinite rate and one that is no number",
       changed(linear(),
               [](TestGraph& graph) {
                 graph.selectable("a.out", Rate::per(0, 0), Rate::per(60, 0));
                 graph.input("b.in").expected_rate = Rate::per(1, 0);
               }),
       "error RATE_INVALID at a.out: lifecycle_nominal_rate() states 0/0 samples a second. Fix: "
       "state a positive number of samples and of seconds\n"
       "error RATE_INVALID at a.out: max_nominal_rate() states 60/0 samples a second. Fix: state a "
       "positive number of samples and of seconds\n"
       "error RATE_INVALID at b.in: expected_rate() states 1/0 samples a second. Fix: state a "
       "positive number of samples and of seconds\n"},
      {"an output whose rate is of an input's kind",
       changed(linear(),
               [](TestGraph& graph) {
                 graph.output("a.out").rate.kind = PortRateKind::kExpectedInput;
               }),
       "error RATE_INVALID at a.out: the output states its rate as kind 2. Fix: state a nominal or "
       "selectable rate, or follow an input\n"},
      {"a rate whose terms do not fit", following(Rate::per(~std::uint64_t{0}, 7), {2, 1}),
       "error RATE_OVERFLOW at b.out: 18446744073709551615/7 * 2 does not fit in 64-bit terms; use "
       "values with smaller terms. Fix: state rates, ratios and horizons with smaller terms\n"},
      {"a horizon whose terms do not fit",
       changed(joined({.kind = Kind::kAligned, .inputs = {0, 1}, .window_ns = 1}),
               [](TestGraph& graph) { graph.nominal("a.out", Rate::per(~std::uint64_t{0}, 7)); }),
       "error RATE_OVERFLOW at b.out -> join.right: 7/18446744073709551615 + 1/1000000000 does not "
       "fit in 64-bit terms; use values with smaller terms. Fix: state rates, ratios and horizons "
       "with smaller terms\n"},
      {"an output that follows by nothing", following(Rate::hz(60), {0, 4}),
       "error RATE_RATIO_INVALID at b.out: the output follows by 0/4. Fix: give a RateRatio of two "
       "positive numbers\n"},
      {"an output that follows by no number", following(Rate::hz(60), {1, 0}),
       "error RATE_RATIO_INVALID at b.out: the output follows by 1/0. Fix: give a RateRatio of two "
       "positive numbers\n"},
      {"a queue without limits",
       changed(
           linear(),
           [](TestGraph& graph) { graph.snapshot().flows.front().options.queue_depth = 65'537; }),
       "error QUEUE_DEPTH_TOO_LARGE at a.out -> b.in: the queue would have a depth of 65537, the "
       "limit is 65536. Fix: give a smaller ConnectionOptions::queue_depth\n"},
      {"a burst beyond any queue",
       changed(linear(),
               [](TestGraph& graph) { graph.output("a.out").max_emits_per_compute = 65'537; }),
       "error QUEUE_DEPTH_TOO_LARGE at a.out -> b.in: the queue would have a depth of 65537, the "
       "limit is 65536. Fix: lower the output's max_emits_per_compute\n"},
      {"a graph without a clock",
       changed(linear(), [](TestGraph& graph) { graph.snapshot().default_clock.reset(); }),
       "error RUNTIME_CLOCK_BINDING_UNAVAILABLE at graph test: the graph has no default clock. "
       "Fix: call graph.set_default_clock(graph.add_clock<weftline::RealtimeClock>(\"clock\"))\n"},
      {"an output bound to two devices",
       changed(pooled(MemoryKind::kCudaDevice),
               [](TestGraph& graph) {
                 graph.bind("a", "out", kEmulated1).bind("a", "out", kEmulated0);
               }),
       "error TENSOR_DEVICE_BINDING_CONFLICT at a.out: the output is bound to emulated:0 and to "
       "emulated:1. Fix: bind it once\n"},
      {"a host pool bound to a device",
       changed(pooled(MemoryKind::kHost),
               [](TestGraph& graph) { graph.bind("a", "out", kEmulated0); }),
       "error TENSOR_DEVICE_BINDING_UNEXPECTED at a.out: the output is bound to emulated:0, but "
       "its pool is in host memory. Fix: take the binding out, or let the output state device or "
       "managed memory\n"},
      {"an output without a pool bound to a device",
       changed(linear(), [](TestGraph& graph) { graph.bind("a", "out", kEmulated0); }),
       "error TENSOR_DEVICE_BINDING_UNEXPECTED at a.out: the output is bound to emulated:0, but it "
       "has no pool. Fix: take the binding out, or let the output state device or managed "
       "memory\n"},
      {"a binding for an unknown operator",
       changed(linear(), [](TestGraph& graph) { graph.bind("z", "out", kEmulated0); }),
       "error TENSOR_DEVICE_BINDING_UNKNOWN at z.out: a device binding names operator \"z\", which "
       "the graph does not have. Fix: correct operator_path, or take the binding out\n"},
      {"a binding for an unknown output",
       changed(linear(),
               [](TestGraph& graph) {
                 graph.bind("a", "in", kEmulated0).bind("b", "out", kEmulated0);
               }),
       "error TENSOR_DEVICE_BINDING_UNKNOWN at a.in: a device binding names output \"in\"; the "
       "operator's outputs are: out. Fix: correct output_port, or take the binding out\n"
       "error TENSOR_DEVICE_BINDING_UNKNOWN at b.out: a device binding names output \"out\"; the "
       "operator's outputs are: none. Fix: correct output_port, or take the binding out\n"},
      {"a slot of more bytes than there are", pool_with(tensor_bounds(~std::uint64_t{0}), 2),
       "error TENSOR_POOL_BYTES_OVERFLOW at a.out: slots of 18446744073709551615 bytes can't be "
       "counted. Fix: lower TensorOutputSpec::bounds.max_byte_span\n"},
      {"a pool of more bytes than there are", pool_with(tensor_bounds(std::uint64_t{1} << 62), 2),
       "error TENSOR_POOL_BYTES_OVERFLOW at a.out: 6 slots of 4611686018427387904 bytes can't be "
       "counted. Fix: lower TensorOutputSpec::bounds.max_byte_span or the depths of the queues "
       "behind the output\n"},
      {"a pool without a memory kind",
       changed(pooled(MemoryKind::kHost),
               [](TestGraph& graph) {
                 graph.output("a.out").tensor->representation.memory_kind.reset();
               }),
       "error TENSOR_POOL_KIND_MISSING at a.out: the pool states no memory kind. Fix: set "
       "TensorOutputSpec::representation.memory_kind\n"},
      {"a pool of unknown memory kind", pooled(MemoryKind::kUnknown),
       "error TENSOR_POOL_KIND_MISSING at a.out: the pool's memory kind is kUnknown. Fix: set "
       "TensorOutputSpec::representation.memory_kind\n"},
      {"a pool without a rank", pool_with(tensor_bounds(1), std::nullopt),
       "error TENSOR_POOL_RANK_MISSING at a.out: the pool states neither a rank nor a max_rank. "
       "Fix: set TensorOutputSpec::representation.rank or bounds.max_rank\n"},
      {"a pool that admits no rank", pool_with({.max_rank = 0, .max_byte_span = 1}, 0),
       "error TENSOR_POOL_RANK_MISSING at a.out: the pool's max_rank is 0, which refuses every "
       "allocation. Fix: set TensorOutputSpec::bounds.max_rank to 1 or more\n"},
      {"a pool of rank 9", pool_with(tensor_bounds(1), 9),
       "error TENSOR_POOL_RANK_TOO_HIGH at a.out: a rank of 9, the limit is 8. Fix: fold "
       "dimensions\n"},
      {"a pool whose rank exceeds its own maximum",
       pool_with({.max_rank = 2, .max_byte_span = 1}, 3),
       "error TENSOR_POOL_RANK_TOO_HIGH at a.out: tensors of rank 3, but a max_rank of 2. Fix: "
       "raise TensorOutputSpec::bounds.max_rank or leave it out\n"},
      {"a pool without a span", pool_with({}, 2),
       "error TENSOR_POOL_SPAN_MISSING at a.out: the pool states no max_byte_span. Fix: set "
       "TensorOutputSpec::bounds to tensor_bounds(bytes of the largest tensor)\n"},
      {"a pool of empty slots", pool_with(tensor_bounds(0), 2),
       "error TENSOR_POOL_SPAN_MISSING at a.out: the pool's max_byte_span is 0, which refuses "
       "every allocation. Fix: set TensorOutputSpec::bounds to tensor_bounds(bytes of the largest "
       "tensor)\n"},
  };
}

std::vector<Case> cases() {
  std::vector<Case> all = general_cases();
  for (std::vector<Case>& area :
       std::to_array({authoring_diagnostic_cases(), boundary_diagnostic_cases(),
                      derivation_diagnostic_cases(), temporal_diagnostic_cases()})) {
    std::ranges::move(area, std::back_inserter(all));
  }
  return all;
}

std::string_view token_of(std::string_view line) {
  line.remove_prefix(line.find(' ') + 1);
  return line.substr(0, line.find_first_of(" :"));
}

TEST_CASE("each mistake is reported with its place, both sides' values and what to change") {
  for (const DiagnosticCase& each : cases()) {
    INFO(each.name);
    CHECK(each.graph.diagnostics() == each.diagnostics);
  }
}

TEST_CASE("every registered token has a mistake here that leads to it, and the other way round") {
  std::set<std::string_view> provoked;
  for (const DiagnosticCase& each : cases()) {
    std::string_view text = each.diagnostics;
    while (!text.empty()) {
      provoked.insert(token_of(text));
      text.remove_prefix(text.find('\n') + 1);
    }
  }
  std::set<std::string_view> registered;
  for (const DiagnosticToken& token : diagnostic_tokens()) registered.insert(token.token);
  // Its catalog of 16 MiB is made in a test of its own.
  provoked.insert("CATALOG_TOO_LARGE");
  CHECK(provoked == registered);
}

TEST_CASE("all mistakes of a graph are reported at once") {
  TestGraph graph = joined({.kind = Kind::kEach, .inputs = {0}});
  graph.op("source", {}, {"image"})
      .tensor_output("source.image", {.storage = TensorOutputStorage::kRuntimePool});
  graph.relay("lonely").place("lonely", "lane");
  graph.snapshot().partitions.push_back("empty");
  graph.snapshot().default_clock.reset();
  graph.snapshot().flows.front().options.queue_depth = 70'000;
  const ExecutionPlan plan = graph.compile();
  std::vector<std::string> tokens;
  for (const Diagnostic& diagnostic : plan.diagnostics()) tokens.push_back(diagnostic.token);
  CHECK_FALSE(plan.ok());
  CHECK(tokens ==
        std::vector<std::string>{"CONTRACT_SIDE_INPUT_UNSELECTED", "GRAPH_INPUT_UNCONNECTED",
                                 "GRAPH_OUTPUT_UNCONNECTED", "GRAPH_OUTPUT_UNCONNECTED",
                                 "PARTITION_EMPTY", "QUEUE_DEPTH_TOO_LARGE",
                                 "RUNTIME_CLOCK_BINDING_UNAVAILABLE", "TENSOR_POOL_KIND_MISSING"});
}

TEST_CASE("a warning alone does not reject a plan") {
  TestGraph graph;
  graph.source("a");
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  CHECK(plan.diagnostics().size() == 1);
}

}  // namespace
}  // namespace weftline
