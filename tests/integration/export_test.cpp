// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "channel_folder.hpp"
#include "test_operators.hpp"
#include "weftline/channel/channel_runtime.hpp"

using namespace test;
using weftline::PeerRequirement;
using weftline::RunTermination;

namespace {

weftline::ExecutionPlan exporting(std::uint64_t count, PeerRequirement peer,
                                  std::chrono::milliseconds wait) {
  weftline::Graph graph{"exporting"};
  use_realtime_clock(graph);
  const auto source = graph.op<CountingSource>("source", count);
  weftline::TopicOptions options;
  options.endpoint_name = "numbers";
  options.attach = {.peer = peer, .wait = wait};
  options.queue_depth = 4;
  graph.add_flow(source->out,
                 graph.export_topic<std::uint64_t>("weftline://numbers", options).input());
  auto plan = weftline::compile(graph);
  INFO(weftline::format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  return plan;
}

}  // namespace

TEST_CASE("an optional export without a subscriber counts 0 recipients and the run goes on") {
  const ChannelFolder folder;
  const auto plan = exporting(100, PeerRequirement::kOptional, std::chrono::milliseconds(0));
  const auto session = weftline::run_async(plan, {.channels = folder.options()});
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(session.counters().exports.at(0).without_recipient == 100);
  CHECK(session.counters().exports.at(0).published == 0);
}

TEST_CASE("a required export that nobody subscribes to in time fails the run with what to do") {
  const ChannelFolder folder;
  const auto plan = exporting(100, PeerRequirement::kRequired, std::chrono::milliseconds(30));
  const auto session = weftline::run_async(plan, {.channels = folder.options()});
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  CHECK(session.diagnostics()[0].place == "endpoint numbers");
  CHECK(session.diagnostics()[0].error.token == "EXPORT_PEER_MISSING");
}

TEST_CASE(
    "a subscriber gets every exported sample in order, with back-pressure, then the end of the "
    "stream") {
  const ChannelFolder folder;
  constexpr std::uint64_t kSamples = 2'000;
  const auto plan = exporting(kSamples, PeerRequirement::kRequired, kWatchdog);
  auto runtime = weftline::ChannelRuntime::create(folder.options());
  REQUIRE(runtime);
  auto subscriber = runtime->create_subscriber<std::uint64_t>(plan.endpoint_catalog(), "numbers");
  REQUIRE(subscriber);
  const auto session = weftline::run_async(plan, {.channels = folder.options()});
  const auto deadline = std::chrono::steady_clock::now() + kWatchdog;
  for (std::uint64_t expected_value = 0; expected_value < kSamples; ++expected_value) {
    const auto sample = subscriber->wait_and_receive_sample(deadline);
    REQUIRE(sample);
    REQUIRE(sample->data == expected_value);
    REQUIRE(sample->metadata.frame_id == expected_value);
    REQUIRE(sample->metadata.sequence == expected_value);
  }
  const auto end = subscriber->wait_and_receive_sample(deadline);
  REQUIRE_FALSE(end);
  CHECK(end.error().code == weftline::ErrorCode::kClosed);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(session.counters().exports.at(0).published == kSamples);
}

TEST_CASE("a subscriber that leaves does not hold back a graph with an optional export") {
  const ChannelFolder folder;
  const auto plan = exporting(3'000, PeerRequirement::kOptional, kWatchdog);
  auto runtime = weftline::ChannelRuntime::create(folder.options());
  REQUIRE(runtime);
  auto subscriber = runtime->create_subscriber<std::uint64_t>(plan.endpoint_catalog(), "numbers");
  REQUIRE(subscriber);
  const auto session = weftline::run_async(plan, {.channels = folder.options()});
  REQUIRE(subscriber->wait_and_receive_sample(std::chrono::steady_clock::now() + kWatchdog));
  REQUIRE(subscriber->close());
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  const auto counters = session.counters().exports.at(0);
  CHECK(counters.published + counters.without_recipient == 3'000);
  CHECK(counters.without_recipient > 0);
}
