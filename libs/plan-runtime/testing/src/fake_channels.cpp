// SPDX-License-Identifier: Apache-2.0
#include "weftline/testing/fake_channels.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "channel_bindings.hpp"
#include "parker.hpp"
#include "weftline/testing/bounded_wait.hpp"

namespace weftline::testing {

using runtime::ExportPort;
using runtime::ImportEvidence;
using runtime::ImportPort;
using runtime::Parker;

struct FakeSubscriber::Shared {
  mutable std::mutex mutex{};
  mutable std::condition_variable changed{};
  Parker* lane{nullptr};
  std::size_t body_bytes{0};
  bool attached{false};
  bool ended{false};
  std::uint64_t room{~std::uint64_t{0}};
  std::optional<Error> answer{};
  std::vector<Received> received{};

  void tell() {
    changed.notify_all();
    if (lane != nullptr) lane->wake();
  }
};

struct FakeProducer::Shared {
  struct Sent {
    std::vector<std::byte> body{};
    SampleMetadata metadata{};
  };
  struct Incarnation {
    std::uint64_t token{0};
    std::deque<Sent> queue{};
    bool ended{false};
    bool attached{true};
  };
  mutable std::mutex mutex{};
  Parker* lane{nullptr};
  std::vector<Incarnation> incarnations{};
  std::size_t current{0};
  std::uint32_t retained{0};
  std::uint32_t rebinds{0};
  std::optional<Error> rebind_failure{};
  std::optional<Error> take_failure{};

  void tell() {
    if (lane != nullptr) lane->wake();
  }
  Incarnation* accepted() {
    const bool there = current < incarnations.size() && incarnations[current].token != 0;
    return there ? &incarnations[current] : nullptr;
  }
};

namespace {

class ExportPortToFake final : public ExportPort {
 public:
  explicit ExportPortToFake(std::shared_ptr<FakeSubscriber::Shared> shared)
      : shared_(std::move(shared)) {}
  ~ExportPortToFake() override {
    const std::lock_guard lock(shared_->mutex);
    shared_->lane = nullptr;
  }

  void wake(Parker& lane) noexcept override {
    const std::lock_guard lock(shared_->mutex);
    shared_->lane = &lane;
  }
  bool has_room() const noexcept override {
    const std::lock_guard lock(shared_->mutex);
    const bool refuses = shared_->answer && shared_->answer->code == ErrorCode::kBackpressured;
    return !refuses && (!shared_->attached || shared_->room > 0);
  }
  std::uint32_t peer_count() const noexcept override {
    const std::lock_guard lock(shared_->mutex);
    return shared_->attached ? 1 : 0;
  }
  expected<std::uint32_t, Error> publish(const void* value,
                                         const SampleMetadata& metadata) noexcept override {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->answer) {
      Error error = *shared_->answer;
      if (!is_retryable(error.code)) shared_->answer.reset();
      return make_unexpected(std::move(error));
    }
    if (!shared_->attached) return 0U;
    if (shared_->room == 0) return fail(ErrorCode::kBackpressured, "FAKE_FULL");
    --shared_->room;
    const auto* bytes = static_cast<const std::byte*>(value);
    shared_->received.push_back({{bytes, bytes + shared_->body_bytes}, metadata});
    shared_->changed.notify_all();
    return 1U;
  }
  void close() noexcept override {
    const std::lock_guard lock(shared_->mutex);
    shared_->ended = true;
    shared_->changed.notify_all();
  }
  expected<void, Error> wait_for_peer(std::chrono::steady_clock::time_point deadline) override {
    std::unique_lock lock(shared_->mutex);
    if (shared_->changed.wait_until(lock, deadline, [this] { return shared_->attached; }))
      return {};
    return fail(ErrorCode::kTimeout, "FAKE_NO_PEER");
  }

 private:
  const std::shared_ptr<FakeSubscriber::Shared> shared_;
};

class ImportPortToFake final : public ImportPort {
 public:
  explicit ImportPortToFake(std::shared_ptr<FakeProducer::Shared> shared)
      : shared_(std::move(shared)) {}
  ~ImportPortToFake() override {
    const std::lock_guard lock(shared_->mutex);
    shared_->lane = nullptr;
  }

  void wake(Parker& lane) noexcept override {
    const std::lock_guard lock(shared_->mutex);
    shared_->lane = &lane;
  }
  expected<bool, Error> take(void* value, SampleMetadata& metadata) noexcept override {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->take_failure) return make_unexpected(*shared_->take_failure);
    auto* const producer = shared_->accepted();
    if (producer == nullptr || producer->queue.empty()) return false;
    const auto& sent = producer->queue.front();
    std::ranges::copy(sent.body, static_cast<std::byte*>(value));
    metadata = sent.metadata;
    producer->queue.pop_front();
    return true;
  }
  bool ended() noexcept override {
    const std::lock_guard lock(shared_->mutex);
    const auto* const producer = shared_->accepted();
    return producer != nullptr && producer->ended && producer->queue.empty();
  }
  ImportEvidence evidence() noexcept override {
    const std::lock_guard lock(shared_->mutex);
    const auto* const producer = shared_->accepted();
    if (producer == nullptr) return {};
    return {.token = producer->token,
            .ended = producer->ended,
            .peer_attached = producer->attached,
            .retained_claims = shared_->retained};
  }
  expected<void, Error> rebind() noexcept override {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->rebind_failure) return make_unexpected(*shared_->rebind_failure);
    ++shared_->rebinds;
    ++shared_->current;
    return {};
  }

 private:
  const std::shared_ptr<FakeProducer::Shared> shared_;
};

}  // namespace

FakeSubscriber::FakeSubscriber() : shared_(std::make_shared<Shared>()) {}
FakeSubscriber::~FakeSubscriber() = default;

void FakeSubscriber::attach() {
  const std::lock_guard lock(shared_->mutex);
  shared_->attached = true;
  shared_->tell();
}

void FakeSubscriber::leave() {
  const std::lock_guard lock(shared_->mutex);
  shared_->attached = false;
  shared_->tell();
}

void FakeSubscriber::accept_in_all(std::uint64_t samples) {
  const std::lock_guard lock(shared_->mutex);
  const std::uint64_t had = shared_->received.size();
  shared_->room = samples > had ? samples - had : 0;
  shared_->tell();
}

void FakeSubscriber::answer(std::optional<Error> error) {
  const std::lock_guard lock(shared_->mutex);
  shared_->answer = std::move(error);
  shared_->tell();
}

std::vector<FakeSubscriber::Received> FakeSubscriber::received() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->received;
}

bool FakeSubscriber::ended() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->ended;
}

bool FakeSubscriber::wait_for_end() const {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, kPatience, [this] { return shared_->ended; });
}

bool FakeSubscriber::wait_for_count(std::size_t count) const {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, kPatience,
                                   [&] { return shared_->received.size() >= count; });
}

FakeProducer::FakeProducer() : shared_(std::make_shared<Shared>()) {}
FakeProducer::~FakeProducer() = default;

void FakeProducer::attach(std::uint64_t token) {
  const std::lock_guard lock(shared_->mutex);
  shared_->incarnations.push_back({.token = token});
  shared_->tell();
}

void FakeProducer::send_bytes(std::vector<std::byte> body, const SampleMetadata& metadata) {
  const std::lock_guard lock(shared_->mutex);
  shared_->incarnations.back().queue.push_back({std::move(body), metadata});
  shared_->tell();
}

void FakeProducer::end() {
  const std::lock_guard lock(shared_->mutex);
  shared_->incarnations.back().ended = true;
  shared_->tell();
}

void FakeProducer::leave() {
  const std::lock_guard lock(shared_->mutex);
  shared_->incarnations.back().attached = false;
  shared_->tell();
}

void FakeProducer::retain(std::uint32_t claims) {
  const std::lock_guard lock(shared_->mutex);
  shared_->retained = claims;
}

void FakeProducer::fail_rebind(Error error) {
  const std::lock_guard lock(shared_->mutex);
  shared_->rebind_failure = std::move(error);
}

void FakeProducer::fail_take(Error error) {
  const std::lock_guard lock(shared_->mutex);
  shared_->take_failure = std::move(error);
  shared_->tell();
}

std::uint32_t FakeProducer::rebinds() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->rebinds;
}

std::size_t FakeProducer::unread() const {
  const std::lock_guard lock(shared_->mutex);
  std::size_t count = 0;
  for (const auto& incarnation : shared_->incarnations) count += incarnation.queue.size();
  return count;
}

struct FakeChannels::Impl final : runtime::ChannelBindings {
  std::mutex mutex{};
  std::map<std::string, std::unique_ptr<FakeSubscriber>> subscribers{};
  std::map<std::string, std::unique_ptr<FakeProducer>> producers{};

  template <class Peer>
  Peer& peer(std::map<std::string, std::unique_ptr<Peer>>& peers, const std::string& name) {
    const std::lock_guard lock(mutex);
    auto& found = peers[name];
    if (!found) found = std::make_unique<Peer>();
    return *found;
  }
  expected<std::unique_ptr<ExportPort>, Error> open_export(
      const EndpointRecord& endpoint) override {
    const auto& shared = peer(subscribers, endpoint.name).shared();
    shared->body_bytes = endpoint.payload.size;
    return std::make_unique<ExportPortToFake>(shared);
  }
  expected<std::unique_ptr<ImportPort>, Error> open_import(
      const EndpointRecord& endpoint) override {
    return std::make_unique<ImportPortToFake>(peer(producers, endpoint.name).shared());
  }
};

FakeChannels::FakeChannels() : impl_(std::make_unique<Impl>()) {}
FakeChannels::~FakeChannels() = default;

FakeSubscriber& FakeChannels::subscriber(const std::string& endpoint) {
  return impl_->peer(impl_->subscribers, endpoint);
}

FakeProducer& FakeChannels::producer(const std::string& endpoint) {
  return impl_->peer(impl_->producers, endpoint);
}

runtime::ChannelBindings& FakeChannels::bindings() noexcept { return *impl_; }

RunSession FakeChannels::run_async(const ExecutionPlan& plan, const RunOptions& options) {
  return runtime::run_async_bound(plan, options, *impl_);
}

}  // namespace weftline::testing
