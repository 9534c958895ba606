// SPDX-License-Identifier: Apache-2.0
#include "report_text.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace motion_watch {

TEST_CASE("escaped text can't leave an element or an attribute") {
  CHECK(escape_html("a<b>\"c\"&'d'") == "a&lt;b&gt;&quot;c&quot;&amp;&#39;d&#39;");
  CHECK(escape_html(std::string("x\0y\nz\x1b\x7f", 7)) == "x y z  ");
  CHECK(escape_html("µs → 3") == "µs → 3");
  CHECK(escape_html("").empty());
}

TEST_CASE("base64 pads every remainder") {
  CHECK(base64("").empty());
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64(std::string("\xff\xfe\0\x80", 4)) == "//4AgA==");
}

TEST_CASE("long text is shortened between characters") {
  CHECK(shortened("", 5).empty());
  CHECK(shortened("12345", 5) == "12345");
  CHECK(shortened("123456", 5) == "1234…");
  CHECK(shortened("äöüäöü", 6) == "äöüäöü");
  CHECK(shortened("äöüäöüä", 6) == "äöüäö…");
}

TEST_CASE("numbers are written with three digits and a unit") {
  CHECK(format_duration(0) == "0 ns");
  CHECK(format_duration(999) == "999 ns");
  CHECK(format_duration(1'234) == "1.23 µs");
  CHECK(format_duration(56'789'000) == "56.8 ms");
  CHECK(format_duration(987'654'321) == "988 ms");
  CHECK(format_duration(2'500'000'000) == "2.50 s");
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(1'327'104) == "1.27 MiB");
  CHECK(format_bytes(UINT64_MAX) == "16.0 EiB");
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1'327'104) == "1,327,104");
  CHECK(format_fixed(1.005, 1) == "1.0");
}

}  // namespace motion_watch
