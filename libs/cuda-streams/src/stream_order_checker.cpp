// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/stream_order_checker.hpp"

#include <cstdlib>
#include <utility>

#include "order_model.hpp"

namespace weftline {

using namespace cuda_streams;

StreamOrderChecker::StreamOrderChecker(OnReport on_report)
    : model_(std::make_unique<OrderModel>(on_report)) {}

StreamOrderChecker::~StreamOrderChecker() = default;

const std::shared_ptr<StreamOrderChecker>& StreamOrderChecker::of_environment() {
  // Never destroyed: devices of static objects may outlive it.
  static const auto& checker = *new auto([]() -> std::shared_ptr<StreamOrderChecker> {
    const char* const wanted = std::getenv("WEFTLINE_STREAM_ORDER");
    const std::string_view how = wanted != nullptr ? wanted : "";
    if (how == "print") {
      return std::make_shared<StreamOrderChecker>(OnReport::kPrint);
    }
    if (how == "abort") {
      return std::make_shared<StreamOrderChecker>(OnReport::kAbort);
    }
    return nullptr;
  }());
  return checker;
}

std::vector<StreamOrderReport> StreamOrderChecker::take_reports() { return model_->take_reports(); }

std::uint64_t StreamOrderChecker::report_count() const noexcept { return model_->report_count(); }

void StreamOrderChecker::name_memory(const void* begin, std::uint64_t bytes, std::string name) {
  model_->name_memory(begin, bytes, std::move(name));
}

void StreamOrderChecker::begin_use(const void* owner, StreamRef stream, MemoryUse use,
                                   MemoryAccess bytes, std::string_view operation) noexcept {
  model_->begin_use(owner, stream, use, bytes, operation);
}

void StreamOrderChecker::end_uses(const void* owner) noexcept { model_->end_uses(owner); }

StreamOrderActivity::StreamOrderActivity(std::string_view activity) noexcept
    : outer_(std::exchange(activity_of_this_thread(), activity)) {}

StreamOrderActivity::~StreamOrderActivity() { activity_of_this_thread() = outer_; }

}  // namespace weftline
