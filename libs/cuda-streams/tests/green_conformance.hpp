// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device_under_test.hpp"
#include "weftline/cuda/green_context.hpp"

// The part of the conformance suite about green contexts.

namespace weftline::testing {

/// Green contexts of one unit each until none is left, and the refusal of one more.
inline std::pair<std::vector<GreenContext>, Error> take_all_sms(Device& device) {
  std::vector<GreenContext> taken;
  for (std::uint32_t i = 0; i <= device.description().sm_count; ++i) {
    auto next = device.create_green_context({1});
    if (!next) {
      return {std::move(taken), next.error()};
    }
    taken.push_back(*std::move(next));
  }
  FAIL("more green contexts than SMs");
  return {};
}

TEST_CASE("a green context has the SMs asked for, rounded up, and says how many") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const std::uint32_t unit = green_context_or_skip(device, 1).sm_count();
  CHECK(unit >= 1);
  const GreenContext exact = must(device.create_green_context({unit}));
  CHECK(exact.sm_count() == unit);
  CHECK(exact.device() == &device);
  const GreenContext above = must(device.create_green_context({unit + 1}));
  CHECK(above.sm_count() >= unit + 1);
  CHECK(above.sm_count() % unit == 0);
}

TEST_CASE("a device's description says in what portions green contexts have SMs") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const GreenContextSupport& stated = device.description().green_contexts;
  auto made = device.create_green_context({1});
  REQUIRE(stated.supported() == made.has_value());
  if (!made) return;
  CHECK(made->sm_count() == stated.minimum_partition_sms);
  made = {};
  const GreenContext exact = must(device.create_green_context({stated.quantum_sms()}));
  CHECK(exact.sm_count() == stated.quantum_sms());
}

TEST_CASE("a green context's stream is a stream of its device like any other") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  GreenContext context = green_context_or_skip(device, 1);
  const Stream green = must(context.create_stream({.priority = -100}));
  CHECK(green.priority() == device.stream_priorities().greatest);
  CHECK(green.ref().device() == &device);
  const StreamRef plain = bench.stream();
  const EventRef filled = bench.event();
  const EventRef copied = bench.event();
  const auto source = bench.memory(MemoryKind::kCudaDevice, 64);
  const auto target = bench.pinned(64);
  bool ran = false;
  {
    StreamGate gate(plain);
    must(device.fill(plain, source.data(), std::byte{7}, 64));
    must(device.record(filled, plain));
    must(device.wait(green.ref(), filled));
    must(device.copy(green.ref(), target.data(), source.data(), 64));
    must(device.record(copied, green.ref()));
    gate.wait_until_reached();
    CHECK_FALSE(must(device.is_complete(copied)));
  }
  REQUIRE(completes(copied));
  CHECK(all_equal(target, std::byte{7}));
  must(device.launch_host(green.ref(), [to = &ran] { *to = true; }));
  must(device.synchronize(green.ref()));
  CHECK(ran);
}

TEST_CASE("SMs are given out once, and a refusal says what is left") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const std::uint32_t unit = green_context_or_skip(device, 1).sm_count();
  const std::uint32_t too_many = device.description().sm_count + 1;
  const auto says = [&](const Error& error, const std::string& words) {
    CAPTURE(error.message, words);
    CHECK(error.message.find(words) != std::string::npos);
  };

  auto [taken, refusal] = take_all_sms(device);
  const std::uint32_t all = static_cast<std::uint32_t>(taken.size()) * unit;
  CHECK(all <= device.description().sm_count);
  CHECK(refusal.code == ErrorCode::kResourceExhausted);
  CHECK(refusal.token == "DEVICE_SMS_EXHAUSTED");
  says(refusal, device.id().to_string() + " cannot set 1 SMs apart: 0 are left");

  taken.pop_back();
  const auto still_too_many = device.create_green_context({too_many});
  require_refused(still_too_many, ErrorCode::kResourceExhausted, "DEVICE_SMS_EXHAUSTED");
  says(still_too_many.error(), "cannot set " + std::to_string(too_many) +
                                   " SMs apart: " + std::to_string(unit) + " are left");
  says(still_too_many.error(), "in multiples of " + std::to_string(unit));
  taken.clear();
  CHECK(must(device.create_green_context({all})).sm_count() == all);
}

TEST_CASE("a stream keeps the SMs of its green context, and the device open") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  auto device = open_or_skip(subject.open);
  GreenContext context = green_context_or_skip(*device, 1);
  Stream stream = must(context.create_stream({}));
  context = {};
  {
    auto [rest, refusal] = take_all_sms(*device);
    CHECK(refusal.token == "DEVICE_SMS_EXHAUSTED");
    stream = {};
    static_cast<void>(must(device->create_green_context({1})));
  }

  context = must(device->create_green_context({1}));
  stream = must(context.create_stream({}));
  context = {};
  const std::weak_ptr<Device> watched = device;
  device.reset();
  REQUIRE_FALSE(watched.expired());
  must(stream.ref().device()->synchronize(stream.ref()));
  stream = {};
  CHECK(watched.expired());
}

TEST_CASE("a green context of no SMs, and an empty one's streams, are refused") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  require_refused(device.create_green_context({0}), ErrorCode::kInvalidArgument,
                  "DEVICE_GREEN_CONTEXT_EMPTY");
  GreenContext empty;
  CHECK_FALSE(empty);
  CHECK(empty.device() == nullptr);
  CHECK(empty.sm_count() == 0);
  require_refused(empty.create_stream({}), ErrorCode::kInvalidArgument, "DEVICE_NULL_OBJECT");

  GreenContext context = green_context_or_skip(device, 1);
  empty = std::move(context);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tested
  require_refused(context.create_stream({}), ErrorCode::kInvalidArgument, "DEVICE_NULL_OBJECT");
  CHECK(static_cast<bool>(must(empty.create_stream({}))));
}

TEST_CASE("a host task makes no green context, and no stream of one") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  GreenContext context = green_context_or_skip(device, 1);
  struct {
    Device& device;
    GreenContext& context;
    int refused{0};
  } calls{device, context};
  const StreamRef stream = bench.stream();
  must(device.launch_host(stream, [to = &calls] {
    const auto another = to->device.create_green_context({1});
    const auto of_it = to->context.create_stream({});
    to->refused += !another && another.error().token == "DEVICE_CALL_IN_HOST_TASK" ? 1 : 0;
    to->refused += !of_it && of_it.error().token == "DEVICE_CALL_IN_HOST_TASK" ? 1 : 0;
  }));
  bench.finish(stream);
  CHECK(calls.refused == 2);
}

}  // namespace weftline::testing
