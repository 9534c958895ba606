// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/host_task.hpp"

#include "order_model.hpp"

namespace weftline {
namespace {

constinit thread_local bool runs_host_task = false;

}  // namespace

void HostTask::operator()() noexcept {
  const bool outer = std::exchange(runs_host_task, true);  // a task may run another at once
  if (watch_.model != nullptr) {
    watch_.model->task_runs(watch_.ticket);
  }
  invoke_(storage_);
  runs_host_task = outer;
}

bool in_host_task() noexcept { return runs_host_task; }

}  // namespace weftline
