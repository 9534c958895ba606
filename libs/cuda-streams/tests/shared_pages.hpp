// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>

namespace weftline::testing {

/// Pages of the program's own, as a channel maps them.
class SharedPages {
 public:
  static constexpr std::size_t kBytes = 1 << 16;
  SharedPages()
      : data_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(data_ != MAP_FAILED);
  }
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;
  ~SharedPages() { munmap(data_, kBytes); }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_;
};

}  // namespace weftline::testing
