// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/emulated_stepper.hpp"

#include "stepper_control.hpp"

namespace weftline {

EmulatedStepper::EmulatedStepper(const StepperOptions& options)
    : control_(std::make_shared<cuda_streams::StepperControl>(options)) {}

void EmulatedStepper::pause() { control_->set_paused(true); }

void EmulatedStepper::resume() { control_->set_paused(false); }

void EmulatedStepper::stall(StreamRef stream) { control_->set_stalled(stream.get(), true); }

void EmulatedStepper::resume(StreamRef stream) { control_->set_stalled(stream.get(), false); }

void EmulatedStepper::refuse_call(std::uint64_t nth) { control_->refuse_call(nth); }

void EmulatedStepper::lose_device() { control_->lose(); }

void EmulatedStepper::lose_device_after(std::uint64_t operations) {
  control_->lose_after(operations);
}

}  // namespace weftline
