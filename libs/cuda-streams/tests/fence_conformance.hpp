// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "device_under_test.hpp"
#include "fence_words_under_test.hpp"
#include "weftline/testing/allocation_count.hpp"

// The part of the conformance suite about fence words.

namespace weftline::testing {

TEST_CASE("a device has fence words exactly where it says so") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  Device& device = bench.device();
  const auto words = device.fence_words();
  CHECK(words.has_value() == device.description().stream_memory_operations);
  if (!words) {
    require_refused(words, ErrorCode::kNotSupported, "DEVICE_NO_FENCE_WORDS");
    CHECK(words.error().message.find(device.id().to_string()) != std::string::npos);
  }
}

TEST_CASE("a stream writes a fence word after its earlier work, and the host sees both") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  FenceWords& words = fence_words_or_skip(bench.device());
  const StreamRef stream = bench.stream();
  const FenceWord word = make_word(bench, 6);
  const auto data = bench.pinned(1 << 16);

  StreamGate gate(stream);
  must(bench.device().fill(stream, data.data(), std::byte{9}, data.size()));
  must(words.write(stream, word, 7));
  gate.wait_until_reached();
  CHECK(word.load() == 6);
  gate.open();
  REQUIRE(eventually([&] { return word.reached(7); }));
  CHECK(word.load() == 7);
  CHECK(all_equal(data, std::byte{9}));
}

TEST_CASE("a stream waits for a word that another stream writes, and sees what came before") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  FenceWords& words = fence_words_or_skip(bench.device());
  need_hardware_queues(bench.device(), 2);
  Device& device = bench.device();
  const StreamRef producer = bench.stream();
  const StreamRef consumer = bench.stream();
  const FenceWord ready = make_word(bench, 0);
  const FenceWord released = make_word(bench, 0);
  const auto slot = bench.memory(MemoryKind::kCudaDevice, 4096);
  const auto results = bench.pinned(std::size_t{50} * 4096);
  for (std::uint64_t generation = 1; generation <= 50; ++generation) {
    must(words.wait(producer, released, generation - 1));
    must(device.fill(producer, slot.data(), static_cast<std::byte>(generation), slot.size()));
    must(words.write(producer, ready, generation));
    must(words.wait(consumer, ready, generation));
    must(device.copy(consumer, results.data() + (generation - 1) * 4096, slot.data(), 4096));
    must(words.write(consumer, released, generation));
  }
  bench.finish(consumer);
  CHECK(released.load() == 50);
  for (std::uint64_t generation = 1; generation <= 50; ++generation) {
    CHECK(all_equal(results.subspan((generation - 1) * 4096, 4096),
                    static_cast<std::byte>(generation)));
  }
}

TEST_CASE("a host store of exactly the awaited value opens a wait, and one short of it does not") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  FenceWords& words = fence_words_or_skip(bench.device());
  need_hardware_queues(bench.device(), 2);
  Device& device = bench.device();
  const StreamRef waiting = bench.stream();
  const StreamRef other = bench.stream();
  const FenceWord word = make_word(bench, 0);
  const FenceWord beacon = make_word(bench, 0);
  const EventRef passed = bench.event();
  const PendingWait wait(words, waiting, word, 1000);
  must(device.record(passed, waiting));
  for (const std::uint64_t value : {std::uint64_t{1}, std::uint64_t{999}}) {
    word.store(value);
    must(words.write(other, beacon, value));  // the device has time to go wrong
    REQUIRE(eventually([&] { return beacon.reached(value); }));
    CHECK_FALSE(must(device.is_complete(passed)));
  }
  word.store(1000);
  REQUIRE(completes(passed));
}

TEST_CASE("a wait compares by signed difference, near 2^31, 2^63 and around the wrap") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  struct Case {
    std::uint64_t value;
    std::uint64_t awaited;
    bool passes;
  };
  constexpr std::uint64_t k31 = std::uint64_t{1} << 31;
  constexpr std::uint64_t k32 = std::uint64_t{1} << 32;
  constexpr std::uint64_t k63 = std::uint64_t{1} << 63;
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  constexpr std::array kCases{
      Case{k31 - 1, k31, false},    Case{k31, k31, true},     Case{k31, k31 - 1, true},
      Case{k31 + 1, k31, true},     Case{k32, k31, true},     Case{k31, k32, false},
      Case{k32 - 1, k32, false},    Case{k32 + k31, 1, true}, Case{1, k32 + k31, false},
      Case{k63 - 1, k63, false},    Case{k63, k63, true},     Case{k63, k63 - 1, true},
      Case{k63 + 1, k63 - 1, true}, Case{kMax, 0, false},     Case{0, kMax, true},
      Case{5, kMax - 5, true},      Case{kMax - 5, 5, false}, Case{kMax, kMax, true},
      Case{k63 - 1, 0, true},       Case{k63, 0, false},      Case{0, k63, false},
      Case{0, k63 + 1, true},
  };
  Workbench bench(subject);
  FenceWords& words = fence_words_or_skip(bench.device());
  need_hardware_queues(bench.device(), 2);
  Device& device = bench.device();
  const StreamRef waiting = bench.stream();
  const StreamRef other = bench.stream();
  const FenceWord word = make_word(bench, 0);
  const FenceWord beacon = make_word(bench, 0);
  std::uint64_t round = 0;
  for (const Case& tried : kCases) {
    CAPTURE(tried.value, tried.awaited);
    CHECK(fence_reached(tried.value, tried.awaited) == tried.passes);
    const EventRef passed = bench.event();
    word.store(tried.value);
    const PendingWait wait(words, waiting, word, tried.awaited);
    must(device.record(passed, waiting));
    if (tried.passes) {
      REQUIRE(completes(passed));
    } else {
      must(words.write(other, beacon, ++round));
      REQUIRE(eventually([&] { return beacon.reached(round); }));
      CHECK_FALSE(must(device.is_complete(passed)));
      word.store(tried.awaited);
      REQUIRE(completes(passed));
    }
  }
}

TEST_CASE("one call writes any number of words, all after the stream's earlier work") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  FenceWords& words = fence_words_or_skip(bench.device());
  const StreamRef stream = bench.stream();
  std::vector<FenceWord> all;
  for (std::size_t count : {std::size_t{0}, std::size_t{2}, std::size_t{16}, std::size_t{70}}) {
    CAPTURE(count);
    while (all.size() < count) {
      all.push_back(make_word(bench, 0));
    }
    must(words.write(stream, all, count));
    bench.finish(stream);
    CHECK(std::all_of(all.begin(), all.end(), [&](FenceWord w) { return w.load() == count; }));
  }
}

TEST_CASE("places that can't be fence words, and words and streams of others, are refused") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  FenceWords& words = fence_words_or_skip(bench.device());
  Workbench another(open_or_skip(subject.open_other));
  const StreamRef stream = bench.stream();
  const FenceWord word = make_word(bench, 3);
  const FenceWord foreign = make_word(another, 3);
  constexpr auto kCode = ErrorCode::kInvalidArgument;

  alignas(8) std::array<std::byte, 8> local{};
  auto* const pinned = bench.pinned(32).data();
  auto* const managed = bench.memory(MemoryKind::kCudaManaged, 8).data();
  auto* const device_only = bench.memory(MemoryKind::kCudaDevice, 8).data();
  for (std::byte* const place : {local.data(), pinned + 4, pinned + 1, managed, device_only}) {
    const auto refused = words.word(reinterpret_cast<std::uint64_t*>(place));
    require_refused(refused, kCode, "DEVICE_FENCE_WORD_PLACE");
    CHECK(refused.error().message.find(bench.device().id().to_string()) != std::string::npos);
  }
  require_refused(words.word(nullptr), kCode, "DEVICE_NULL_POINTER");
  CHECK(must(words.word(reinterpret_cast<std::uint64_t*>(pinned + 8))).device() == &bench.device());

  require_refused(words.write(StreamRef{}, word, 4), kCode, "DEVICE_NULL_OBJECT");
  require_refused(words.wait(StreamRef{}, word, 4), kCode, "DEVICE_NULL_OBJECT");
  require_refused(words.write(another.stream(), word, 4), kCode, "DEVICE_FOREIGN_OBJECT");
  require_refused(words.wait(another.stream(), word, 4), kCode, "DEVICE_FOREIGN_OBJECT");
  require_refused(words.write(stream, FenceWord{}, 4), kCode, "DEVICE_NULL_OBJECT");
  require_refused(words.wait(stream, FenceWord{}, 4), kCode, "DEVICE_NULL_OBJECT");
  require_refused(words.write(stream, foreign, 4), kCode, "DEVICE_FOREIGN_OBJECT");
  require_refused(words.wait(stream, foreign, 4), kCode, "DEVICE_FOREIGN_OBJECT");
  const std::array mixed{word, foreign};
  require_refused(words.write(stream, mixed, 4), kCode, "DEVICE_FOREIGN_OBJECT");
  require_refused(words.write(StreamRef{}, std::span<const FenceWord>{}, 4), kCode,
                  "DEVICE_NULL_OBJECT");
  bench.finish(stream);
  CHECK(word.load() == 3);
}

TEST_CASE("a host task's calls of fence words are refused by name") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  struct Call {
    FenceWords& words;
    StreamRef stream;
    FenceWord word;
    std::string_view write{};
    std::string_view wait{};
  };
  Call call{fence_words_or_skip(bench.device()), bench.stream(), make_word(bench, 1)};
  must(bench.device().launch_host(call.stream, [to = &call] {
    to->write = to->words.write(to->stream, to->word, 2).error().token;
    to->wait = to->words.wait(to->stream, to->word, 2).error().token;
  }));
  bench.finish(call.stream);
  CHECK(call.write == "DEVICE_CALL_IN_HOST_TASK");
  CHECK(call.wait == "DEVICE_CALL_IN_HOST_TASK");
  CHECK(call.word.load() == 1);
}

TEST_CASE("writing and awaiting fence words allocates nothing") {
  const auto subject = any_device_under_test();
  CAPTURE(subject.name);
  Workbench bench(subject);
  FenceWords& words = fence_words_or_skip(bench.device());
  need_hardware_queues(bench.device(), 2);
  const StreamRef stream = bench.stream();
  const StreamRef other = bench.stream();
  const std::array both{make_word(bench, 0), make_word(bench, 0)};
  const std::uint64_t before = allocations_of_this_thread();
  bool all_ok = true;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    all_ok &= words.write(stream, both[0], i).has_value();
    all_ok &= words.wait(other, both[0], i).has_value();
    all_ok &= words.write(other, both, i).has_value();
    all_ok &= words.wait(stream, both[1], i).has_value();
  }
  const std::uint64_t after = allocations_of_this_thread();
  CHECK(all_ok);
  CHECK(after - before == 0);
  bench.finish(stream);
  CHECK(both[1].load() == 100);
}

}  // namespace weftline::testing
