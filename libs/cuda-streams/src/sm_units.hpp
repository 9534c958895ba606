// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "annotated_mutex.hpp"
#include "weftline/core/device_catalog.hpp"
#include "weftline/core/error.hpp"

namespace weftline::cuda_streams {

/// Which SMs of one device are in no green context, in units that the device gives out whole.
class SmUnits {
 public:
  /// Units in use until destruction. Move-only.
  class Taken {
   public:
    Taken(SmUnits& from, std::vector<std::uint32_t> units) noexcept
        : from_(&from), units_(std::move(units)) {}
    Taken(Taken&&) noexcept = default;
    Taken& operator=(Taken&&) = delete;
    ~Taken() {
      if (!units_.empty()) {  // moved from, maybe within take()
        from_->give(units_);
      }
    }

    [[nodiscard]] std::span<const std::uint32_t> numbers() const noexcept { return units_; }
    [[nodiscard]] std::uint32_t sm_count() const noexcept {
      return static_cast<std::uint32_t>(units_.size()) * from_->sms_per_unit_;
    }

   private:
    SmUnits* from_;
    std::vector<std::uint32_t> units_;
  };

  SmUnits(std::uint32_t units, std::uint32_t sms_per_unit)
      : sms_per_unit_(sms_per_unit), taken_(units, false) {}

  /// Free units with `sm_count` SMs together, lowest first.
  [[nodiscard]] expected<Taken, Error> take(DeviceId device, std::uint32_t sm_count)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    const std::uint64_t wanted = (std::uint64_t{sm_count} + sms_per_unit_ - 1) / sms_per_unit_;
    const auto left = static_cast<std::uint64_t>(std::count(taken_.begin(), taken_.end(), false));
    if (wanted > left) {
      return fail(ErrorCode::kResourceExhausted, "DEVICE_SMS_EXHAUSTED",
                  device.to_string() + " cannot set " + std::to_string(sm_count) +
                      " SMs apart: " + std::to_string(left * sms_per_unit_) +
                      " are left for green contexts, which take them in multiples of " +
                      std::to_string(sms_per_unit_) +
                      ". Ask for fewer, or drop another green context with its streams.");
    }
    std::vector<std::uint32_t> units;
    for (std::uint32_t unit = 0; units.size() < wanted; ++unit) {
      if (!taken_[unit]) {
        units.push_back(unit);
        taken_[unit] = true;
      }
    }
    return Taken(*this, std::move(units));
  }

 private:
  void give(std::span<const std::uint32_t> units) noexcept ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    for (const std::uint32_t unit : units) {
      taken_[unit] = false;
    }
  }

  const std::uint32_t sms_per_unit_;
  Mutex mutex_;
  std::vector<bool> taken_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weftline::cuda_streams
