// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/memory_kind.hpp"

#include <catch2/catch_test_macros.hpp>

namespace weftline {
namespace {

TEST_CASE("memory kinds and their names map to each other") {
  for (int i = 0; i <= static_cast<int>(MemoryKind::kCudaManaged); ++i) {
    const auto kind = static_cast<MemoryKind>(i);
    CHECK(memory_kind_from_name(memory_kind_name(kind)) == kind);
  }
  CHECK(memory_kind_name(MemoryKind::kPinnedHost) == "pinned_host");
}

TEST_CASE("a name or value that is no memory kind is not taken for one") {
  CHECK_FALSE(memory_kind_from_name("").has_value());
  CHECK_FALSE(memory_kind_from_name("Host").has_value());
  CHECK_FALSE(memory_kind_from_name("cuda").has_value());
  CHECK(memory_kind_name(static_cast<MemoryKind>(99)) == "unknown");
}

static_assert(is_host_accessible(MemoryKind::kHost) && !is_device_resident(MemoryKind::kHost));
static_assert(!is_host_accessible(MemoryKind::kCudaDevice));
static_assert(is_host_accessible(MemoryKind::kCudaManaged));
static_assert(is_device_resident(MemoryKind::kCudaManaged));
static_assert(!is_host_accessible(MemoryKind::kUnknown));

}  // namespace
}  // namespace weftline
