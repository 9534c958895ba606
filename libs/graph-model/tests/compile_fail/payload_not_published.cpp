// SPDX-License-Identifier: Apache-2.0
// A type without an identity can't be carried by a port.
#include <string>

#include "weftline/graph/graph.hpp"

weftline::Output<std::string> names;
