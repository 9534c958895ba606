// SPDX-License-Identifier: Apache-2.0
#include "discovery_record.hpp"

#include <fcntl.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fstream>

#include "channel_fixture.hpp"
#include "runtime_directory.hpp"

namespace weftline::channel {

namespace {

struct Folder {
  test::TemporaryDirectory temporary{};
  RuntimeDirectory opened{*open_runtime_directory(temporary.path())};
  [[nodiscard]] int fd() const { return opened.fd.get(); }
  [[nodiscard]] std::filesystem::path file(const std::string& name) const {
    return temporary.path() / name;
  }
};

RecordContent content() {
  RecordContent result;
  result.pid = 77;
  result.incarnation = {1, 2, 0xfe};
  result.endpoint_json =
      *endpoint_to_json("d", *test::catalog_with<std::uint32_t>({}).find("frames"));
  return result;
}

}  // namespace

TEST_CASE("a record is there, held and readable for as long as its owner lives") {
  const Folder folder;
  CHECK(look_for_record(folder.fd(), "a.pub").state == RecordState::kAbsent);
  {
    const auto record = DiscoveryRecord::create(folder.fd(), "a.pub", content(), "a");
    REQUIRE(record.has_value());
    const RecordSighting seen = look_for_record(folder.fd(), "a.pub");
    REQUIRE(seen.state == RecordState::kLive);
    CHECK(seen.content.pid == 77);
    CHECK(seen.content.wire_version == kWireVersion);
    CHECK(seen.content.incarnation == content().incarnation);
    const auto endpoint = endpoint_from_json(seen.content.endpoint_json);
    REQUIRE(endpoint.has_value());
    CHECK(endpoint->name == "frames");
    CHECK_FALSE(remove_dead_record(folder.fd(), "a.pub"));
    CHECK_FALSE(DiscoveryRecord::create(folder.fd(), "a.pub", content(), "a").has_value());
  }
  CHECK(look_for_record(folder.fd(), "a.pub").state == RecordState::kAbsent);
}

TEST_CASE("a record that nobody holds is dead and gives way") {
  const Folder folder;
  std::ofstream(folder.file("a.pub")) << GENERATE("", "{}", "garbage");
  CHECK(look_for_record(folder.fd(), "a.pub").state == RecordState::kDead);
  SECTION("to a new owner") {
    const auto record = DiscoveryRecord::create(folder.fd(), "a.pub", content(), "a");
    REQUIRE(record.has_value());
    CHECK(look_for_record(folder.fd(), "a.pub").state == RecordState::kLive);
  }
  SECTION("to anybody who removes it") {
    CHECK(remove_dead_record(folder.fd(), "a.pub"));
    CHECK(folder.temporary.files().empty());
    CHECK(remove_dead_record(folder.fd(), "a.pub"));
  }
}

TEST_CASE("who removes a dead record is not taken for its owner") {
  const Folder folder;
  std::ofstream(folder.file("a.pub")) << "dead";
  // Removing takes a moment; here it takes as long as the test.
  const UniqueFd remover{::open(folder.file("a.pub").c_str(), O_RDWR | O_CLOEXEC)};
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  REQUIRE(::fcntl(remover.get(), F_OFD_SETLK, &lock) == 0);
  CHECK(look_for_record(folder.fd(), "a.pub").state == RecordState::kDead);
  const auto waited = DiscoveryRecord::create(folder.fd(), "a.pub", content(), "a");
  REQUIRE_FALSE(waited.has_value());
  CHECK(waited.error().token == "CHANNEL_RECORD_BUSY");
}

TEST_CASE("an owner does not remove a file that has taken the place of its record") {
  const Folder folder;
  {
    const auto record = DiscoveryRecord::create(folder.fd(), "a.pub", content(), "a");
    REQUIRE(record.has_value());
    std::filesystem::remove(folder.file("a.pub"));
    std::ofstream(folder.file("a.pub")) << "another";
  }
  CHECK(folder.temporary.files().size() == 1);
}

TEST_CASE("a held file with anything but a whole record is not read as one") {
  const Folder folder;
  const std::string good =
      R"({"endpoint":{},"incarnation":"00112233445566778899aabbccddeeff","pid":1,"wire_version":1})";
  const std::string bad = GENERATE_COPY(
      std::string(), good.substr(0, good.size() / 2), std::string("[]"), std::string("{}"),
      std::string(R"({"endpoint":{},"incarnation":"00","pid":1,"wire_version":1})"),
      std::string(
          R"({"endpoint":{},"incarnation":"00000000000000000000000000000000","pid":1,"wire_version":1})"),
      std::string(
          R"({"endpoint":{},"incarnation":"0011223344556677889zaabbccddeeff","pid":1,"wire_version":1})"),
      std::string(
          R"({"endpoint":{},"incarnation":"00112233445566778899aabbccddeeff","pid":-1,"wire_version":1})"),
      std::string(
          R"({"endpoint":{},"incarnation":"00112233445566778899aabbccddeeff","pid":9999999999,"wire_version":1})"),
      std::string(
          R"({"endpoint":{},"incarnation":"00112233445566778899aabbccddeeff","pid":1,"wire_version":4294967296})"));
  std::ofstream(folder.file("a.pub")) << bad;
  const UniqueFd holder{::open(folder.file("a.pub").c_str(), O_RDWR | O_CLOEXEC)};
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  REQUIRE(::fcntl(holder.get(), F_OFD_SETLK, &lock) == 0);
  CHECK(look_for_record(folder.fd(), "a.pub").state == RecordState::kUnreadable);
  const auto refused = DiscoveryRecord::create(folder.fd(), "a.pub", content(), "a");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().token == "CHANNEL_PUBLISHER_EXISTS");
}

TEST_CASE("a record's file name is readable, safe and different for each endpoint") {
  const std::string name = record_file_name("d", "frames");
  CHECK(name.starts_with("frames."));
  CHECK(name.ends_with(".pub"));
  CHECK(name != record_file_name("e", "frames"));
  CHECK(record_file_name("d", "a/b") != record_file_name("d", "a_b"));
  for (const std::string& odd : {std::string("../../x"), std::string(".hidden"),
                                 std::string(300, 'x'), std::string("a\0b", 3)}) {
    const std::string file = record_file_name("d", odd);
    CHECK(file.size() < 100);
    CHECK(file.find('/') == std::string::npos);
    CHECK(file.front() != '.');
  }
}

TEST_CASE("only one endpoint is taken from a peer's record") {
  CHECK_FALSE(endpoint_from_json("").has_value());
  CHECK_FALSE(endpoint_from_json("{}").has_value());
  auto builder = ChannelEndpointCatalog::builder("d");
  REQUIRE(builder.import_topic<std::uint32_t>("a", "weftline://a").has_value());
  REQUIRE(builder.import_topic<std::uint32_t>("b", "weftline://b").has_value());
  const auto both = std::move(builder).build();
  REQUIRE(both.has_value());
  CHECK_FALSE(endpoint_from_json(both->json()).has_value());
}

}  // namespace weftline::channel
