// SPDX-License-Identifier: Apache-2.0
#include "import_runtime.hpp"

#include <algorithm>
#include <utility>

namespace weftline::runtime {

ImportRuntime::ImportRuntime(Options options, std::unique_ptr<ImportPort> port, RunControl& control)
    : options_(std::move(options)),
      port_(std::move(port)),
      control_(control),
      value_(static_cast<std::byte*>(
                 ::operator new[](options_.ops->size, std::align_val_t{options_.ops->alignment})),
             FreeAligned{std::align_val_t{options_.ops->alignment}}) {}

bool ImportRuntime::all_have_room() noexcept {
  bool room = true;
  // Each is asked, so that each that is full wakes this lane.
  for (EdgeQueue* queue : queues_) room = queue->has_room(1) && room;
  return room;
}

bool ImportRuntime::move_one() noexcept {
  SampleMetadata metadata;
  auto taken = port_->take(value_.get(), metadata);
  if (!taken) {
    control_.fail("endpoint " + options_.name, std::move(taken).error());
    return false;
  }
  if (!*taken) return false;
  for (std::size_t index = 0; index < queues_.size(); ++index) {
    queues_[index]->push(value_.get(), index + 1 == queues_.size(),
                         [&]() noexcept { return metadata; });
  }
  options_.ops->destroy(value_.get());
  received_.add();
  return true;
}

bool ImportRuntime::step() noexcept {
  if (state() != ImportState::kOpen) return false;
  // Operators that have finished on their own accord need nothing, and an import is not what keeps
  // a run alive.
  if (std::ranges::all_of(queues_, [](const EdgeQueue* queue) { return queue->abandoned(); })) {
    close_queues();
    return true;
  }
  std::uint32_t moved = 0;
  while (moved < options_.burst) {
    if (!all_have_room()) return moved > 0;
    if (!move_one()) break;
    ++moved;
  }
  if (moved > 0) return true;
  if (!port_->ended()) return false;
  if (options_.replaceable &&
      generation_.load(std::memory_order_relaxed) < options_.generation_capacity) {
    state_.store(ImportState::kFenced, std::memory_order_relaxed);
  } else {
    close_queues();
  }
  return true;
}

void ImportRuntime::close_queues() noexcept {
  for (EdgeQueue* queue : queues_) queue->close();
  state_.store(ImportState::kEnded, std::memory_order_relaxed);
}

expected<void, Error> ImportRuntime::check_rebind() noexcept {
  const auto refuse = [&](ErrorCode code, std::string_view token, const std::string& why) {
    return fail(code, token, "endpoint " + options_.name + ": " + why);
  };
  if (options_.generation_capacity < 2) {
    return refuse(ErrorCode::kNotSupported, "IMPORT_REBIND_NOT_ADMITTED",
                  "the plan admits one incarnation of its producer; set "
                  "TopicOptions::restart.allow_external_restart");
  }
  const std::uint32_t used = generation_.load(std::memory_order_relaxed);
  if (used >= options_.generation_capacity) {
    return refuse(ErrorCode::kResourceExhausted, "IMPORT_GENERATIONS_SPENT",
                  "this run has had all " + std::to_string(used) +
                      " incarnations of its producer; raise generation_capacity");
  }
  const ImportEvidence evidence = port_->evidence();
  if (evidence.token == 0) {
    return refuse(ErrorCode::kNotSupported, "IMPORT_TOKEN_MISSING",
                  "no incarnation of its producer was accepted yet, so none can be replaced");
  }
  if (!evidence.ended) {
    if (evidence.peer_attached) {
      return refuse(ErrorCode::kBackpressured, "IMPORT_PEER_LIVE",
                    "its producer is attached and has not ended its stream");
    }
    return refuse(ErrorCode::kNotSupported, "IMPORT_END_MISSING",
                  "its producer left without ending its stream: what follows could be mixed with "
                  "what it sent; producers call close()");
  }
  if (evidence.peer_attached) {
    return refuse(ErrorCode::kBackpressured, "IMPORT_PEER_LIVE",
                  "its producer has ended its stream and is still attached");
  }
  const bool queued =
      state() != ImportState::kFenced || std::ranges::any_of(queues_, [](EdgeQueue* queue) {
        return !queue->abandoned() && static_cast<bool>(queue->front());
      });
  if (queued || evidence.retained_claims > 0) {
    return refuse(ErrorCode::kBackpressured, "IMPORT_CLAIM_RETAINED",
                  queued ? "samples of the incarnation that ended are still queued"
                         : std::to_string(evidence.retained_claims) +
                               " samples of the incarnation that ended are still held");
  }
  return {};
}

expected<void, Error> ImportRuntime::rebind() noexcept {
  WEFTLINE_TRY(port_->rebind());
  generation_.store(generation_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  state_.store(ImportState::kOpen, std::memory_order_relaxed);
  return {};
}

}  // namespace weftline::runtime
