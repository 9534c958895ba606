// SPDX-License-Identifier: Apache-2.0
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>

#include "rogue_publication.hpp"

namespace weftline::test {

using Catch::Matchers::ContainsSubstring;

namespace {

RefusalMessage refusal_of(ErrorCode code, std::string_view token, std::string_view text) {
  auto message = make_message<RefusalMessage>();
  message.code = static_cast<std::uint32_t>(code);
  std::ranges::copy(token, message.token.begin());
  std::ranges::copy(text, message.text.begin());
  message.text_bytes = static_cast<std::uint32_t>(text.size());
  return message;
}

/// What a subscriber reports after a publisher sent this.
Error refused_with(const RefusalMessage& message) {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  const RoguePublication publication(directory, catalog);
  ChannelRuntime runtime = make_runtime(directory);
  auto subscriber = make_subscriber(runtime, catalog);
  const UniqueFd socket = publication.accept();
  REQUIRE(send_message(socket.get(), message));
  const auto waited = subscriber.wait_for_sample(watchdog());
  REQUIRE_FALSE(waited.has_value());
  return waited.error();
}

}  // namespace

TEST_CASE("a refusal arrives with the code, the token and the text that the publisher gave") {
  const ErrorCode code = GENERATE(ErrorCode::kFailure, ErrorCode::kIncompatible,
                                  ErrorCode::kResourceExhausted, ErrorCode::kProtocolError);
  const Error error = refused_with(refusal_of(code, "CHANNEL_WIRE_VERSION", "both values"));
  CHECK(error.code == code);
  CHECK(error.token == "CHANNEL_WIRE_VERSION");
  CHECK_THAT(error.message, ContainsSubstring("both values"));
}

TEST_CASE("what no publisher sends in a refusal is not passed on") {
  SECTION("a code that would mislead the caller") {
    const ErrorCode code =
        GENERATE(ErrorCode::kNotReady, ErrorCode::kClosed, static_cast<ErrorCode>(200));
    CHECK(refused_with(refusal_of(code, "", "x")).code == ErrorCode::kProtocolError);
  }
  SECTION("an unknown token") {
    const Error error = refused_with(
        refusal_of(ErrorCode::kFailure, GENERATE("", "CHANNEL_END_OF_STREAM", "x"), "y"));
    CHECK(error.token == "CHANNEL_REFUSED");
  }
  SECTION("a token without an end") {
    auto message = refusal_of(ErrorCode::kFailure, "", "y");
    message.token.fill('T');
    CHECK(refused_with(message).token == "CHANNEL_REFUSED");
  }
  SECTION("bytes that do not print") {
    const Error error = refused_with(refusal_of(ErrorCode::kFailure, "", "a\x1b[31m\nb\xff\x7f"));
    CHECK_THAT(error.message, ContainsSubstring("a?[31m?b??"));
  }
  SECTION("a length beyond the message") {
    auto message = refusal_of(ErrorCode::kFailure, "", "y");
    message.text_bytes = 0xffffffff;
    CHECK(refused_with(message).message.size() < 2 * message.text.size());
  }
}

TEST_CASE("a record in another endpoint's place is refused with both names") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  const auto others = catalog_with<std::uint32_t>(blocking(), "others");
  RecordContent content;
  content.incarnation = rogue_incarnation();
  content.endpoint_json = *endpoint_to_json("test-deployment", *others.find("others"));
  const auto opened = open_runtime_directory(directory.path());
  const auto record = DiscoveryRecord::create(
      opened->fd.get(), record_file_name("test-deployment", "frames"), content, "frames");
  REQUIRE(record.has_value());
  ChannelRuntime runtime = make_runtime(directory);
  const auto subscriber = try_subscribe<std::uint32_t>(runtime, catalog);
  CHECK(code_of(subscriber) == ErrorCode::kIncompatible);
  CHECK_THAT(subscriber.error().message,
             ContainsSubstring("'frames'") && ContainsSubstring("'others'"));
}

}  // namespace weftline::test
