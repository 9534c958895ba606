// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every Device does, written once: include it in one source of a test program that defines
// devices_under_test().

#include "event_conformance.hpp"
#include "fence_conformance.hpp"
#include "green_conformance.hpp"
#include "memory_conformance.hpp"
#include "order_conformance.hpp"
#include "random_graph_conformance.hpp"
#include "refusal_conformance.hpp"
#include "shared_conformance.hpp"
#include "window_conformance.hpp"
