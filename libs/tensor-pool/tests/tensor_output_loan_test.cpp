// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/tensor_output_loan.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstring>
#include <optional>
#include <type_traits>

#include "pool_fixture.hpp"
#include "weftline/testing/scripted_device.hpp"

namespace weftline {
namespace {

using testing::ScriptedDevice;
using Op = ScriptedDevice::Op;

static_assert(!std::is_copy_constructible_v<TensorOutputLoan>);
static_assert(!std::is_move_assignable_v<TensorOutputLoan>);
static_assert(!std::is_copy_constructible_v<TensorWriteGuard>);
static_assert(!std::is_move_assignable_v<TensorWriteGuard>);

TEST_CASE("a host loan is written, committed and published with its bytes") {
  TensorPool pool = must_build(host_options(1));
  TensorOutputLoan loan = must(pool.allocate(kSmall, {}));
  TensorWriteGuard guard = must(loan.write({}));
  CHECK(guard.byte_size() == 16);
  CHECK_FALSE(guard.stream());
  std::memset(guard.data_as<std::uint8_t>(), 0x2a, guard.byte_size());
  CHECK_FALSE(loan.committed());
  must(std::move(guard).commit());
  CHECK(loan.committed());

  const Tensor tensor = must(publish(std::move(loan)));
  CHECK_FALSE(loan.valid());
  CHECK(tensor.data_as<std::uint8_t>()[0] == 0x2a);
  CHECK(tensor.data_as<std::uint8_t>()[15] == 0x2a);
}

TEST_CASE("a device commit records one event on the producer's stream and waits for nothing") {
  const auto device = ScriptedDevice::make();
  const Stream stream = must(device->create_stream({}));
  TensorPool pool = must_build(device_options(device, 1));
  const Tensor tensor = publish_one(pool, stream.ref());
  const auto calls = device->take_calls();
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].op == Op::kRecord);
  CHECK(calls[0].stream == stream.ref());
}

TEST_CASE("a host phase on pinned memory makes no device call") {
  const auto device = ScriptedDevice::make();
  const Stream stream = must(device->create_stream({}));
  TensorPool pool = must_build(device_options(device, 1, MemoryKind::kPinnedHost));
  { const Tensor tensor = publish_one(pool, stream.ref(), {}); }
  CHECK(device->take_calls().empty());
  CHECK(pool.has_free_slot());
}

TEST_CASE("a second write phase is refused, before and after commit") {
  TensorPool pool = must_build(host_options(1));
  TensorOutputLoan loan = must(pool.allocate(kSmall, {}));
  {
    TensorWriteGuard guard = must(loan.write({}));
    CHECK(refusal(loan.write({})) ==
          Refusal{ErrorCode::kInvalidArgument, "TENSOR_ALREADY_WRITTEN"});
    must(std::move(guard).commit());
  }
  CHECK(refusal(loan.write({})) == Refusal{ErrorCode::kInvalidArgument, "TENSOR_ALREADY_WRITTEN"});
  CHECK(publish(std::move(loan)).has_value());
}

TEST_CASE("a guard dropped without commit leaves a loan that can't be written or published") {
  TensorPool pool = must_build(host_options(1));
  {
    TensorOutputLoan loan = must(pool.allocate(kSmall, {}));
    { [[maybe_unused]] const TensorWriteGuard guard = must(loan.write({})); }
    CHECK(refusal(loan.write({})).token == "TENSOR_ALREADY_WRITTEN");
    CHECK(refusal(publish(std::move(loan))) ==
          Refusal{ErrorCode::kInvalidArgument, "TENSOR_NOT_COMMITTED"});
    CHECK(loan.valid());
  }
  CHECK(pool.has_free_slot());
}

TEST_CASE("a guard commits once") {
  TensorPool pool = must_build(host_options(1));
  TensorOutputLoan loan = must(pool.allocate(kSmall, {}));
  TensorWriteGuard guard = must(loan.write({}));
  TensorWriteGuard moved(std::move(guard));
  const Refusal empty{ErrorCode::kInvalidArgument, "TENSOR_GUARD_EMPTY"};
  CHECK(refusal(std::move(guard).commit()) == empty);
  CHECK(guard.data() == nullptr);
  CHECK(guard.byte_size() == 0);
  must(std::move(moved).commit());
  CHECK(refusal(std::move(moved).commit()) == empty);
  CHECK(loan.committed());
}

TEST_CASE("a guard that outlived its loan has no bytes and can't commit") {
  TensorPool pool = must_build(host_options(1));
  std::optional<TensorOutputLoan> loan(must(pool.allocate(kSmall, {})));
  TensorWriteGuard guard = must(loan->write({}));
  loan.reset();
  CHECK(guard.data() == nullptr);
  CHECK(guard.byte_size() == 0);
  CHECK(refusal(std::move(guard).commit()) ==
        Refusal{ErrorCode::kInvalidArgument, "TENSOR_GUARD_STALE"});
  CHECK(refusal(std::move(guard).commit()).token == "TENSOR_GUARD_EMPTY");
  CHECK(pool.has_free_slot());
}

TEST_CASE("a guard that outlived its loan can't write or commit the slot's next loan") {
  TensorPool pool = must_build(host_options(1));
  std::optional<TensorOutputLoan> first(must(pool.allocate(kSmall, {})));
  TensorWriteGuard stale = must(first->write({}));
  first.reset();
  TensorOutputLoan second = must(pool.allocate(kSmall, {}));
  CHECK(stale.data() == nullptr);
  TensorWriteGuard guard = must(second.write({}));
  CHECK(guard.data() != nullptr);
  CHECK(stale.data() == nullptr);
  CHECK(stale.byte_size() == 0);
  TensorWriteGuard moved(std::move(stale));
  CHECK(moved.data() == nullptr);
  CHECK(refusal(std::move(moved).commit()) ==
        Refusal{ErrorCode::kInvalidArgument, "TENSOR_GUARD_STALE"});
  CHECK_FALSE(second.committed());
  must(std::move(guard).commit());
  CHECK(second.committed());
}

TEST_CASE("a moved loan takes the write phase along") {
  TensorPool pool = must_build(host_options(1));
  TensorOutputLoan loan = must(pool.allocate(kSmall, {}));
  TensorWriteGuard guard = must(loan.write({}));
  TensorOutputLoan moved(std::move(loan));
  must(std::move(guard).commit());
  CHECK(moved.committed());

  const Refusal empty{ErrorCode::kInvalidArgument, "TENSOR_LOAN_EMPTY"};
  CHECK(refusal(loan.write({})) == empty);
  CHECK(refusal(publish(std::move(loan))) == empty);
  CHECK(loan.byte_size() == 0);
  CHECK(loan.shape().empty());
  CHECK(loan.byte_strides().empty());
  CHECK_FALSE(loan.committed());
  CHECK(publish(std::move(moved)).has_value());
}

TEST_CASE("a loan is published once") {
  TensorPool pool = must_build(host_options(1));
  TensorOutputLoan loan = must(pool.allocate(kSmall, {}));
  must(loan.write_host_and_commit([](void*, std::uint64_t) {}));
  const Tensor tensor = must(publish(std::move(loan)));
  CHECK(refusal(publish(std::move(loan))) ==
        Refusal{ErrorCode::kInvalidArgument, "TENSOR_LOAN_EMPTY"});
}

TEST_CASE("an unwritten loan can't be published and stays with its owner") {
  TensorPool pool = must_build(host_options(1));
  TensorOutputLoan loan = must(pool.allocate(kSmall, {}));
  CHECK(refusal(publish(std::move(loan))) ==
        Refusal{ErrorCode::kInvalidArgument, "TENSOR_NOT_COMMITTED"});
  CHECK(loan.valid());
  must(loan.write_host_and_commit([](void*, std::uint64_t) {}));
  CHECK(publish(std::move(loan)).has_value());
}

TEST_CASE("write phases that the memory or the plan does not allow are refused") {
  const auto device = ScriptedDevice::make();
  const Stream own = must(device->create_stream({}));
  const Stream other = must(device->create_stream({}));
  SECTION("a host phase on device memory") {
    TensorPool pool = must_build(device_options(device, 1));
    TensorOutputLoan loan = must(pool.allocate(kSmall, own.ref()));
    CHECK(refusal(loan.write({})) ==
          Refusal{ErrorCode::kNotSupported, "TENSOR_HOST_WRITE_TO_DEVICE_MEMORY"});
    CHECK(loan.write(own.ref()).has_value());
  }
  SECTION("a device phase on plain host memory") {
    TensorPool pool = must_build(host_options(1));
    TensorOutputLoan loan = must(pool.allocate(kSmall, own.ref()));
    CHECK(refusal(loan.write(own.ref())) ==
          Refusal{ErrorCode::kNotSupported, "TENSOR_DEVICE_WRITE_TO_HOST_MEMORY"});
    CHECK(loan.write({}).has_value());
  }
  SECTION("a stream other than the producer's") {
    TensorPool pool = must_build(device_options(device, 1));
    TensorOutputLoan loan = must(pool.allocate(kSmall, own.ref()));
    CHECK(refusal(loan.write(other.ref())) ==
          Refusal{ErrorCode::kNotSupported, "TENSOR_STREAM_FOREIGN"});
    CHECK(loan.write(own.ref()).has_value());
  }
  SECTION("any stream where the producer has none") {
    TensorPool pool = must_build(device_options(device, 1, MemoryKind::kPinnedHost));
    TensorOutputLoan loan = must(pool.allocate(kSmall, {}));
    CHECK(refusal(loan.write(own.ref())) ==
          Refusal{ErrorCode::kNotSupported, "TENSOR_STREAM_FOREIGN"});
    CHECK(loan.write({}).has_value());
  }
}

TEST_CASE("write_and_commit passes the bytes on, and an error of the fill commits nothing") {
  TensorPool pool = must_build(host_options(2));
  TensorOutputLoan written = must(pool.allocate(kSmall, {}));
  must(written.write_host_and_commit([](void* data, std::uint64_t bytes) -> expected<void, Error> {
    std::memset(data, 7, bytes);
    return {};
  }));
  CHECK(must(publish(std::move(written))).data_as<std::uint8_t>()[15] == 7);

  TensorOutputLoan failed = must(pool.allocate(kSmall, {}));
  const auto outcome =
      failed.write_host_and_commit([](void*, std::uint64_t) -> expected<void, Error> {
        return fail(ErrorCode::kFailure, "CAMERA_GONE");
      });
  CHECK(refusal(outcome) == Refusal{ErrorCode::kFailure, "CAMERA_GONE"});
  CHECK_FALSE(failed.committed());
  CHECK(refusal(failed.write_and_commit({}, [](void*, std::uint64_t) {})).token ==
        "TENSOR_ALREADY_WRITTEN");
}

TEST_CASE(
    "a commit that the device refuses passes the error on and leaves the loan to be dropped") {
  const auto device = ScriptedDevice::make();
  const Stream stream = must(device->create_stream({}));
  TensorPool pool = must_build(device_options(device, 1));
  {
    TensorOutputLoan loan = must(pool.allocate(kSmall, stream.ref()));
    TensorWriteGuard guard = must(loan.write(stream.ref()));
    device->break_operation(Op::kRecord);
    CHECK(refusal(std::move(guard).commit()).token == "SCRIPTED_FAILURE");
    CHECK_FALSE(loan.committed());
    CHECK(refusal(publish(std::move(loan))).token == "TENSOR_NOT_COMMITTED");
    device->mend();
  }
  device->pass(stream.ref());
  CHECK(pool.has_free_slot());
}

TEST_CASE("a loan given up at any step comes back after its own device work has passed") {
  const auto device = ScriptedDevice::make();
  const Stream stream = must(device->create_stream({}));
  TensorPool pool = must_build(device_options(device, 1));
  enum class Step { kLoaned, kWriting, kCommitted };
  const Step last = GENERATE(Step::kLoaned, Step::kWriting, Step::kCommitted);
  {
    TensorOutputLoan loan = must(pool.allocate(kSmall, stream.ref()));
    if (last != Step::kLoaned) {
      TensorWriteGuard guard = must(loan.write(stream.ref()));
      must(device->fill(stream.ref(), guard.data(), std::byte{1}, guard.byte_size()));
      if (last == Step::kCommitted) must(std::move(guard).commit());
    }
  }
  if (last != Step::kLoaned) {
    CHECK_FALSE(pool.has_free_slot());
    CHECK(pool.waits_for_device());
    device->pass(stream.ref());
  }
  CHECK(pool.has_free_slot());
  CHECK(pool.usage().in_use == 0);
}

}  // namespace
}  // namespace weftline
