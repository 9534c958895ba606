// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <sys/socket.h>

#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "remote_peer.hpp"
#include "rogue_publication.hpp"
#include "rogue_subscriber.hpp"

namespace weftline::test {

using Catch::Matchers::ContainsSubstring;

namespace {

/// This process gets no further descriptor, but for `left`, until the destructor.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(int left) {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    // Close to what is open already, so that few descriptors fill it.
    UniqueFd next{::dup(0)};
    rlimit lowered = before_;
    lowered.rlim_cur = static_cast<rlim_t>(next.get()) + 8;
    next.reset();
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &lowered) == 0);
    for (UniqueFd fd{::dup(0)}; fd.valid(); fd = UniqueFd{::dup(0)}) fill_.push_back(std::move(fd));
    for (int i = 0; i < left; ++i) fill_.pop_back();
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  /// From here on not even a descriptor that is given up can be opened again.
  void allow_none() const {
    rlimit none = before_;
    none.rlim_cur = 3;  // not fewer: poll() takes no more descriptors than this
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }

 private:
  rlimit before_{};
  std::vector<UniqueFd> fill_;
};

Incarnation incarnation_in(const TemporaryDirectory& directory) {
  const auto opened = open_runtime_directory(directory.path());
  return look_for_record(opened->fd.get(), directory.files().front()).content.incarnation;
}

}  // namespace

TEST_CASE("a subscriber that there is no descriptor for is told so, and the next one is welcome") {
  Publishing publishing;
  const auto incarnation = incarnation_in(publishing.directory);
  const int left = GENERATE(0, 1);  // for the socket, or not even for that
  {
    std::vector<UniqueFd> sockets(3);
    for (UniqueFd& socket : sockets) socket = new_socket();
    const DescriptorLimit limit(left);
    for (const UniqueFd& socket : sockets) {
      REQUIRE(connect_socket(socket, incarnation).has_value());
      CHECK_THAT(refusal_text(socket), ContainsSubstring("limit of open files"));
      CHECK_FALSE(next_packet(socket).has_value());
    }
  }
  CHECK(publishing.publisher.link_counters().refused == 3);
  publishing.check_alive();
}

TEST_CASE("a subscriber that cannot even be turned away is accepted later") {
  Publishing publishing;
  const auto incarnation = incarnation_in(publishing.directory);
  const auto record = create_sealed_text(publishing.record_json());
  const UniqueFd socket = new_socket();
  {
    const DescriptorLimit limit(0);
    limit.allow_none();
    REQUIRE(connect_socket(socket, incarnation).has_value());
    REQUIRE(Publishing::hello(socket, record->get()));
    publishing.pass_service_thread();
  }
  const auto welcome = next_packet(socket);
  REQUIRE(welcome.has_value());
  CHECK(parse_message<WelcomeMessage>(*welcome).has_value());
}

TEST_CASE("a subscriber without a descriptor for a new publisher finds it later") {
  Publishing other(blocking(), "other");
  auto subscriber = make_subscriber(other.runtime, remote_catalog());
  RemotePeer peer(other.directory);
  {
    const DescriptorLimit limit(0);
    limit.allow_none();
    CHECK(peer.ask("publish") == "ok");
    other.pass_service_thread();
  }
  CHECK(peer.ask("await") == "ok");
  CHECK(peer.ask("emit 3") == "1");
  CHECK(subscriber.wait_and_receive_sample(watchdog())->data == 3U);
}

TEST_CASE("a subscriber that finds the publisher's backlog full comes again") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  const RoguePublication publication(directory, catalog);
  REQUIRE(::listen(publication.listener.get(), 0) == 0);
  std::vector<UniqueFd> waiting;
  for (auto socket = connect_to(publication.content.incarnation); socket;
       socket = connect_to(publication.content.incarnation)) {
    waiting.push_back(std::move(*socket));
  }
  ChannelRuntime runtime = make_runtime(directory);
  auto subscriber = make_subscriber(runtime, catalog);
  for (std::size_t i = 0; i < waiting.size(); ++i) REQUIRE(publication.accept().valid());
  const auto hello = next_packet(publication.accept());
  REQUIRE(hello.has_value());
  CHECK(parse_message<HelloMessage>(*hello).has_value());
}

}  // namespace weftline::test
