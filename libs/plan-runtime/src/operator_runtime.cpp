// SPDX-License-Identifier: Apache-2.0
#include "operator_runtime.hpp"

#include <algorithm>
#include <string>

#include "guarded.hpp"

namespace weftline::runtime {
namespace {

/// "1 input and 2 outputs", or the first port that differs; empty when setup() declared what the
/// plan holds.
std::string setup_change(const OperatorPlanRecord& planned, const OperatorSpec& declared) {
  const auto compare = [](std::string_view kind, const auto& wanted, const auto& found) {
    const std::string ports = std::string(kind) + "s";
    if (wanted.size() != found.size()) {
      return std::to_string(found.size()) + " " + ports + ", the plan has " +
             std::to_string(wanted.size());
    }
    for (std::size_t port = 0; port < wanted.size(); ++port) {
      if (wanted[port].name == found[port].name && wanted[port].payload == found[port].payload)
        continue;
      return std::string(kind) + " " + std::to_string(port) + " as " + found[port].name + " (" +
             found[port].payload.to_string() + "), the plan has " + wanted[port].name + " (" +
             wanted[port].payload.to_string() + ")";
    }
    return std::string();
  };
  std::string change = compare("input", planned.inputs, declared.inputs());
  return change.empty() ? compare("output", planned.outputs, declared.outputs()) : change;
}

}  // namespace

OperatorRuntime::OperatorRuntime(Options options)
    : record_(*options.record),
      instance_(std::move(options.instance)),
      device_(std::move(options.device)),
      stream_(options.stream),
      clock_(options.clock),
      control_(*options.control),
      context_({.device = device_,
                .stream = stream_,
                .clock = clock_,
                .control = &control_,
                .rates = options.rates},
               spec_) {
  instance_->setup(spec_);
  if (const std::string change = setup_change(record_, spec_); !change.empty()) {
    throw RuntimeError(
        {ErrorCode::kFailure, "RUN_SETUP_CHANGED",
         "setup() declared " + change + "; it must declare the same each time it is called", 0});
  }
  for (std::size_t port = 0; port < spec_.inputs().size(); ++port) {
    const InputDeclaration& declared = spec_.inputs()[port];
    inputs_.push_back(std::make_unique<InputRuntime>(record_.inputs[port], *declared.ops, stream_));
    declared.port->bind(inputs_.back().get());
  }
  for (std::size_t port = 0; port < spec_.outputs().size(); ++port) {
    const OutputDeclaration& declared = spec_.outputs()[port];
    outputs_.push_back(
        std::make_unique<OutputRuntime>(record_.outputs[port], *declared.ops, stream_, clock_));
    declared.port->bind(outputs_.back().get());
  }
  trigger_ = make_trigger(record_.trigger, inputs_);
}

bool OperatorRuntime::start() {
  auto result = guarded("OPERATOR_START_THREW", [&]() -> expected<void, Error> {
    if (device_) WEFTLINE_TRY(device_->make_current());
    instance_->start(context_);
    return {};
  });
  if (!result) {
    control_.fail(record_.path + ".start", std::move(result).error());
    return false;
  }
  started_ = true;
  return true;
}

void OperatorRuntime::stop() noexcept {
  if (!started_) return;
  started_ = false;
  auto result = guarded("OPERATOR_STOP_THREW", [&]() -> expected<void, Error> {
    if (device_) WEFTLINE_TRY(device_->make_current());
    instance_->stop(context_);
    return {};
  });
  if (!result) control_.fail(record_.path + ".stop", std::move(result).error());
}

void OperatorRuntime::use_probe(OperatorProbe& probe) noexcept {
  probe_ = &probe;
  for (std::uint32_t port = 0; port < inputs_.size(); ++port) inputs_[port]->use_probe(probe, port);
  for (std::uint32_t port = 0; port < outputs_.size(); ++port) {
    outputs_[port]->use_probe(probe, port);
  }
}

bool OperatorRuntime::admitted() noexcept {
  if (trigger_->input_driven()) {
    return std::ranges::all_of(outputs_,
                               [](const auto& output) { return output->admits_activation(); });
  }
  return std::ranges::all_of(outputs_, [](const auto& output) { return output->refusal_over(); });
}

bool OperatorRuntime::step() noexcept {
  if (done_) return false;
  if (finished_.load(std::memory_order_relaxed)) return discard_late_inputs();

  const std::int64_t now_ns = clock_.now().timestamp_ns;
  auto due = trigger_->due(now_ns);
  if (!due) {
    control_.fail(record_.path, std::move(due).error());
    return false;
  }
  if (!*due) {
    held_ = false;
    if (!trigger_->exhausted()) return false;
    finish();
    return true;
  }
  held_ = !admitted();
  if (held_) {
    if (drains()) {
      for (const auto& output : outputs_) output->fail_for_lost_peer();
    }
    return false;
  }
  activate(now_ns);
  return true;
}

void OperatorRuntime::activate(std::int64_t now_ns) noexcept {
  if (probe_ != nullptr) probe_->begin();
  context_.activate(trigger_->input_driven() ? ActivationReason::kInput : ActivationReason::kClock,
                    clock_.at_ns(trigger_->activation_time(now_ns)));
  const StreamOrderActivity activity(record_.path);
  auto result = guarded("OPERATOR_THREW", [&]() -> expected<void, Error> {
    if (device_) WEFTLINE_TRY(device_->make_current());
    WEFTLINE_TRY(trigger_->select());
    return instance_->compute(context_);
  });
  if (probe_ != nullptr) probe_->end();
  activations_.add();
  for (const auto& input : inputs_) input->finish_activation();
  if (!result) {
    control_.fail(record_.path, std::move(result).error());
    return;
  }
  const bool closed_itself =
      !outputs_.empty() &&
      std::ranges::all_of(outputs_, [](const auto& output) { return output->closed(); });
  if (closed_itself) finish();
}

void OperatorRuntime::finish() noexcept {
  for (const auto& output : outputs_) {
    if (!output->closed()) static_cast<void>(output->close());
  }
  finished_.store(true, std::memory_order_relaxed);
  for (const auto& input : inputs_) input->abandon();
  static_cast<void>(discard_late_inputs());
}

bool OperatorRuntime::discard_late_inputs() noexcept {
  bool dropped = false;
  bool all_ended = true;
  for (const auto& input : inputs_) {
    while (input->head() != nullptr) {
      input->discard_head();
      discarded_.add();
      dropped = true;
    }
    all_ended = all_ended && input->ended();
  }
  done_ = all_ended;
  return dropped || done_;
}

bool OperatorRuntime::drains() const noexcept {
  return trigger_->input_driven() &&
         std::ranges::all_of(inputs_, [](const auto& input) { return input->closing(); });
}

std::optional<std::int64_t> OperatorRuntime::deadline_ns() const noexcept {
  if (done_ || held_ || finished_.load(std::memory_order_relaxed)) return {};
  const auto due = trigger_->deadline_ns();
  if (!due) return {};
  return RealtimeClock{}.now_ns() + std::max<std::int64_t>(*due - clock_.now().timestamp_ns, 0);
}

bool OperatorRuntime::waits_for_device() const noexcept {
  return held_ && std::ranges::any_of(
                      outputs_, [](const auto& output) { return output->waits_for_device(); });
}

OperatorCounters OperatorRuntime::counters() const noexcept {
  OperatorCounters counters;
  counters.vertex = record_.id;
  counters.activations = activations_.read();
  counters.coalesced_ticks = trigger_->coalesced_ticks();
  counters.unaligned_drops = trigger_->unaligned_drops();
  counters.discarded = discarded_.read();
  for (const auto& input : inputs_) counters.unread += input->unread();
  for (const auto& output : outputs_) {
    counters.emits += output->emits();
    counters.refused_emits += output->refused_emits();
    counters.refused_loans += output->refused_loans();
  }
  counters.finished = finished_.load(std::memory_order_relaxed);
  return counters;
}

}  // namespace weftline::runtime
