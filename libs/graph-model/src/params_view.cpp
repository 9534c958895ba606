// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/params_view.hpp"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace weftline {
namespace {

std::string readable(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return name ? name.get() : type.name();
}

}  // namespace

void refuse_params_type(const std::type_info& asked, const std::type_info* held) noexcept {
  const std::string has = held != nullptr ? "those of " + readable(*held) : "none";
  std::fprintf(
      stderr,
      "weftline: params<%s>() was called in an operator that has %s; ask for the Params of "
      "its Operator<Params>\n",
      readable(asked).c_str(), has.c_str());
  std::abort();
}

}  // namespace weftline
