// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <random>

#include "foreign_tensor.hpp"
#include "pool_fixture.hpp"
#include "weftline/tensor/dlpack_import.hpp"

namespace weftline {
namespace {

__extension__ using Wide = __int128;

constexpr Wide kLargest = std::numeric_limits<std::int64_t>::max();

/// Random headers: mostly sound, with hostile values strewn in.
class HeaderSource {
 public:
  explicit HeaderSource(std::uint32_t seed) : random_(seed) {}

  void fill(ForeignTensor<DLManagedTensorVersioned>& foreign) {
    DLTensor& dl = foreign.managed.dl_tensor;
    foreign.shape.resize(10);
    foreign.strides.resize(10);
    for (auto& extent : foreign.shape) extent = rarely() ? hostile() : pick(6);
    for (auto& stride : foreign.strides) stride = rarely() ? hostile() : pick(20);
    dl.ndim = rarely() ? static_cast<int>(pick(14)) - 3 : static_cast<int>(pick(5));
    dl.shape = rarely() ? nullptr : foreign.shape.data();
    dl.strides = pick(2) == 0 ? nullptr : foreign.strides.data();
    dl.data = rarely() ? nullptr : foreign.bytes.data();
    dl.byte_offset = static_cast<std::uint64_t>(rarely() ? hostile() : 4 * pick(5));
    dl.dtype = {static_cast<std::uint8_t>(pick(rarely() ? 256 : 7)),
                static_cast<std::uint8_t>(rarely() ? pick(256) : 8 << pick(4)),
                static_cast<std::uint16_t>(rarely() ? pick(65536) : 1)};
    dl.device = {rarely() ? static_cast<DLDeviceType>(pick(16)) : kDLCPU,
                 static_cast<int>(pick(3))};
    foreign.managed.version = {rarely() ? pick32() : 1,
                               rarely() ? pick32() : static_cast<std::uint32_t>(pick(3))};
  }

 private:
  bool rarely() { return pick(16) == 0; }
  std::int64_t pick(std::uint64_t count) { return static_cast<std::int64_t>(random_() % count); }
  std::uint32_t pick32() { return static_cast<std::uint32_t>(random_()); }
  std::int64_t hostile() {
    constexpr std::array kValues{std::numeric_limits<std::int64_t>::min(),
                                 std::int64_t{-1},
                                 std::int64_t{1} << 31,
                                 std::int64_t{1} << 32,
                                 std::int64_t{1} << 61,
                                 std::int64_t{1} << 62,
                                 std::numeric_limits<std::int64_t>::max() - 1};
    return kValues[static_cast<std::size_t>(pick(kValues.size()))] + pick(2);
  }
  std::mt19937_64 random_;
};

/// What the header means, told with wide numbers and without the library's code: the bytes that it
/// spans, or -1 where it must be refused.
Wide model_span(const DLManagedTensorVersioned& managed) {
  const DLTensor& dl = managed.dl_tensor;
  const Wide element_bits = Wide{dl.dtype.bits} * dl.dtype.lanes;
  if (managed.version.major > 1 || dl.device.device_type != kDLCPU || dl.ndim < 0 || dl.ndim > 8 ||
      (dl.ndim > 0 && dl.shape == nullptr) || element_bits == 0 || element_bits % 8 != 0) {
    return -1;
  }
  if (dl.ndim > 0 && dl.strides == nullptr && managed.version.major == 1 &&
      managed.version.minor >= 2) {
    return -1;
  }
  const Wide element = element_bits / 8;
  bool empty = false;
  for (int axis = 0; axis < dl.ndim; ++axis) {
    if (dl.shape[axis] < 0) return -1;
    empty = empty || dl.shape[axis] == 0;
  }
  Wide span = element;
  Wide packed = element;
  for (int axis = dl.ndim - 1; axis >= 0; --axis) {
    const Wide extent = dl.shape[axis];
    if (dl.strides == nullptr) {
      // An empty tensor has strides, too: as if the empty axes had one element each. Nothing steps
      // along the first axis's own product then.
      packed *= extent > 1 ? extent : 1;
      if (packed > kLargest && (axis > 0 || !empty)) return -1;
      if (packed > kLargest) packed = element;
      span = packed;
    } else if (extent > 1) {
      const Wide stride = Wide{dl.strides[axis]} * element;
      if (stride < 0 || stride > kLargest) return -1;
      if (!empty) span += (extent - 1) * stride;
      if (span > kLargest) return -1;
    }
  }
  if (empty) span = 0;
  if (dl.data == nullptr) return span == 0 ? 0 : -1;
  const Wide begin = Wide{reinterpret_cast<std::uintptr_t>(dl.data)} + Wide{dl.byte_offset};
  return begin + span > Wide{std::numeric_limits<std::uintptr_t>::max()} ? -1 : span;
}

TEST_CASE("any header is either refused and left alone, or imported exactly and deleted once") {
  constexpr int kHeaders = 200'000;
  HeaderSource source(20);
  ForeignTensor<DLManagedTensorVersioned> foreign({});
  int imported = 0;
  int wrong = 0;
  for (int header = 0; header < kHeaders && wrong < 5; ++header) {
    source.fill(foreign);
    foreign.deleted = 0;
    const Wide span = model_span(foreign.managed);
    auto tensor = make_tensor_from_dlpack_versioned(&foreign.managed);
    const bool good =
        tensor.has_value() == (span >= 0) &&
        (!tensor || (Wide{tensor->byte_size()} == span &&
                     tensor->layout().rank == std::uint32_t(foreign.managed.dl_tensor.ndim)));
    const bool kept = foreign.deleted == 0;
    const int due = tensor ? 1 : 0;
    imported += due;
    if (tensor) *tensor = {};
    if (!good || !kept || foreign.deleted != due) {
      ++wrong;
      UNSCOPED_INFO(
          "header " << header << ": span " << static_cast<long long>(span)
                    << (due != 0 ? " imported" : " refused: " + tensor.error().to_string()));
    }
  }
  CHECK(wrong == 0);
  // Neither kind of header is rare.
  CHECK(imported > kHeaders / 10);
  CHECK(imported < kHeaders * 9 / 10);
}

}  // namespace
}  // namespace weftline
