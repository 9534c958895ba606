// SPDX-License-Identifier: Apache-2.0
#include "fuzz_target.hpp"
#include "weftline/core/json.hpp"

std::vector<std::string> weftline::fuzz::seeds() {
  return {"null",
          "[]",
          R"({"a":[1,-2,true,null,"x\u00e9\n"],"b":{"c":{}}})",
          R"([0.5,-1e-3,18446744073709551615,-9223372036854775808])",
          R"([[[[[[[["deep"]]]]]]]])",
          R"(" \" \\ \/ \b \f \n \r \t \ud83d\ude00 é")"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weftline::fuzz::require;
  const std::string_view text = weftline::fuzz::text_of(data, size);
  for (const bool decimals : {false, true}) {
    const weftline::JsonLimits limits{.max_bytes = 1 << 16, .max_depth = 16, .decimals = decimals};
    const auto parsed = weftline::parse_json(text, limits);
    if (!parsed) {
      require(!parsed.error().token.empty() && !parsed.error().message.empty(),
              "a refusal without a reason");
      continue;
    }
    // Canonical: what was read is written in one way, and that way reads back as the same.
    const std::string canonical = parsed->dump();
    const auto again = weftline::parse_json(canonical, {.decimals = decimals});
    require(again && *again == *parsed, "the canonical text reads back as something else");
    require(again->dump() == canonical, "the canonical text is not canonical");
    const auto indented = weftline::parse_json(parsed->dump(2), {.decimals = decimals});
    require(indented && *indented == *parsed, "the indented text reads back as something else");
  }
  return 0;
}
