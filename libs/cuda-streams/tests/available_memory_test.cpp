// SPDX-License-Identifier: Apache-2.0
#include "available_memory.hpp"

#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <limits>
#include <string>

#include "weftline/testing/temporary_folder.hpp"

namespace weftline::cuda_streams {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMebibyte = std::uint64_t{1024} * 1024;
constexpr std::uint64_t kEverything = std::numeric_limits<std::uint64_t>::max();

/// A folder that looks like a machine's /proc and /sys.
class FakeRoot {
 public:
  FakeRoot() {
    write("proc/meminfo", "MemTotal:  9000 kB\nMemFree:  10 kB\nMemAvailable:    8192 kB\n");
  }

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text;
  }
  [[nodiscard]] std::uint64_t available(std::uint64_t enough = kEverything) const {
    return available_host_memory(enough, folder_.path());
  }

 private:
  const testing::TemporaryFolder folder_{};
};

}  // namespace

TEST_CASE("without a cgroup the kernel's own estimate is what is available") {
  const FakeRoot root;
  CHECK(root.available() == 8 * kMebibyte);
  root.write("proc/self/cgroup", "0::/\n7:cpu:/x\nnonsense\n:\n");
  CHECK(root.available() == 8 * kMebibyte);
}

TEST_CASE("a cgroup's limit less its use counts, whichever group above the process has it") {
  const FakeRoot root;
  root.write("proc/self/cgroup", "0::/outer/inner\n");
  root.write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  root.write("sys/fs/cgroup/outer/inner/memory.current", "1\n");
  CHECK(root.available() == 8 * kMebibyte);
  root.write("sys/fs/cgroup/outer/memory.max", "5242880\n");
  root.write("sys/fs/cgroup/outer/memory.current", "1048576\n");
  CHECK(root.available() == 4 * kMebibyte);
  root.write("sys/fs/cgroup/memory.max", "3145728\n");
  root.write("sys/fs/cgroup/memory.current", "1048576\n");
  CHECK(root.available() == 2 * kMebibyte);
  root.write("sys/fs/cgroup/memory.current", "4194304\n");  // more than the limit
  CHECK(root.available() == 0);
}

TEST_CASE("file cache that the kernel can drop is not in the way") {
  const FakeRoot root;
  root.write("proc/self/cgroup", "0::/\n");
  root.write("sys/fs/cgroup/memory.max", "4194304\n");
  root.write("sys/fs/cgroup/memory.current", "4194304\n");
  root.write("sys/fs/cgroup/memory.stat", "anon 1048576\ninactive_file 3145728\nfile 3145728\n");
  CHECK(root.available() == 3 * kMebibyte);
}

TEST_CASE("file cache is looked up only where there is not enough without it") {
  const FakeRoot root;
  root.write("proc/self/cgroup", "0::/inner\n");
  root.write("sys/fs/cgroup/inner/memory.max", "4194304\n");
  root.write("sys/fs/cgroup/inner/memory.current", "3145728\n");
  root.write("sys/fs/cgroup/inner/memory.stat", "inactive_file 1048576\n");
  root.write("sys/fs/cgroup/memory.max", "6291456\n");
  root.write("sys/fs/cgroup/memory.current", "6291456\n");
  root.write("sys/fs/cgroup/memory.stat", "inactive_file 5242880\n");
  CHECK(root.available() == 2 * kMebibyte);
  CHECK(root.available(2 * kMebibyte + 1) == 2 * kMebibyte);
  CHECK(root.available(kMebibyte + 1) == 2 * kMebibyte);
  CHECK(root.available(kMebibyte) == kMebibyte);
  CHECK(root.available(1) == kMebibyte);  // the parent's cache was needed, and is in the answer
}

TEST_CASE("the memory controller of version 1 is understood") {
  const FakeRoot root;
  root.write("proc/self/cgroup", "4:cpu,memory:/jobs/one\n0::/\n");
  root.write("sys/fs/cgroup/memory/jobs/one/memory.limit_in_bytes", "6291456\n");
  root.write("sys/fs/cgroup/memory/jobs/one/memory.usage_in_bytes", "2097152\n");
  root.write("sys/fs/cgroup/memory/jobs/one/memory.stat",
             "inactive_file 0\ntotal_inactive_file 1048576\n");
  CHECK(root.available() == 5 * kMebibyte);
}

TEST_CASE("a machine that says nothing limits nothing, and this one says something") {
  CHECK(available_host_memory(kEverything, "/nowhere") == kEverything);
  CHECK(available_host_memory() < (std::uint64_t{1} << 50));
  CHECK(available_host_memory() > 0);
}

}  // namespace weftline::cuda_streams
