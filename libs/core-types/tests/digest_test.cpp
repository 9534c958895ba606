// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/digest.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

namespace weftline {
namespace {

TEST_CASE("digests agree with the published vectors") {
  CHECK(digest_text(sha256("")) ==
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(digest_text(sha256("abc")) ==
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(digest_text(sha256(std::string(1'000'000, 'a'))) ==
        "sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("bytes and text of equal content have equal digests") {
  const std::vector<std::byte> bytes{std::byte{'a'}, std::byte{'b'}, std::byte{'c'}};
  CHECK(sha256(bytes) == sha256("abc"));
  CHECK(sha256("abc") != sha256("abd"));
}

TEST_CASE("the digest of pieces is that of the whole") {
  const std::string text(1'000, 'a');
  for (const std::size_t piece : {1U, 63U, 64U, 65U, 999U}) {
    Sha256Stream stream;
    stream.add({});
    for (std::size_t at = 0; at < text.size(); at += piece) {
      stream.add(std::string_view(text).substr(at, piece));
    }
    CHECK(stream.finish() == sha256(text));
  }
  CHECK(Sha256Stream().finish() == sha256(""));
}

TEST_CASE("hexadecimal is lower case with two digits a byte") {
  const std::vector<std::uint8_t> bytes{0x00, 0x0f, 0xa5, 0xff};
  CHECK(to_hex(bytes) == "000fa5ff");
  CHECK(to_hex({}).empty());
}

}  // namespace
}  // namespace weftline
