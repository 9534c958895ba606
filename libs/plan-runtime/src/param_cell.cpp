// SPDX-License-Identifier: Apache-2.0
#include "param_cell.hpp"

#include <algorithm>
#include <utility>

#include "weftline/graph/param_finding.hpp"
#include "weftline/graph/param_json.hpp"

namespace weftline::runtime {
namespace {

ParamUpdateStatus status_of(const ParamFinding& finding) noexcept {
  if (finding.token == "PARAM_TYPE_MISMATCH") return ParamUpdateStatus::kTypeMismatch;
  const bool bounds = finding.token == "PARAM_OUT_OF_RANGE" || finding.token == "PARAM_OVERFLOW";
  return bounds ? ParamUpdateStatus::kOutOfBounds : ParamUpdateStatus::kValidationFailed;
}

bool updatable(const ParamFieldDescriptor& field) noexcept {
  return field.mutability == ParamMutability::kRuntime ||
         field.mutability == ParamMutability::kLifecycle;
}

}  // namespace

ParamCell::ParamCell(const ParamSet& set, Options options)
    : path_(std::move(options.path)),
      restart_from_(options.restart_from),
      set_(set),
      newest_(set.copy_values()) {
  for (Slot& slot : slots_) slot.values = set.copy_values();
  shown_.values = set.copy_values();
  for (const ParamFieldDescriptor& field : schema().fields()) {
    if (updatable(field)) mutable_fields_.push_back(&field);
  }
}

expected<void, Error> ParamCell::submit(const ParamFieldDescriptor& field,
                                        const ParamScalar& value) noexcept {
  const ParamFieldDescriptor* const own = schema().find(field.path);
  if (own == nullptr || own->hash != field.hash) {
    return fail(ErrorCode::kInvalidArgument, "PARAM_FIELD_FOREIGN");
  }
  if (own->mutability != ParamMutability::kRuntime) {
    return fail(ErrorCode::kNotSupported, "PARAM_NOT_MUTABLE");
  }
  const auto admitted = params::admit(*own, value);
  if (!admitted) return make_unexpected(param_error({&admitted.error(), 1}));
  const std::unique_lock lock(progress_->mutex, std::try_to_lock);
  if (!lock) return fail(ErrorCode::kBackpressured, "PARAM_CONTROL_BUSY");
  if (own->read_scalar(newest_.get()) == *admitted) return {};
  const Change change{own, *admitted};
  prepare_locked({&change, 1});
  if (const auto broken = params::broken_rule(*own, slots_[back_].values.get())) {
    return make_unexpected(param_error({&*broken, 1}));
  }
  if (offered_) {
    // What stood before it is gone: an update from outside has been here since the last of these.
    dropped_by_lane_ = offered_;
  }
  publish_locked({&change, 1}, nullptr);
  return {};
}

ParamUpdateResult ParamCell::update(std::span<const ParamAssignment> batch,
                                    const ParamUpdateOptions& options) {
  std::vector<Change> changes;
  bool lifecycle = false;
  if (progress_->ended.load(std::memory_order_acquire)) {
    const std::lock_guard lock(progress_->mutex);
    return closed_locked();
  }
  if (auto refusal = read(batch, changes, lifecycle)) return std::move(*refusal);

  const std::lock_guard lock(progress_->mutex);
  if (progress_->ended.load(std::memory_order_relaxed)) return closed_locked();
  if (options.expected_generation && *options.expected_generation != generation_) {
    return refuse(ParamUpdateStatus::kGenerationMismatch,
                  {ErrorCode::kFailure, "PARAM_GENERATION_MISMATCH",
                   "the update expects generation " + std::to_string(*options.expected_generation) +
                       " of " + path_ + ", the newest is " + std::to_string(generation_) +
                       "; look at the newest values and decide again",
                   0});
  }
  prepare_locked(changes);
  for (const Change& change : changes) {
    if (const auto broken = params::broken_rule(*change.field, slots_[back_].values.get())) {
      return refuse(status_of(*broken), param_error({&*broken, 1}));
    }
  }
  auto record = std::make_shared<ParamUpdateRecord>();
  record->progress = progress_;
  if (lifecycle) return defer_locked(std::move(changes), std::move(record));
  const bool same = std::ranges::all_of(changes, [&](const Change& change) {
    return change.field->read_scalar(newest_.get()) == change.value;
  });
  if (same) {
    record->state.store(ParamUpdateState::kAcceptedNoChange, std::memory_order_relaxed);
    return {ParamUpdateStatus::kAcceptedNoChange, generation_, {}, ParamUpdateReceipt(record)};
  }
  publish_locked(changes, record);
  return {ParamUpdateStatus::kAccepted, generation_, {}, ParamUpdateReceipt(std::move(record))};
}

std::optional<ParamUpdateResult> ParamCell::read(std::span<const ParamAssignment> batch,
                                                 std::vector<Change>& changes,
                                                 bool& lifecycle) const {
  using Status = ParamUpdateStatus;
  const auto refused = [&](Status status, ErrorCode code, std::string_view token,
                           std::string message) {
    const std::lock_guard lock(progress_->mutex);
    return refuse(status, {code, token, std::move(message), 0});
  };
  if (batch.empty()) {
    return refused(Status::kRejected, ErrorCode::kInvalidArgument, "PARAM_BATCH_EMPTY",
                   "the update of " + path_ + " names no field");
  }
  for (const ParamAssignment& each : batch) {
    const std::string name = path_ + "." + each.path;
    const ParamFieldDescriptor* const field = schema().find(each.path);
    if (field == nullptr) {
      return refused(Status::kNotFound, ErrorCode::kNotFound, "PARAM_FIELD_UNKNOWN",
                     path_ + " has parameters of schema " + schema().id() +
                         ", which has no field " + each.path + "; correct the name");
    }
    if (each.hash && *each.hash != field->hash) {
      return refused(Status::kTypeMismatch, ErrorCode::kInvalidArgument, "PARAM_FIELD_FOREIGN",
                     "the reference is to a field of another struct; " + name + " is of schema " +
                         schema().id());
    }
    if (!updatable(*field)) {
      return refused(Status::kNotMutable, ErrorCode::kNotSupported, "PARAM_NOT_MUTABLE",
                     name + " is " + std::string(param_mutability_name(field->mutability)) +
                         ": set_params() with the new value and compile again");
    }
    if (std::ranges::find(changes, field, &Change::field) != changes.end()) {
      return refused(Status::kRejected, ErrorCode::kInvalidArgument, "PARAM_BATCH_REPEATED",
                     "the batch gives " + name + " twice; give one value");
    }
    auto value = params::admit(*field, each.value);
    if (!value) {
      Error error = param_error({&value.error(), 1});
      error.message.insert(0, path_ + ".");
      return refused(status_of(value.error()), error.code, error.token, std::move(error.message));
    }
    const bool waits = field->mutability == ParamMutability::kLifecycle;
    if (waits && (!restart_from_ || *restart_from_ > *field->stage)) {
      return refused(
          Status::kUpdatesDisabled, ErrorCode::kNotSupported, "PARAM_UPDATES_DISABLED",
          name + " takes a new value by a restart from stage " +
              std::string(lifecycle_stage_name(*field->stage)) + ", the plan admits " +
              (restart_from_ ? "one from " + std::string(lifecycle_stage_name(*restart_from_))
                             : std::string("none")) +
              "; grant it in the graph and enable transactions, or compile again");
    }
    if (!changes.empty() && waits != lifecycle) {
      return refused(Status::kRejected, ErrorCode::kInvalidArgument, "PARAM_BATCH_MIXED",
                     "the batch has fields that a restart takes and fields that the next "
                     "activation takes; make two of it");
    }
    lifecycle = waits;
    changes.push_back({field, std::move(*value)});
  }
  return std::nullopt;
}

ParamUpdateResult ParamCell::closed_locked() const {
  return refuse(
      ParamUpdateStatus::kClosed,
      {ErrorCode::kClosed, "PARAM_CONTROL_CLOSED",
       "the run has ended; " + path_ + " keeps generation " + std::to_string(generation_), 0});
}

ParamUpdateResult ParamCell::refuse(ParamUpdateStatus status, Error error) const {
  return {status, generation_, std::move(error), {}};
}

ParamUpdateResult ParamCell::defer_locked(std::vector<Change> changes, Record record) {
  for (Change& change : changes) {
    const auto same = std::ranges::find(waiting_, change.field, &Change::field);
    if (same == waiting_.end()) {
      waiting_.push_back(std::move(change));
    } else {
      *same = std::move(change);
    }
  }
  if (waiting_record_) {
    waiting_record_->state.store(ParamUpdateState::kSuperseded, std::memory_order_release);
  }
  record->state.store(ParamUpdateState::kSubmitted, std::memory_order_relaxed);
  waiting_record_ = record;
  return {ParamUpdateStatus::kDeferred, generation_, {}, ParamUpdateReceipt(std::move(record))};
}

void ParamCell::prepare_locked(std::span<const Change> changes) noexcept {
  void* const values = slots_[back_].values.get();
  for (const ParamFieldDescriptor* field : mutable_fields_) {
    field->write_scalar(values, field->read_scalar(newest_.get()));
  }
  for (const Change& change : changes) change.field->write_scalar(values, change.value);
}

void ParamCell::publish_locked(std::span<const Change> changes, Record record) noexcept {
  for (const Change& change : changes) change.field->write_scalar(newest_.get(), change.value);
  slots_[back_].generation = ++generation_;
  if (record) {
    record->generation.store(generation_, std::memory_order_release);
    dropped_by_lane_.reset();
  }
  const std::uint32_t before = middle_.exchange(back_ | kFresh, std::memory_order_acq_rel);
  back_ = before & kIndex;
  if (offered_ && (before & kFresh) != 0) {
    offered_->state.store(ParamUpdateState::kSuperseded, std::memory_order_release);
  }
  offered_ = std::move(record);
}

OperatorParamValues ParamCell::capture_locked() const {
  OperatorParamValues captured{.operator_path = path_, .generation = generation_};
  for (const ParamFieldDescriptor& field : schema().fields()) {
    captured.fields.push_back(
        {field.path,
         field.sensitive ? JsonValue() : params::encode(field, field.read(newest_.get())),
         field.mutability});
  }
  return captured;
}

bool ParamCell::reaches_all_locked(LifecycleStage from) const noexcept {
  return std::ranges::all_of(waiting_,
                             [&](const Change& change) { return *change.field->stage >= from; });
}

void ParamCell::show_newest_locked() noexcept {
  for (const ParamFieldDescriptor* field : mutable_fields_) {
    field->write_scalar(shown_.values.get(), field->read_scalar(newest_.get()));
  }
  shown_.generation = generation_;
}

void ParamCell::expect_restart(LifecycleStage from) {
  const std::lock_guard lock(progress_->mutex);
  if (!waiting_record_ || !reaches_all_locked(from)) return;
  waiting_record_->state.store(ParamUpdateState::kQuiescing, std::memory_order_release);
}

void ParamCell::forget_restart() {
  const std::lock_guard lock(progress_->mutex);
  wait_on_locked();
}

void ParamCell::wait_on_locked() noexcept {
  if (!waiting_record_) return;
  waiting_record_->state.store(ParamUpdateState::kSubmitted, std::memory_order_release);
}

void ParamCell::begin_restart(LifecycleStage from) {
  const std::lock_guard lock(progress_->mutex);
  show_newest_locked();
  seen_ = &shown_;
  if (!waiting_record_ || !reaches_all_locked(from)) return;
  taken_by_restart_ = std::exchange(waiting_, {});
  restart_record_ = std::exchange(waiting_record_, nullptr);
  restart_record_->state.store(ParamUpdateState::kRestarting, std::memory_order_release);
}

bool ParamCell::apply_deferred(LifecycleStage stage) {
  const std::lock_guard lock(progress_->mutex);
  const auto later = std::ranges::partition(
      taken_by_restart_, [&](const Change& change) { return *change.field->stage == stage; });
  const std::span now(taken_by_restart_.begin(), later.begin());
  if (now.empty()) return false;
  for (const Change& change : now) {
    before_restart_.push_back({change.field, change.field->read_scalar(newest_.get())});
  }
  prepare_locked(now);
  // What an earlier stage of this restart has made is a part of this generation, not replaced by
  // it.
  if (offered_ == restart_record_) offered_.reset();
  restart_record_->state.store(ParamUpdateState::kRestarting, std::memory_order_release);
  publish_locked(now, restart_record_);
  taken_by_restart_.erase(taken_by_restart_.begin(), later.begin());
  show_newest_locked();
  return true;
}

void ParamCell::revert_deferred() {
  const std::lock_guard lock(progress_->mutex);
  if (!restart_record_) return;
  taken_by_restart_.clear();
  if (!before_restart_.empty()) {
    prepare_locked(before_restart_);
    publish_locked(std::exchange(before_restart_, {}), nullptr);
    show_newest_locked();
  }
  restart_record_->state.store(ParamUpdateState::kRejected, std::memory_order_release);
  restart_record_.reset();
}

void ParamCell::end_restart() {
  const std::lock_guard lock(progress_->mutex);
  seen_ = &slots_[front_];
  before_restart_.clear();
  wait_on_locked();
  if (!restart_record_) return;
  // Unless somebody was faster than compute().
  auto under_way = ParamUpdateState::kRestarting;
  restart_record_->state.compare_exchange_strong(under_way, ParamUpdateState::kAccepted,
                                                 std::memory_order_acq_rel);
  restart_record_.reset();
}

void ParamCell::end() noexcept {
  const std::lock_guard lock(progress_->mutex);
  progress_->ended.store(true, std::memory_order_release);
}

}  // namespace weftline::runtime
