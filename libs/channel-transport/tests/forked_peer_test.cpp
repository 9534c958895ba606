// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/syscall.h>

#include <catch2/matchers/catch_matchers_string.hpp>
#include <csignal>
#include <mutex>

#include "publisher_search.hpp"
#include "remote_peer.hpp"
#include "service_thread.hpp"

namespace weftline::test {

using Catch::Matchers::ContainsSubstring;
using namespace weftline::channel;

namespace {

/// The peer's child, which holds what the peer has opened.
class ForkedChild {
 public:
  explicit ForkedChild(RemotePeer& peer)
      : pid_(static_cast<pid_t>(std::stol(peer.ask("fork")))),
        pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))) {
    REQUIRE(pidfd_.valid());
  }
  ~ForkedChild() { end(); }
  ForkedChild(const ForkedChild&) = delete;
  ForkedChild& operator=(const ForkedChild&) = delete;
  /// Waits until it is gone: then its files are closed.
  void end() {
    if (!pidfd_.valid()) return;
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
    pollfd query{pidfd_.get(), POLLIN, 0};
    CHECK(::poll(&query, 1, 60'000) == 1);
    pidfd_.reset();
  }

 private:
  pid_t pid_;
  UniqueFd pidfd_;
};

}  // namespace

TEST_CASE("a link to the next publisher outlives the news of the last one's death") {
  const TemporaryDirectory directory;
  const auto catalog = remote_catalog();
  const EndpointRecord& endpoint = *catalog.find("frames");
  RemotePeer peer(directory);
  CHECK(peer.ask("publish") == "ok");
  ForkedChild child(peer);
  peer.stop();  // so that it answers no hello

  auto service = ServiceThread::start(*open_runtime_directory(directory.path()));
  REQUIRE(service.has_value());
  PublisherSearch::Settings settings;
  settings.endpoint = endpoint;
  settings.geometry = *ring_geometry(endpoint);
  settings.contract = BodyContract(endpoint.payload);
  settings.endpoint_json = *endpoint_to_json("test-deployment", endpoint);
  settings.record_file = record_file_name("test-deployment", "frames");
  auto search = std::make_unique<PublisherSearch>(**service, std::move(settings), [] {});
  ChannelRuntime runtime = make_runtime(directory);
  std::optional<InlinePublisher> next;
  {
    // With the mutex held the service thread sees the death of the process first, then, while it
    // looks, the end of the socket that only the child held on to.
    const std::lock_guard lock((*service)->mutex());
    search->look();
    REQUIRE(search->status() == PublisherSearch::Status::kConnecting);
    peer.signal(SIGKILL);
    child.end();
    next.emplace(make_inline_publisher(runtime, catalog));
  }
  await_subscriber(*next);
  CHECK(next->link_counters().refused == 0);
  const std::lock_guard lock((*service)->mutex());
  CHECK(search->status() == PublisherSearch::Status::kAttached);
  search.reset();
}

TEST_CASE("a record that outlives its process names the reason") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  RemotePeer peer(directory);
  CHECK(peer.ask("publish") == "ok");
  const std::string pid = std::to_string(peer.pid());
  ForkedChild child(peer);
  peer.signal(SIGKILL);
  const auto refused = runtime.create_publisher<std::uint32_t>(remote_catalog(), "frames");
  CHECK(code_of(refused) == ErrorCode::kResourceExhausted);
  CHECK_THAT(refused.error().message, ContainsSubstring(pid) && ContainsSubstring("forked"));
  child.end();
  CHECK(runtime.create_publisher<std::uint32_t>(remote_catalog(), "frames").has_value());
}

}  // namespace weftline::test
