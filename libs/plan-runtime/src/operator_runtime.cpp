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
  if (change.empty()) change = compare("output", planned.outputs, declared.outputs());
  if (change.empty() && planned.sources.size() != declared.sources().size()) {
    change = std::to_string(declared.sources().size()) + " readiness sources, the plan has " +
             std::to_string(planned.sources.size());
  }
  return change;
}

std::unique_ptr<SourceRuntime> make_source(const OperatorPlanRecord& record, ReadinessWake wake) {
  using Kind = TemporalRecordTriggerKind;
  const TemporalTriggerPlanRecord& trigger = record.trigger;
  const bool waits_for_source = trigger.kind == Kind::kReadable ||
                                trigger.kind == Kind::kNotified ||
                                trigger.kind == Kind::kDoorbell || trigger.kind == Kind::kSpin;
  if (!waits_for_source) return nullptr;
  return std::make_unique<SourceRuntime>(record.sources[trigger.source], std::move(wake));
}

}  // namespace

OperatorRuntime::OperatorRuntime(Options options)
    : record_(*options.record),
      instance_(set_up(record_, std::move(options.instance))),
      device_(std::move(options.device)),
      stream_(options.stream),
      clock_(options.clock),
      trigger_clock_(options.trigger_clock.value_or(options.clock)),
      control_(*options.control),
      source_(make_source(record_, std::move(options.wake))),
      params_(options.params),
      context_({.device = device_,
                .stream = stream_,
                .clock = clock_,
                .control = &control_,
                .desk = options.desk,
                .vertex = record_.id,
                .rates = options.rates,
                .params = params_,
                .source = source_.get()},
               instance_.spec),
      calls_left_(record_.trigger.complete_after_computes) {
  const OperatorSpec& spec = instance_.spec;
  options.selections.resize(record_.inputs.size());
  for (std::size_t port = 0; port < spec.inputs().size(); ++port) {
    inputs_.add(std::make_unique<InputRuntime>(
        InputRuntime::Options{.record = &record_.inputs[port],
                              .ops = spec.inputs()[port].ops,
                              .stream = stream_,
                              .selection = std::move(options.selections[port]),
                              .scope = &scope_}));
  }
  for (std::size_t port = 0; port < spec.outputs().size(); ++port) {
    outputs_.push_back(std::make_unique<OutputRuntime>(
        record_.outputs[port], *spec.outputs()[port].ops, stream_, clock_, scope_));
  }
  const auto is_tensor = [](const auto& port) { return port.ops->is_tensor; };
  handles_tensors_ = device_ || std::ranges::any_of(spec.inputs(), is_tensor) ||
                     std::ranges::any_of(spec.outputs(), is_tensor);
  bind_ports();
  trigger_ = make_trigger({.record = record_.trigger,
                           .inputs = inputs_,
                           .clock = trigger_clock_,
                           .source = source_.get()});
}

OperatorInstance OperatorRuntime::set_up(const OperatorPlanRecord& record,
                                         std::unique_ptr<OperatorBase> object) {
  OperatorInstance instance{.object = std::move(object)};
  instance.object->setup(instance.spec);
  require_lifecycle_of(instance.spec.lifecycle_callbacks(), *instance.object);
  if (const std::string change = setup_change(record, instance.spec); !change.empty()) {
    throw RuntimeError(
        {ErrorCode::kFailure, "RUN_SETUP_CHANGED",
         "setup() declared " + change + "; it must declare the same each time it is called", 0});
  }
  return instance;
}

expected<void, Error> OperatorRuntime::arm_source() noexcept {
  return source_ ? source_->arm() : expected<void, Error>{};
}

void OperatorRuntime::start_trigger() noexcept {
  decides_ = trigger_->decided_when_seen() ||
             std::ranges::any_of(record_.trigger.inputs,
                                 [this](std::uint32_t port) { return inputs_[port].imported(); });
  trigger_->start(clock_.now().timestamp_ns);
}

void OperatorRuntime::close_source() noexcept {
  if (source_) source_->close();
}

void OperatorRuntime::use_probe(OperatorProbe& probe) noexcept {
  probe_ = &probe;
  inputs_.use_probe(probe);
  for (std::uint32_t port = 0; port < outputs_.size(); ++port) {
    outputs_[port]->use_probe(probe, port);
  }
}

void OperatorRuntime::bind_ports() noexcept {
  for (std::uint32_t port = 0; port < record_.inputs.size(); ++port) {
    instance_.spec.inputs()[port].port->bind(&inputs_[port]);
  }
  for (std::size_t port = 0; port < outputs_.size(); ++port) {
    instance_.spec.outputs()[port].port->bind(outputs_[port].get());
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
  if (finished()) return discard_late_inputs();
  switch (trigger_->look()) {
    case TriggerState::Look::kDue:
      break;
    case TriggerState::Look::kNothing:
      held_ = false;
      return false;
    case TriggerState::Look::kExhausted:
      held_ = false;
      finish();
      return true;
    case TriggerState::Look::kFailed:
      control_.fail(record_.path, trigger_->take_error());
      return false;
  }
  if (decides_ && !held_) decided_ns_ = clock_.now().timestamp_ns;
  held_ = !admitted();
  if (held_) {
    if (drains()) {
      for (const auto& output : outputs_) output->fail_for_lost_peer();
    }
    return false;
  }
  activate();
  return true;
}

void OperatorRuntime::activate() noexcept {
  Firing firing;
  if (!trigger_->fire(decided_ns_, firing)) {
    control_.fail(record_.path, trigger_->take_error());
    return;
  }
  auto runs = inputs_.complete(firing.reference_ns);
  if (!runs) {
    control_.fail(record_.path, std::move(runs).error());
    return;
  }
  if (!*runs) {
    skipped_.add();
    inputs_.finish(false);
    return;
  }
  if (probe_ != nullptr) probe_->begin();
  auto result = guarded("OPERATOR_THREW", [&] {
    return handles_tensors_ ? compute_with_tensors(firing) : compute(firing);
  });
  if (probe_ != nullptr) probe_->end();
  activations_.add();
  inputs_.finish(true);
  if (!result) {
    control_.fail(record_.path, std::move(result).error());
    return;
  }
  const bool closed_itself =
      !outputs_.empty() &&
      std::ranges::all_of(outputs_, [](const auto& output) { return output->closed(); });
  const bool spent = calls_left_ && --*calls_left_ == 0;
  if (closed_itself || spent) finish();
}

expected<void, Error> OperatorRuntime::compute_with_tensors(const Firing& firing) {
  const StreamOrderActivity activity(record_.path);
  if (device_) WEFTLINE_TRY(device_->make_current());
  return compute(firing);
}

expected<void, Error> OperatorRuntime::compute(const Firing& firing) {
  if (inputs_.needs_preparation()) WEFTLINE_TRY(inputs_.prepare());
  Activation& activation = context_.next_activation();
  activation.reason = firing.reason;
  activation.time = clock_.at_ns(firing.activation_ns);
  activation.first_tick = trigger_->ticks() ? clock_.at_ns(firing.first_tick_ns) : activation.time;
  activation.coalesced_ticks = firing.coalesced_ticks;
  if (record_.trigger.max_start_delay_ns) WEFTLINE_TRY(judge_start(activation));
  const bool new_params = params_ != nullptr && params_->take();
  if (new_params && probe_ != nullptr) probe_->take_params(params_->view().generation);
  const ComputeScope::Inside inside(scope_);
  auto done = instance_.object->compute(context_);
  if (new_params) params_->mark_observed();
  return done;
}

expected<void, Error> OperatorRuntime::judge_start(Activation& activation) noexcept {
  const std::int64_t limit_ns = record_.trigger.max_start_delay_ns.value_or(0);
  const std::int64_t delay_ns = clock_.now().timestamp_ns - activation.time.timestamp_ns;
  const bool late = delay_ns > limit_ns;
  const OnViolation policy = record_.trigger.on_violation;
  const bool degraded = late && policy == OnViolation::kDegrade;
  for (const auto& output : outputs_) output->mark_degraded(degraded);
  activation.status = ActivationStatus::kOnTime;
  if (!late) return {};
  late_starts_.add();
  activation.status = degraded ? ActivationStatus::kLateDegraded : ActivationStatus::kLate;
  if (policy != OnViolation::kFailRun) return {};
  return fail(ErrorCode::kTimeout, "RUN_START_TOO_LATE",
              "an activation started " + std::to_string(delay_ns) +
                  " ns after it was decided, the contract admits " + std::to_string(limit_ns) +
                  " ns; give the lane less to do, raise max_start_delay(), or report it only");
}

void OperatorRuntime::finish() noexcept {
  for (const auto& output : outputs_) output->end();
  finished_.store(true, std::memory_order_relaxed);
  for (const auto& input : inputs_.all()) input->abandon();
  if (source_) source_->close();
  clear_inputs();  // what is held holds slots that others need
  static_cast<void>(discard_late_inputs());
}

bool OperatorRuntime::discard_late_inputs() noexcept {
  bool dropped = false;
  bool all_ended = true;
  for (const auto& input : inputs_.all()) {
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
         std::ranges::all_of(record_.trigger.inputs,
                             [this](std::uint32_t port) { return inputs_[port].closing(); });
}

std::optional<std::int64_t> OperatorRuntime::deadline_ns() const noexcept {
  if (done_ || held_ || finished() || !trigger_clock_.clock().independent_progress()) return {};
  const auto due = trigger_->deadline_ns();
  if (!due) return {};
  return RealtimeClock{}.now_ns() +
         std::max<std::int64_t>(*due - trigger_clock_.now().timestamp_ns, 0);
}

ClockDriver* OperatorRuntime::clock_driver() const noexcept {
  using Kind = TemporalRecordTriggerKind;
  const Kind kind = record_.trigger.kind;
  const bool waits = kind == Kind::kClock || kind == Kind::kWindow;
  return waits ? trigger_clock_.clock().driver() : nullptr;
}

bool OperatorRuntime::waits_for_device() const noexcept {
  return held_ && std::ranges::any_of(
                      outputs_, [](const auto& output) { return output->waits_for_device(); });
}

int OperatorRuntime::watched_descriptor() const noexcept {
  const bool watches =
      record_.trigger.kind == TemporalRecordTriggerKind::kReadable && !held_ && !finished();
  return watches ? source_->descriptor() : -1;
}

OperatorCounters OperatorRuntime::counters() const noexcept {
  OperatorCounters counters;
  counters.vertex = record_.id;
  counters.activations = activations_.read();
  counters.skipped = skipped_.read();
  counters.late_starts = late_starts_.read();
  counters.window_timeouts = trigger_->window_timeouts();
  counters.coalesced_ticks = trigger_->coalesced_ticks();
  counters.unaligned_drops = trigger_->unaligned_drops();
  counters.discarded = discarded_.read();
  for (const auto& input : inputs_.all()) {
    counters.unread += input->unread();
    counters.passed_over += input->passed_over();
    counters.reused += input->reuses();
  }
  for (const auto& output : outputs_) {
    counters.emits += output->emits();
    counters.refused_emits += output->refused_emits();
    counters.missing_peers += output->missing_peers();
    counters.refused_loans += output->refused_loans();
  }
  counters.finished = finished();
  return counters;
}

}  // namespace weftline::runtime
