// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "counter.hpp"
#include "edge_queue.hpp"
#include "operator_probe.hpp"
#include "weftline/graph/port_binding.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline::runtime {

/// One input of a running operator: selects the head of its edge for an activation and hands it to
/// `receive()`. Lives on the operator's lane.
class InputRuntime final : public InputBinding {
 public:
  InputRuntime(const InputPortRecord& record, const PayloadOps& ops, StreamRef stream) noexcept
      : record_(record), ops_(ops), stream_(stream) {}
  void connect(EdgeQueue& edge) noexcept { edge_ = &edge; }
  void use_probe(OperatorProbe& probe, std::uint32_t port) noexcept {
    probe_ = &probe;
    port_ = port;
  }
  [[nodiscard]] const std::string& name() const noexcept { return record_.name; }

  /// The head, if there is one. Stays queued.
  [[nodiscard]] const SampleMetadata* head() noexcept { return edge_->front().metadata; }
  [[nodiscard]] bool ended() noexcept { return edge_->ended(); }
  /// The end of the stream is queued, maybe behind samples.
  [[nodiscard]] bool closing() const noexcept { return edge_->closed(); }
  /// From now on heads are only discarded.
  void abandon() noexcept { edge_->abandon(); }
  /// Takes the head for this activation: checks a tensor against the port's contract
  /// (kProtocolError) and orders it on the operator's stream, before compute() can see it.
  [[nodiscard]] expected<void, Error> select() noexcept;
  /// After compute(): drops what it did not receive.
  void finish_activation() noexcept;
  /// Drops the head unseen.
  void discard_head() noexcept { edge_->pop(); }

  [[nodiscard]] InputState state() const noexcept override {
    return selected_ ? InputState::kSelected : InputState::kNotSelected;
  }
  expected<void, Error> receive(void* value, SampleMetadata& metadata) noexcept override;

  [[nodiscard]] std::uint64_t unread() const noexcept { return unread_.read(); }

 private:
  const InputPortRecord& record_;
  const PayloadOps& ops_;
  const StreamRef stream_;
  EdgeQueue* edge_{nullptr};
  OperatorProbe* probe_{nullptr};  ///< Null unless the run is observed.
  std::uint32_t port_{0};
  bool selected_{false};
  Counter unread_{};
};

}  // namespace weftline::runtime
