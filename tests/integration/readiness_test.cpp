// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include "test_operators.hpp"
#include "weftline/core/synthetic_clock.hpp"

using namespace test;
using weftline::ActivationReason;
using weftline::Doorbell;
using weftline::LifecycleContext;
using weftline::NotificationSender;
using weftline::RunTermination;

namespace {

/// A pipe that closes itself.
class Pipe {
 public:
  Pipe() { REQUIRE(::pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) == 0); }
  ~Pipe() {
    close_reader();
    close_writer();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  [[nodiscard]] int reader() const { return ends_[0]; }
  void write(char byte) const { REQUIRE(::write(ends_[1], &byte, 1) == 1); }
  void close_reader() { close(ends_[0]); }
  void close_writer() { close(ends_[1]); }

 private:
  static void close(int& descriptor) {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
  }
  std::array<int, 2> ends_{-1, -1};
};

/// Waits for one source, of the kind that a test picks; what start() and compute() do is the
/// test's.
class Waiter final : public Operator<> {
 public:
  enum class Kind { kNotified, kReadable, kDoorbell, kSpin };
  using Start = std::function<void(Waiter&, LifecycleContext&)>;
  using Compute = std::function<expected<void, Error>(ExecutionContext&)>;
  Waiter(Kind kind, Start start, Compute compute)
      : kind_(kind), start_(std::move(start)), compute_(std::move(compute)) {}

  weftline::NotificationSourceRef notified;
  weftline::ReadableSourceRef readable;
  weftline::DoorbellSourceRef doorbell;
  weftline::SpinSourceRef spin;
  Output<std::uint64_t> out;

  void setup(OperatorSpec& spec) override {
    spec.output(out, "out");
    switch (kind_) {
      case Kind::kNotified:
        spec.notification_source(notified, "event").capacity(2).sender_reference_capacity(2);
        break;
      case Kind::kReadable:
        spec.readable_source(readable, "event");
        break;
      case Kind::kDoorbell:
        spec.doorbell_source(doorbell, "event");
        break;
      case Kind::kSpin:
        spec.spin_source(spin, "event");
        break;
    }
  }
  Contract contract() const override {
    switch (kind_) {
      case Kind::kNotified:
        return Contract().trigger(weftline::OnNotified{notified});
      case Kind::kReadable:
        return Contract().trigger(weftline::OnReadable{readable});
      case Kind::kDoorbell:
        return Contract().trigger(weftline::OnDoorbell{doorbell});
      default:
        return Contract().trigger(weftline::OnSpin{spin});
    }
  }
  void start(LifecycleContext& context) override { start_(*this, context); }
  expected<void, Error> compute(ExecutionContext& context) override { return compute_(context); }

 private:
  const Kind kind_;
  const Start start_;
  const Compute compute_;
};

expected<void, Error> end_run(ExecutionContext& context) {
  context.request_success();
  return {};
}

/// Runs one Waiter; its output goes nowhere.
weftline::RunSession run(Waiter::Kind kind, Waiter::Start start, Waiter::Compute compute) {
  weftline::Graph graph{"readiness"};
  graph.op<Waiter>("waiter", kind, std::move(start), std::move(compute));
  return weftline::run_async(compiled(graph));
}

void bind_nothing(Waiter&, LifecycleContext&) {}

Error only_diagnostic(const weftline::RunSession& session) {
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  REQUIRE(session.diagnostics().size() == 1);
  CHECK(session.diagnostics()[0].place == "waiter");
  return session.diagnostics()[0].error;
}

}  // namespace

TEST_CASE("a source that start() binds nothing to fails the start by name") {
  for (const auto kind : {Waiter::Kind::kNotified, Waiter::Kind::kReadable, Waiter::Kind::kDoorbell,
                          Waiter::Kind::kSpin}) {
    const Error error = only_diagnostic(run(kind, bind_nothing, end_run));
    CHECK(error.token == "SOURCE_UNBOUND");
    CHECK(error.message.find("event") != std::string::npos);
  }
}

TEST_CASE("bindings that make no sense are refused by name, and the good ones after them count") {
  std::vector<std::string> tokens;
  const auto note = [&](const auto& result) {
    tokens.emplace_back(result ? std::string_view("-") : result.error().token);
  };
  Pipe pipe;
  pipe.write('x');
  const auto bind_descriptors = [&](Waiter& waiter, LifecycleContext& context) {
    const weftline::ReadableSourceRef foreign;
    note(context.bind_readable(foreign, pipe.reader()));
    note(context.bind_readable(waiter.readable, -1));
    note(context.bind_readable(waiter.readable, 1'000'000));
    note(context.bind_readable(waiter.readable, pipe.reader()));
    note(context.bind_readable(waiter.readable, pipe.reader()));
    note(context.notification_sender(waiter.notified));
  };
  CHECK(run_to_end(run(Waiter::Kind::kReadable, bind_descriptors, end_run)) ==
        RunTermination::kCompleted);
  CHECK(tokens == std::vector<std::string>{"SOURCE_FOREIGN", "SOURCE_DESCRIPTOR_INVALID",
                                           "SOURCE_DESCRIPTOR_INVALID", "-", "SOURCE_BOUND_TWICE",
                                           "SOURCE_FOREIGN"});
  tokens.clear();
  struct Looks {
    mutable std::atomic<int> count{0};
  };
  const Looks looks;
  const auto bind_probes = [&](Waiter& waiter, LifecycleContext& context) {
    note(context.bind_spin(waiter.spin, {}));
    const auto sixth = [](const void* it) noexcept {
      return static_cast<const Looks*>(it)->count.fetch_add(1) == 5;
    };
    note(context.bind_spin(waiter.spin, {sixth, &looks}));
  };
  CHECK(run_to_end(run(Waiter::Kind::kSpin, bind_probes, end_run)) == RunTermination::kCompleted);
  CHECK(tokens == std::vector<std::string>{"SOURCE_PROBE_INVALID", "-"});
}

TEST_CASE("senders are counted, notify a sleeping lane, and answer kClosed after the run") {
  std::optional<NotificationSender> sender;
  std::vector<std::string> tokens;
  std::atomic<bool> ready{false};
  Collected<std::uint64_t> seen;
  auto session = run(
      Waiter::Kind::kNotified,
      [&](Waiter& waiter, LifecycleContext& context) {
        auto first = context.notification_sender(waiter.notified);
        auto second = context.notification_sender(waiter.notified);
        const auto third = context.notification_sender(waiter.notified);
        tokens.emplace_back(third ? std::string_view("-") : third.error().token);
        sender.emplace(std::move(*first));
        ready = second.has_value();
      },
      [&](ExecutionContext& context) -> expected<void, Error> {
        seen.add(static_cast<std::uint64_t>(context.activation_reason()));
        return {};
      });
  REQUIRE(eventually(session, [&] { return ready.load(); }));
  CHECK(tokens == std::vector<std::string>{"SOURCE_SENDERS_EXHAUSTED"});
  for (std::size_t round = 1; round <= 50; ++round) {
    REQUIRE(eventually(session, [&] { return sender->notify().has_value(); }));
    REQUIRE(seen.wait_for_count(round));
  }
  CHECK(seen.values().front() == static_cast<std::uint64_t>(ActivationReason::kNotified));
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
  CHECK(sender->notify().error().code == ErrorCode::kClosed);
}

TEST_CASE("a lane that sleeps wakes when a descriptor turns readable, and for its other work") {
  Pipe pipe;
  std::optional<NotificationSender> sender;
  std::atomic<bool> ready{false};
  Collected<std::uint64_t> bytes;
  Collected<std::uint64_t> calls;
  weftline::Graph graph{"readable"};
  const auto reader = graph.op<Waiter>(
      "reader", Waiter::Kind::kReadable,
      [&](Waiter& waiter, LifecycleContext& context) {
        if (!context.bind_readable(waiter.readable, pipe.reader()))
          throw std::runtime_error("pipe");
      },
      [&](ExecutionContext& context) -> expected<void, Error> {
        char byte = 0;
        const auto count = ::read(pipe.reader(), &byte, 1);
        if (count == 0) context.request_success();
        if (count == 1) bytes.add(static_cast<std::uint64_t>(byte));
        return {};
      });
  const auto other = graph.op<Waiter>(
      "other", Waiter::Kind::kNotified,
      [&](Waiter& waiter, LifecycleContext& context) {
        sender.emplace(std::move(*context.notification_sender(waiter.notified)));
        ready = true;
      },
      [&](ExecutionContext&) -> expected<void, Error> {
        calls.add(0);
        return {};
      });
  graph.partition("lane").add(reader).add(other);
  const auto plan = compiled(graph);
  const auto session = weftline::run_async(plan);
  REQUIRE(eventually(session, [&] { return ready.load(); }));
  for (std::size_t round = 1; round <= 50; ++round) {
    // The lane is asleep in most of these rounds.
    pipe.write(static_cast<char>(round));
    REQUIRE(bytes.wait_for_count(round));
    REQUIRE(sender->notify().has_value());
    REQUIRE(calls.wait_for_count(round));
  }
  CHECK(bytes.values() == counting(50, 1));
  CHECK(eventually(session, [&] { return session.counters().lanes.at(0).parks > 0; }));
  pipe.close_writer();
  CHECK(run_to_end(session) == RunTermination::kCompleted);
  // A level is no queue: one activation for each byte, and for the end.
  CHECK(counters_of(plan, session.counters(), "reader").activations == 51);
}

TEST_CASE("a descriptor that is closed while the operator runs fails the run by name") {
  Pipe pipe;
  std::atomic<bool> ready{false};
  Collected<std::uint64_t> seen;
  const auto session = run(
      Waiter::Kind::kReadable,
      [&](Waiter& waiter, LifecycleContext& context) {
        ready = context.bind_readable(waiter.readable, pipe.reader()).has_value();
      },
      [&](ExecutionContext&) -> expected<void, Error> {
        pipe.close_reader();
        return {};
      });
  REQUIRE(eventually(session, [&] { return ready.load(); }));
  pipe.write('x');
  const Error error = only_diagnostic(session);
  CHECK(error.token == "SOURCE_DESCRIPTOR_FAILED");
  CHECK(error.message.find("event") != std::string::npos);
}

TEST_CASE("rings between two activations are one, and a count that does not grow is none") {
  std::optional<Doorbell> bell;
  std::atomic<bool> ready{false};
  Collected<std::uint64_t> seen;
  const auto gate = std::make_shared<Gate>();
  const OpensAtEnd opens{gate};
  auto session = run(
      Waiter::Kind::kDoorbell,
      [&](Waiter& waiter, LifecycleContext& context) {
        bell.emplace(*context.doorbell(waiter.doorbell));
        ready = true;
      },
      [&](ExecutionContext&) -> expected<void, Error> {
        seen.add(1);
        return gate->pass() ? expected<void, Error>{}
                            : weftline::fail(ErrorCode::kTimeout, "TEST_WATCHDOG", "shut");
      });
  REQUIRE(eventually(session, [&] { return ready.load(); }));
  REQUIRE(bell->ring(1).has_value());
  REQUIRE(gate->wait_for_visitor());
  for (const std::uint64_t count : {2, 5, 3, 5}) REQUIRE(bell->ring(count).has_value());
  gate->open();
  REQUIRE(seen.wait_for_count(2));
  REQUIRE(bell->ring(4).has_value());
  for_a_while([&] { CHECK(seen.values().size() == 2); });
  REQUIRE(bell->ring(6).has_value());
  REQUIRE(seen.wait_for_count(3));
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
  CHECK(bell->ring(7).error().token == "SOURCE_CLOSED");
}

TEST_CASE("a lane with a spin source notices the edge of a flag without being woken") {
  struct Flag {
    std::atomic<bool> up{true};
    mutable std::atomic<std::uint64_t> looks{0};
  };
  Flag flag;
  Collected<std::uint64_t> seen;
  auto session = run(
      Waiter::Kind::kSpin,
      [&](Waiter& waiter, LifecycleContext& context) {
        const auto look = [](const void* it) noexcept {
          const auto& looked = *static_cast<const Flag*>(it);
          const bool up = looked.up.load();
          looked.looks.fetch_add(1);
          return up;
        };
        if (!context.bind_spin(waiter.spin, {look, &flag})) throw std::runtime_error("spin");
      },
      [&](ExecutionContext& context) -> expected<void, Error> {
        seen.add(static_cast<std::uint64_t>(context.activation_reason()));
        return {};
      });
  // A look that began after this call has ended when it returns.
  const auto looked = [&] {
    const std::uint64_t before = flag.looks.load();
    return eventually(session, [&] { return flag.looks.load() >= before + 2; });
  };
  REQUIRE(looked());
  CHECK(seen.values().empty());  // true at the first look is no edge
  for (std::size_t round = 1; round <= 3; ++round) {
    flag.up = false;
    REQUIRE(looked());
    flag.up = true;
    REQUIRE(seen.wait_for_count(round));
    REQUIRE(looked());
    CHECK(seen.values().size() == round);
  }
  CHECK(session.counters().lanes.at(0).parks == 0);
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
}
