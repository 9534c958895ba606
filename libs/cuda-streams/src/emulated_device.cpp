// SPDX-License-Identifier: Apache-2.0
#include "emulated_device.hpp"

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "emulated_event.hpp"
#include "host_memory.hpp"
#include "sm_partition.hpp"
#include "step_scheduler.hpp"
#include "worker_scheduler.hpp"

namespace weftline::cuda_streams {
namespace {

/// Those of today's NVIDIA devices.
constexpr StreamPriorities kPriorities{.least = 0, .greatest = -5};

// A handle is the address of our object.
EmulatedEvent& as_event(CUevent_st* handle) noexcept {
  return *reinterpret_cast<EmulatedEvent*>(handle);
}

std::unique_ptr<StreamScheduler> make_scheduler(const std::shared_ptr<StepperControl>& control) {
  if (control) {
    return std::make_unique<StepScheduler>(control);
  }
  return std::make_unique<WorkerScheduler>();
}

}  // namespace

/// SMs that are counted, with streams like all others.
class EmulatedSmPartition final : public SmPartition {
 public:
  EmulatedSmPartition(std::shared_ptr<Device> device, SmUnits::Taken units)
      : SmPartition(std::move(device), units.sm_count()), units_(std::move(units)) {}

  expected<CUstream_st*, Error> create_stream(const StreamOptions& options) override {
    return static_cast<EmulatedDevice&>(*device()).do_create_stream(options);
  }

 private:
  const SmUnits::Taken units_;
};

DeviceDescription describe_emulated_device(std::uint32_t ordinal,
                                           const EmulatedDeviceOptions& options) {
  constexpr std::string_view kPrefix = "weftline-emul-";
  DeviceDescription description;
  description.id = {DeviceKind::kEmulated, ordinal};
  for (std::size_t i = 0; i < kPrefix.size(); ++i) {
    description.uuid[i] = static_cast<std::uint8_t>(kPrefix[i]);
  }
  description.uuid[14] = static_cast<std::uint8_t>('0' + ordinal / 10 % 10);
  description.uuid[15] = static_cast<std::uint8_t>('0' + ordinal % 10);
  description.name = "Weftline emulated device";
  description.sm_count = options.sm_count;
  description.hardware_queues = options.hardware_queues;
  description.memory_bytes = options.memory_bytes;
  description.stream_memory_operations = options.stream_memory_operations;
  if (options.sm_count >= options.sm_granularity) {
    description.green_contexts = {options.sm_granularity, options.sm_granularity};
  }
  return description;
}

EmulatedDevice::EmulatedDevice(std::uint32_t ordinal, const EmulatedDeviceOptions& options)
    : Device(describe_emulated_device(ordinal, options), kPriorities),
      queue_capacity_(options.stream_queue_capacity),
      hardware_queues_(options.hardware_queues),
      budget_(options.memory_bytes),
      control_(options.stepper ? options.stepper->control() : nullptr),
      lost_words_(id().to_string() +
                  ": lost by its EmulatedStepper, as to a sticky CUDA error. A real device would "
                  "come back with a new process only."),
      scheduler_(make_scheduler(control_)) {
  if (options.sm_granularity != 0) {
    sm_units_.emplace(options.sm_count / options.sm_granularity, options.sm_granularity);
  }
}

const DeviceRefusal* EmulatedDevice::do_unusable() const noexcept {
  static constexpr DeviceRefusal kLost{ErrorCode::kFailure, "DEVICE_LOST"};
  static constexpr DeviceRefusal kRefused{ErrorCode::kFailure, "DEVICE_CALL_FAILED",
                                          "refused by EmulatedStepper::refuse_call()"};
  if (!control_) {
    return nullptr;
  }
  if (control_->lost()) {
    return loss_was_reported_.exchange(true) ? &kLost : &lost_in_words_;
  }
  return control_->refuses_this_call() ? &kRefused : nullptr;
}

expected<void, Error> EmulatedDevice::check_not_lost() const noexcept {
  if (control_ && control_->lost()) {
    const DeviceRefusal& why = *do_unusable();
    return fail(why.code, why.token, std::string(why.message));
  }
  return {};
}

expected<CUstream_st*, Error> EmulatedDevice::do_create_stream(const StreamOptions&) {
  try {
    return reinterpret_cast<CUstream_st*>(
        &scheduler_->create_queue(queue_capacity_, hardware_queues_.deal()));
  } catch (const std::exception& error) {
    return fail(ErrorCode::kResourceExhausted, "DEVICE_STREAMS_EXHAUSTED",
                id().to_string() + " cannot start one more stream with a queue of " +
                    std::to_string(queue_capacity_) + " operations: " + error.what() +
                    ". Use fewer streams, a smaller stream_queue_capacity, or raise the limit on "
                    "threads (ulimit -u).");
  }
}

expected<std::shared_ptr<SmPartition>, Error> EmulatedDevice::do_partition(std::uint32_t sm_count) {
  if (!sm_units_) {
    return std::shared_ptr<SmPartition>{};
  }
  WEFTLINE_ASSIGN(SmUnits::Taken units, sm_units_->take(id(), sm_count));
  return std::make_shared<EmulatedSmPartition>(shared_from_this(), std::move(units));
}

expected<CUevent_st*, Error> EmulatedDevice::do_create_event(const EventOptions&, bool timed) {
  return reinterpret_cast<CUevent_st*>(new EmulatedEvent(timed));
}

expected<std::byte*, Error> EmulatedDevice::do_allocate(MemoryKind kind, std::uint64_t bytes) {
  const std::uint64_t charged = is_device_resident(kind) ? bytes : 0;
  WEFTLINE_TRY(budget_.take(id(), kind, charged));
  expected<std::byte*, Error> data = allocate_touched(bytes);
  if (!data) {
    budget_.give(charged);
    return data;
  }
  memory_.add(*data, bytes, kind);
  return data;
}

expected<PointerInfo, Error> EmulatedDevice::do_pointer_info(const void* pointer) const noexcept {
  const MemoryKind kind = memory_.kind_of(pointer);
  return PointerInfo{kind, is_device_resident(kind) ? std::optional(id()) : std::nullopt};
}

expected<void, Error> EmulatedDevice::do_record(CUevent_st* event, CUstream_st* stream) noexcept {
  EmulatedEvent& recorded = as_event(event);
  recorded.record(as_stream(stream).queue(RecordOperation{recorded.begin_record()}));
  return {};
}

expected<void, Error> EmulatedDevice::do_wait(CUstream_st* stream, CUevent_st* event) noexcept {
  TimelinePoint point = as_event(event).last_record();
  if (!point.reached()) {
    as_stream(stream).queue(WaitOperation{std::move(point)});
  }
  return {};
}

expected<bool, Error> EmulatedDevice::do_is_complete(CUevent_st* event) noexcept {
  const bool reached = as_event(event).last_record().reached();
  WEFTLINE_TRY(check_not_lost());
  return reached;
}

expected<std::chrono::nanoseconds, Error> EmulatedDevice::do_elapsed(CUevent_st* from,
                                                                     CUevent_st* to) noexcept {
  WEFTLINE_ASSIGN(const auto start, as_event(from).time_of_last_record());
  WEFTLINE_ASSIGN(const auto end, as_event(to).time_of_last_record());
  return end - start;
}

expected<void, Error> EmulatedDevice::do_copy(CUstream_st* stream, void* destination,
                                              const void* source, std::uint64_t bytes) noexcept {
  as_stream(stream).queue(CopyOperation{destination, source, bytes});
  return {};
}

expected<void, Error> EmulatedDevice::do_fill(CUstream_st* stream, void* destination,
                                              std::byte value, std::uint64_t bytes) noexcept {
  as_stream(stream).queue(FillOperation{destination, value, bytes});
  return {};
}

expected<void, Error> EmulatedDevice::do_launch_host(CUstream_st* stream,
                                                     const HostTask& task) noexcept {
  as_stream(stream).queue(task);
  return {};
}

expected<void, Error> EmulatedDevice::do_synchronize_event(CUevent_st* event) noexcept {
  as_event(event).last_record().wait();
  return check_not_lost();
}

expected<void, Error> EmulatedDevice::do_synchronize_stream(CUstream_st* stream) noexcept {
  as_stream(stream).last_queued().wait();
  return check_not_lost();
}

void EmulatedDevice::do_destroy_stream(CUstream_st* stream) noexcept { as_stream(stream).close(); }

void EmulatedDevice::do_destroy_event(CUevent_st* event) noexcept { delete &as_event(event); }

void EmulatedDevice::do_free(MemoryKind kind, std::byte* data, std::uint64_t bytes) noexcept {
  if (shared_memory_.free(data)) {
    return;
  }
  memory_.remove(data);
  free_touched(data);
  budget_.give(is_device_resident(kind) ? bytes : 0);
}

}  // namespace weftline::cuda_streams
