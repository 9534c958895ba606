// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "weftline/compile/compile.hpp"
#include "weftline/cuda/launch.hpp"

// Operators of random runs. Every value says which output it comes from and which sample it is, so
// that each consumer can tell a lost, doubled, reordered or foreign one.

namespace weftline::stress {

inline constexpr DLDataType kU64{kDLUInt, 64, 1};
inline constexpr std::int64_t kCount = 16;
inline constexpr std::array<std::int64_t, 1> kShape{kCount};

/// What sample `sequence` of the output numbered `output` carries.
constexpr std::uint64_t value_of(std::uint32_t output, std::uint64_t sequence) noexcept {
  return (std::uint64_t{output} << 40U) ^ (sequence * 0x9e37'79b9U);
}

/// What an operator does besides its work, at its `at`-th activation.
enum class Fault : std::uint8_t { kNone, kError, kThrow, kSuccess };

/// What the test reads when a run is over, and what its operators share. One per operator; its lane
/// writes it.
struct Ledger {
  std::uint64_t activations{0};
  std::uint64_t emitted{0};
  std::array<std::uint64_t, 4> received{};  ///< By input.
  bool fault_reached{false};
  bool closed_early{false};  ///< What comes in from now on is discarded.
  std::atomic<std::uint64_t> wrong_on_device{0};
};

/// Tensors that outlive their run.
class Shelf {
 public:
  void keep(Tensor tensor) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(std::move(tensor));
  }
  std::vector<Tensor> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(kept_, {});
  }

 private:
  std::mutex mutex_{};
  std::vector<Tensor> kept_{};
};

/// One input as its consumer knows it.
struct InputRole {
  std::uint32_t producer_output{0};
  bool lossless{false};  ///< Each sample arrives: nothing on the way may drop one.
};

/// How one operator of a random run behaves; a value, for the factory copies it.
struct Role {
  std::uint32_t output{0};  ///< The number that its samples carry.
  std::vector<InputRole> inputs{};
  std::chrono::nanoseconds period{0};  ///< Of a source.
  std::uint64_t count{0};              ///< Samples of a source; 0: for ever.
  bool captures_now{false};  ///< A source's samples are captured as they are sent, else 1 us apart.
  Fault fault{Fault::kNone};
  std::uint64_t fault_at{0};
  std::uint32_t slow_one_in{0};    ///< Sleeps at one activation in so many; 0: never.
  std::uint32_t silent_one_in{0};  ///< Emits nothing at one activation in so many; 0: never.
  std::uint64_t closes_at{0};      ///< Closes its output at this activation; 0: never.
  std::uint32_t retained{0};       ///< Received tensors kept from activation to activation.
  bool shelves{false};             ///< Keeps its last tensor beyond the run.
  std::uint32_t seed{0};
  std::shared_ptr<Ledger> ledger{};
  std::shared_ptr<Shelf> shelf{};
};

/// What all random operators have in common.
class Actor {
 public:
  explicit Actor(Role role) : role_(std::move(role)), random_(role_.seed) {
    next_.resize(role_.inputs.size());
  }

 protected:
  [[nodiscard]] bool one_in(std::uint32_t count) { return count != 0 && random_() % count == 0; }

  /// At the begin of compute().
  expected<void, Error> act(ExecutionContext& context) {
    const std::uint64_t now = role_.ledger->activations++;
    if (one_in(role_.slow_one_in)) {
      std::this_thread::sleep_for(std::chrono::microseconds(random_() % 200));
    }
    if (role_.fault == Fault::kNone || now != role_.fault_at) return {};
    role_.ledger->fault_reached = true;
    if (role_.fault == Fault::kThrow) throw std::runtime_error("planned");
    if (role_.fault == Fault::kError) return fail(ErrorCode::kFailure, "STRESS_PLANNED");
    context.request_success();
    return {};
  }

  [[nodiscard]] TimePoint capture_time(const ExecutionContext& context) const {
    if (role_.captures_now) return context.clock().now();
    return context.clock().at_ns(static_cast<std::int64_t>(role_.ledger->emitted) * 1'000);
  }

  /// Whether a sample that came in at `input` carries what its producer sends.
  expected<void, Error> check_value(std::size_t input, std::uint64_t value,
                                    const SampleMetadata& metadata) const {
    const std::uint32_t output = role_.inputs[input].producer_output;
    if (value == value_of(output, metadata.sequence)) return {};
    return fail(ErrorCode::kFailure, "STRESS_VALUE_WRONG",
                "input " + std::to_string(input) + " received sample " +
                    std::to_string(metadata.sequence) + " of output " + std::to_string(output) +
                    " with value " + std::to_string(value));
  }

  /// The same, where samples come one by one, and that none came before it that had to come later.
  expected<void, Error> check(std::size_t input, std::uint64_t value,
                              const SampleMetadata& metadata) {
    WEFTLINE_TRY(check_value(input, value, metadata));
    const std::uint64_t sequence = metadata.sequence;
    const bool lossless = role_.inputs[input].lossless;
    if (lossless ? sequence != next_[input] : sequence < next_[input]) {
      return fail(ErrorCode::kFailure, "STRESS_SAMPLE_WRONG",
                  "input " + std::to_string(input) + " received sample " +
                      std::to_string(sequence) + " where sample " + std::to_string(next_[input]) +
                      (lossless ? "" : " or a later one") + " was due");
    }
    next_[input] = sequence + 1;
    ++role_.ledger->received[input];
    return {};
  }

  Role role_;
  std::mt19937 random_;

 private:
  std::vector<std::uint64_t> next_{};
};

class ScalarSource final : public Operator<>, private Actor {
 public:
  explicit ScalarSource(Role role) : Actor(std::move(role)) {}
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
  [[nodiscard]] Contract contract() const override {
    return Contract().trigger(OnClock{role_.period});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_TRY(act(context));
    std::uint64_t& next = role_.ledger->emitted;
    if (role_.count != 0 && next == role_.count) return out.close();
    auto emitted = out.emit(value_of(role_.output, next), {.capture_time = capture_time(context)});
    if (emitted) ++next;
    return emitted || is_retryable(emitted.error().code) ? expected<void, Error>{} : emitted;
  }
};

/// One scalar for each activation, of what its trigger selected.
class ScalarRelay final : public Operator<>, private Actor {
 public:
  enum class When : std::uint8_t { kEach, kAny, kAligned };
  ScalarRelay(Role role, When when) : Actor(std::move(role)), when_(when) {}
  std::array<Input<std::uint64_t>, 3> in;
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override {
    for (std::size_t input = 0; input < role_.inputs.size(); ++input) {
      spec.input(in[input], "in-" + std::to_string(input));
    }
    spec.output(out, "out");
  }
  [[nodiscard]] Contract contract() const override {
    if (when_ == When::kEach) return Contract().trigger(OnEach{in[0]});
    if (when_ == When::kAny) return Contract().trigger(OnAnyInput{});
    OnAligned aligned;
    for (std::size_t input = 0; input < role_.inputs.size(); ++input) {
      aligned.inputs.emplace_back(in[input]);
    }
    return Contract().trigger(std::move(aligned));
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_TRY(act(context));
    EmitOptions options;
    for (std::size_t input = 0; input < role_.inputs.size(); ++input) {
      if (in[input].is_missing()) continue;
      WEFTLINE_ASSIGN(const auto sample, in[input].receive());
      WEFTLINE_TRY(check(input, sample.data, sample.metadata));
      options.capture_time = sample.metadata.capture;
    }
    if (role_.closes_at != 0 && role_.ledger->activations == role_.closes_at) {
      role_.ledger->closed_early = true;
      return out.close();
    }
    if (one_in(role_.silent_one_in)) return {};
    std::uint64_t& next = role_.ledger->emitted;
    return out.emit(value_of(role_.output, next++), options);
  }

 private:
  const When when_;
};

class ScalarSink final : public Operator<>, private Actor {
 public:
  explicit ScalarSink(Role role) : Actor(std::move(role)) {}
  Input<std::uint64_t> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_TRY(act(context));
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    return check(0, sample.data, sample.metadata);
  }
};

inline TensorOutputSpec pool_in(MemoryKind kind) {
  return {.representation = {.memory_kind = kind, .dtype = kU64, .rank = 1},
          .bounds = tensor_bounds(kCount * 8),
          .storage = TensorOutputStorage::kRuntimePool};
}

inline constexpr auto kNoCuda = [](CUstream_st*) -> expected<void, Error> { return {}; };

/// Writes a pattern into a loan, in the order of the stream where there is one; from `source`'s
/// bytes if given.
inline expected<void, Error> write_pattern(TensorOutputLoan& loan, StreamRef stream,
                                           std::uint64_t value, const Tensor& source = {}) {
  return loan.write_and_commit(stream, [&](void* data, std::uint64_t bytes) {
    const MemoryAccess read{source.data(), source.byte_size()};
    const MemoryAccess write{data, bytes};
    return launch(
        stream, {&read, source ? 1U : 0U}, {&write, 1},
        [data, value, from = source.data_as<std::uint64_t>()] {
          auto* const to = static_cast<std::uint64_t*>(data);
          // What was read takes part in what is written, and leaves it as it is.
          for (std::int64_t i = 0; i < kCount; ++i) {
            to[i] = from == nullptr ? value : value + (from[i] - from[0]);
          }
        },
        kNoCuda);
  });
}

class TensorSource final : public Operator<>, private Actor {
 public:
  TensorSource(Role role, MemoryKind kind) : Actor(std::move(role)), kind_(kind) {}
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.output(out, "out").produces_tensor(pool_in(kind_));
  }
  [[nodiscard]] Contract contract() const override {
    return Contract().trigger(OnClock{role_.period});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_TRY(act(context));
    std::uint64_t& next = role_.ledger->emitted;
    if (role_.count != 0 && next == role_.count) return out.close();
    if (!loan_) {
      auto loan = out.allocate_tensor({.shape = kShape, .dtype = kU64});
      if (!loan) {
        const bool none_free = loan.error().code == ErrorCode::kResourceExhausted;
        return none_free ? expected<void, Error>{} : forward_error(std::move(loan));
      }
      const StreamRef stream = kind_ == MemoryKind::kHost ? StreamRef{} : context.cuda_stream();
      WEFTLINE_TRY(write_pattern(*loan, stream, value_of(role_.output, next)));
      loan_.emplace(std::move(*loan));
    }
    auto emitted = out.emit(std::move(*loan_), {.capture_time = capture_time(context)});
    if (!emitted && is_retryable(emitted.error().code)) return {};
    loan_.reset();
    if (emitted) ++next;
    return emitted;
  }

 private:
  const MemoryKind kind_;
  std::optional<TensorOutputLoan> loan_{};
};

/// What all that receives tensors does with them.
class TensorActor : protected Actor {
 public:
  explicit TensorActor(Role role) : Actor(std::move(role)) {}
  /// Where the last tensor goes on the lane's thread, as the instance is destroyed.
  ~TensorActor() {
    if (role_.shelves && !held_.empty()) role_.shelf->keep(std::move(held_.back()));
  }
  TensorActor(const TensorActor&) = delete;
  TensorActor& operator=(const TensorActor&) = delete;

 protected:
  /// Reads every word, in the order of the stream where there is one.
  expected<void, Error> read_words(std::size_t input, const Tensor& tensor,
                                   const SampleMetadata& metadata, StreamRef stream) {
    const std::uint64_t wanted = value_of(role_.inputs[input].producer_output, metadata.sequence);
    if (tensor.mutable_data()) return fail(ErrorCode::kFailure, "STRESS_TENSOR_WRITABLE");
    // Handed on as a tensor of any kind: this operator has no stream, and no way to these bytes.
    if (!stream && tensor.memory_kind() == MemoryKind::kCudaDevice) return {};
    if (tensor.memory_kind() == MemoryKind::kHost || one_in(4)) {
      std::array<std::uint64_t, kCount> copied{};
      WEFTLINE_TRY(tensor.copy_to_host(copied.data(), sizeof copied, stream));
      for (const std::uint64_t word : copied) WEFTLINE_TRY(check_value(input, word, metadata));
      return {};
    }
    const MemoryAccess bytes{tensor.data(), tensor.byte_size()};
    return launch(
        stream, {&bytes, 1}, {},
        [words = tensor.data_as<std::uint64_t>(), wanted, ledger = role_.ledger.get()] {
          for (std::int64_t i = 0; i < kCount; ++i) {
            if (words[i] != wanted) ledger->wrong_on_device.fetch_add(1);
          }
        },
        kNoCuda);
  }

  expected<void, Error> read(std::size_t input, const Sample<Tensor>& sample, StreamRef stream) {
    WEFTLINE_TRY(read_words(input, sample.data, sample.metadata, stream));
    WEFTLINE_TRY(check(input,
                       value_of(role_.inputs[input].producer_output, sample.metadata.sequence),
                       sample.metadata));
    if (role_.retained > 0) {
      held_.push_back(sample.data);
      if (held_.size() > role_.retained) held_.pop_front();
    }
    return {};
  }

 private:
  std::deque<Tensor> held_{};
};

/// A tensor of its own for each that it receives, or the same one on.
class TensorRelay final : public Operator<>, private TensorActor {
 public:
  TensorRelay(Role role, std::optional<MemoryKind> pool)
      : TensorActor(std::move(role)), pool_(pool) {}
  Input<Tensor> in;
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in").retains(role_.retained);
    auto output = spec.output(out, "out");
    if (pool_) output.produces_tensor(pool_in(*pool_));
  }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_TRY(act(context));
    WEFTLINE_ASSIGN(auto sample, in.receive());
    WEFTLINE_TRY(read(0, sample, context.cuda_stream()));
    std::uint64_t& next = role_.ledger->emitted;
    const EmitOptions options{.capture_time = sample.metadata.capture};
    if (!pool_) {  // goes on by its source's number: the roles say which
      ++next;
      return out.emit(std::move(sample.data), options);
    }
    if (one_in(role_.silent_one_in)) return {};
    WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = kShape, .dtype = kU64}));
    const StreamRef stream = *pool_ == MemoryKind::kHost ? StreamRef{} : context.cuda_stream();
    // Device work may read only what its handle keeps until the stream has passed.
    const bool readable = stream && sample.data.memory_kind() != MemoryKind::kHost;
    WEFTLINE_TRY(write_pattern(loan, stream, value_of(role_.output, next++),
                               readable ? sample.data : Tensor{}));
    return out.emit(std::move(loan), options);
  }

 private:
  const std::optional<MemoryKind> pool_;
};

class TensorSink final : public Operator<>, private TensorActor {
 public:
  explicit TensorSink(Role role) : TensorActor(std::move(role)) {}
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in").retains(role_.retained); }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_TRY(act(context));
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    return read(0, sample, context.cuda_stream());
  }
};

}  // namespace weftline::stress
