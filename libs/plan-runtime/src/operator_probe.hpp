// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "flow_stamp.hpp"
#include "nvtx_ranges.hpp"
#include "trace_ring.hpp"
#include "weftline/cuda/stream_ref.hpp"
#include "weftline/runtime/latency_histogram.hpp"
#include "weftline/tensor/tensor.hpp"

namespace weftline::runtime {

/// What one operator's activations leave behind beside counters: latencies, trace events, NVTX
/// ranges. Only operators of a run that asks for any of them have one. Everything but the
/// histograms, which anyone may read, belongs to the operator's lane. Allocates nothing after it
/// was made.
class OperatorProbe {
 public:
  /// Histograms of one operator; all made before the run.
  struct Latencies {
    LatencyHistogram compute{};
    /// By input: from the emit to the activation that took the sample.
    std::vector<std::unique_ptr<LatencyHistogram>> inputs{};
    /// By the vertex that a sample came from in the first place, to the end of this operator's
    /// compute(). Empty where the graph goes on; null for vertices that are no source of it.
    std::vector<std::unique_ptr<LatencyHistogram>> from_sources{};
  };
  struct NvtxNames {
    nvtx::Name compute{nullptr};
    std::vector<nvtx::Name> inputs{};
    std::vector<nvtx::Name> outputs{};
  };
  struct Options {
    VertexId vertex{};
    StreamPlanId stream{};
    std::size_t outputs{0};
    TraceRing* trace{nullptr};
    std::unique_ptr<Latencies> latencies{};
    std::unique_ptr<NvtxNames> nvtx{};
  };
  explicit OperatorProbe(Options options);

  // In the order of an activation.

  void begin() noexcept;
  /// It is the first with that generation of the operator's parameters.
  void take_params(std::uint64_t generation) noexcept {
    note(TraceEventKind::kParams, 0, generation);
  }
  /// The activation takes a sample. `stamp` is null unless the run keeps latencies.
  void receive(std::uint32_t input, std::uint64_t sequence, const FlowStamp* stamp) noexcept;
  /// Around Tensor::prepare_for_consumer(); the second with what the first returned.
  [[nodiscard]] std::int64_t begin_prepare(const Tensor& tensor) const noexcept;
  void end_prepare(std::uint32_t input, StreamRef stream, std::int64_t began_ns) noexcept;
  /// A sample leaves by an output; null unless the run keeps latencies. Valid until the next emit.
  const FlowStamp* emit(std::uint32_t output, std::uint64_t sequence) noexcept;
  /// The tensor that is emitted was committed on a stream.
  void commit(std::uint32_t output, const Tensor& tensor) noexcept;
  /// So many slots of the output's pool have come back in all.
  void returns(std::uint32_t output, std::uint64_t total) noexcept;
  void end() noexcept;

  /// Any thread; null unless the run keeps latencies.
  [[nodiscard]] const Latencies* latencies() const noexcept { return latencies_.get(); }

 private:
  void note(TraceEventKind kind, std::uint32_t port, std::int64_t begin_ns, std::int64_t end_ns,
            std::uint64_t value) noexcept;
  void note(TraceEventKind kind, std::uint32_t port, std::uint64_t value) noexcept;

  const VertexId vertex_;
  const StreamPlanId stream_;
  TraceRing* const trace_;
  const std::unique_ptr<Latencies> latencies_;
  const std::unique_ptr<NvtxNames> nvtx_;
  std::int64_t begin_ns_{0};
  FlowStamp stamp_{};  ///< Of the running activation; `published_ns` of its last emit.
  std::vector<std::uint64_t> returns_;  ///< By output: slots that had come back at the last look.
};

}  // namespace weftline::runtime
