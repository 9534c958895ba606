// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "weftline/core/error.hpp"
#include "weftline/core/sample.hpp"
#include "weftline/runtime/run_session.hpp"

// Peers of a session that are no processes: for tests of what a run does at its borders. They say
// nothing about channels: no memory is shared, nothing dies, tensors do not pass.

namespace weftline::runtime {
class ChannelBindings;  // private to the library
}

namespace weftline::testing {

/// The far side of one export. Any thread.
class FakeSubscriber {
 public:
  FakeSubscriber();
  FakeSubscriber(const FakeSubscriber&) = delete;
  FakeSubscriber& operator=(const FakeSubscriber&) = delete;
  ~FakeSubscriber();

  void attach();
  void leave();
  /// Samples that it takes before it refuses with kBackpressured; unbounded at first.
  void accept_in_all(std::uint64_t samples);
  /// The next publication is answered so; a retryable refusal holds until the next call of this.
  void answer(std::optional<Error> error);
  struct Received {
    std::vector<std::byte> body{};
    SampleMetadata metadata{};
    template <class T>
    [[nodiscard]] T as() const {
      static_assert(std::is_trivially_copyable_v<T>);
      T value{};
      std::memcpy(&value, body.data(), sizeof(T));
      return value;
    }
  };
  [[nodiscard]] std::vector<Received> received() const;
  /// The graph ended its stream.
  [[nodiscard]] bool ended() const;
  /// While it was attached. False when patience ran out.
  [[nodiscard]] bool wait_for_end() const;
  [[nodiscard]] bool wait_for_count(std::size_t count) const;

  struct Shared;  // private to the library
  [[nodiscard]] const std::shared_ptr<Shared>& shared() const noexcept { return shared_; }

 private:
  std::shared_ptr<Shared> shared_;
};

/// The far side of one import: one producer after another. Any thread.
class FakeProducer {
 public:
  FakeProducer();
  FakeProducer(const FakeProducer&) = delete;
  FakeProducer& operator=(const FakeProducer&) = delete;
  ~FakeProducer();

  /// A further incarnation appears; the calls below are about the newest. Without a token it is
  /// never accepted.
  void attach(std::uint64_t token);
  template <class T>
  void send(T value, SampleMetadata metadata = {}) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<std::byte> body(sizeof(T));
    std::memcpy(body.data(), &value, sizeof(T));
    send_bytes(std::move(body), metadata);
  }
  /// Ends its stream by its own word.
  void end();
  /// Its process lets go, whether it has ended its stream or not.
  void leave();
  /// Samples of the current incarnation that the graph is said to hold.
  void retain(std::uint32_t claims);
  /// The next rebind ends so.
  void fail_rebind(Error error);
  /// The next take() ends so.
  void fail_take(Error error);
  [[nodiscard]] std::uint32_t rebinds() const;
  /// Samples that the graph has not taken, of all incarnations.
  [[nodiscard]] std::size_t unread() const;

  struct Shared;  // private to the library
  [[nodiscard]] const std::shared_ptr<Shared>& shared() const noexcept { return shared_; }

 private:
  void send_bytes(std::vector<std::byte> body, const SampleMetadata& metadata);
  std::shared_ptr<Shared> shared_;
};

/// The peers of one plan's topics, by endpoint name. Outlives the sessions that it is bound to; for
/// one of them at a time.
class FakeChannels {
 public:
  FakeChannels();
  FakeChannels(const FakeChannels&) = delete;
  FakeChannels& operator=(const FakeChannels&) = delete;
  ~FakeChannels();

  /// Made at first use.
  [[nodiscard]] FakeSubscriber& subscriber(const std::string& endpoint);
  [[nodiscard]] FakeProducer& producer(const std::string& endpoint);
  /// run_async(), with these for its topics.
  [[nodiscard]] RunSession run_async(const ExecutionPlan& plan, const RunOptions& options = {});
  /// For SessionFaults.
  [[nodiscard]] runtime::ChannelBindings& bindings() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace weftline::testing
