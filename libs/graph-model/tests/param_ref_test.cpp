// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/param_ref.hpp"

#include <catch2/catch_test_macros.hpp>

#include "test_params.hpp"

using namespace weftline;

TEST_CASE("a reference names one field, and reads it from values") {
  const auto shape = param_ref<&app::All::shape>();
  static_assert(std::is_same_v<decltype(shape)::Params, app::All>);
  static_assert(std::is_same_v<decltype(shape)::Value, std::vector<std::int32_t>>);
  CHECK(shape.field().path == "shape");
  CHECK(shape.field().schema_id == "com.example.All");
  app::All values;
  values.shape = {4, 5};
  CHECK(&shape.get(values) == &values.shape);
}

TEST_CASE("paths through nested structs are fields of their own") {
  const auto left = param_ref<&app::All::left, &app::Sensor::gain>();
  const auto right = param_ref<&app::All::right, &app::Sensor::gain>();
  CHECK(left.field().path == "left.gain");
  CHECK(right.field().path == "right.gain");
  CHECK(left.field().schema_id == "com.example.Sensor");
  CHECK(left.field().schema_version == 3);
  CHECK_FALSE(left == right);
  CHECK(left == param_ref<&app::All::left, &app::Sensor::gain>());
  CHECK(right.get(app::All{}) == 0.75F);
}

TEST_CASE("only what a plan freezes and may show can enter it") {
  CHECK(param_ref<&app::All::storage>().may_enter_plan());
  CHECK(param_ref<&app::All::shape>().may_enter_plan());
  CHECK_FALSE(param_ref<&app::All::small>().may_enter_plan());
  CHECK_FALSE(param_ref<&app::All::age>().may_enter_plan());
  CHECK_FALSE(param_ref<&app::All::left, &app::Sensor::secret>().may_enter_plan());
}
