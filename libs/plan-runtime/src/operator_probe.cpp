// SPDX-License-Identifier: Apache-2.0
#include "operator_probe.hpp"

#include <utility>

#include "weftline/core/time.hpp"

namespace weftline::runtime {
namespace {

// Not the graph's clock: that one may stand still, or be driven.
std::int64_t now_ns() noexcept { return RealtimeClock{}.now_ns(); }

}  // namespace

OperatorProbe::OperatorProbe(Options options)
    : vertex_(options.vertex),
      stream_(options.stream),
      trace_(options.trace),
      latencies_(std::move(options.latencies)),
      nvtx_(std::move(options.nvtx)),
      returns_(options.outputs) {}

void OperatorProbe::note(TraceEventKind kind, std::uint32_t port, std::int64_t begin_ns,
                         std::int64_t end_ns, std::uint64_t value) noexcept {
  if (trace_ == nullptr) return;
  trace_->record({.kind = kind,
                  .port = port,
                  .vertex = vertex_,
                  .begin_ns = begin_ns,
                  .end_ns = end_ns,
                  .value = value});
}

void OperatorProbe::note(TraceEventKind kind, std::uint32_t port, std::uint64_t value) noexcept {
  if (trace_ == nullptr) return;
  const std::int64_t now = now_ns();
  note(kind, port, now, now, value);
}

void OperatorProbe::begin() noexcept {
  if (nvtx_) nvtx::begin(nvtx_->compute);
  if (trace_ == nullptr && !latencies_) return;
  begin_ns_ = now_ns();
  // Whoever selects nothing with an origin is one.
  stamp_ = {.origin_ns = begin_ns_, .origin = vertex_};
}

void OperatorProbe::receive(std::uint32_t input, std::uint64_t sequence,
                            const FlowStamp* stamp) noexcept {
  if (nvtx_) nvtx::mark(nvtx_->inputs[input]);
  note(TraceEventKind::kReceive, input, begin_ns_, begin_ns_, sequence);
  if (stamp == nullptr || !stamp->origin.valid()) return;
  latencies_->inputs[input]->record(begin_ns_ - stamp->published_ns);
  if (stamp->origin_ns >= stamp_.origin_ns) return;
  stamp_.origin_ns = stamp->origin_ns;
  stamp_.origin = stamp->origin;
}

std::int64_t OperatorProbe::begin_prepare(const Tensor& tensor) const noexcept {
  return trace_ != nullptr && tensor.fenced() ? now_ns() : 0;
}

void OperatorProbe::end_prepare(std::uint32_t input, StreamRef stream,
                                std::int64_t began_ns) noexcept {
  if (began_ns == 0) return;
  if (stream) {
    note(TraceEventKind::kFenceWait, input, began_ns, began_ns, stream_.value);
  } else {
    note(TraceEventKind::kHostWait, input, began_ns, now_ns(), 0);
  }
}

const FlowStamp* OperatorProbe::emit(std::uint32_t output, std::uint64_t sequence) noexcept {
  if (nvtx_) nvtx::mark(nvtx_->outputs[output]);
  if (trace_ == nullptr && !latencies_) return nullptr;
  stamp_.published_ns = now_ns();
  note(TraceEventKind::kEmit, output, stamp_.published_ns, stamp_.published_ns, sequence);
  return latencies_ ? &stamp_ : nullptr;
}

void OperatorProbe::commit(std::uint32_t output, const Tensor& tensor) noexcept {
  if (tensor.fenced()) note(TraceEventKind::kFenceRecord, output, stream_.value);
}

void OperatorProbe::returns(std::uint32_t output, std::uint64_t total) noexcept {
  const std::uint64_t seen = std::exchange(returns_[output], total);
  if (total > seen) note(TraceEventKind::kRetirement, output, total - seen);
}

void OperatorProbe::end() noexcept {
  if (nvtx_) nvtx::end();
  if (trace_ == nullptr && !latencies_) return;
  const std::int64_t now = now_ns();
  note(TraceEventKind::kActivation, 0, begin_ns_, now, 0);
  if (!latencies_) return;
  latencies_->compute.record(now - begin_ns_);
  if (latencies_->from_sources.empty()) return;
  LatencyHistogram* const path = latencies_->from_sources[stamp_.origin.value].get();
  if (path != nullptr) path->record(now - stamp_.origin_ns);
}

}  // namespace weftline::runtime
