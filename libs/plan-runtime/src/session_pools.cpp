// SPDX-License-Identifier: Apache-2.0
#include "session_pools.hpp"

#include "fusion_proof.hpp"

namespace weftline::runtime {

expected<void, Error> make_pools(SessionBuild& build) {
  SessionResources& session = build.resources;
  for (const auto& record : build.plan().tensor_allocations()) {
    TensorPoolOptions pool;
    pool.name = build.plan().records().output_name(record.output);
    WEFTLINE_TRY(build.at("pool of " + pool.name));
    pool.memory_kind = record.memory_kind;
    if (record.device) pool.device = session.devices.at(*record.device);
    pool.slot_bytes = record.slot_bytes;
    pool.slot_count = record.slot_count;
    pool.max_rank = record.max_rank;
    pool.max_release_streams = record.max_release_streams;
    if (record.fused_stream.valid()) {
      WEFTLINE_TRY(check_fusion_proof(build.plan().records(), record));
      pool.fused_stream = (*session.streams)[record.fused_stream.value].ref();
    }
    const ArmNumbers::Range arms = session.arms.arms_of(build.plan().records(), record.output);
    pool.first_arm = arms.first;
    pool.arm_count = arms.count;
    pool.keep_alive = session.streams;
    WEFTLINE_ASSIGN(TensorPool built, TensorPool::build(pool));
    session.pools.push_back(std::make_unique<TensorPool>(std::move(built)));
  }
  return {};
}

void drop_pools(SessionResources& resources) noexcept { pop_all(resources.pools); }

}  // namespace weftline::runtime
