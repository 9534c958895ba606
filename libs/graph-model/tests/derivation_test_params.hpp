// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weftline/core/memory_kind.hpp"
#include "weftline/graph/param_schema.hpp"

/// Parameters that things can, or can't, be derived from.
namespace derive {

enum class Storage : std::uint8_t { kHost, kPinned, kDevice };

struct Crop {
  std::uint64_t width{4};
};
WEFTLINE_PARAM_SCHEMA(Crop, weftline::param_schema("com.example.Crop", 1),
                      weftline::field<&Crop::width>("width"));

/// As many values as a field can list.
enum class Many : std::uint8_t {};
struct ManyNames {
  weftline::ParamEnumValue<Many> values[weftline::kMaximumParamChoices];
};
consteval ManyNames many_names() {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  ManyNames names{};
  for (std::size_t i = 0; i < weftline::kMaximumParamChoices; ++i) {
    names.values[i] = {kLetters.substr(i, 1), static_cast<Many>(i)};
  }
  return names;
}

struct Image {
  std::vector<std::int64_t> shape{4, 5, 3};
  std::vector<std::int64_t> unbounded{};
  std::vector<std::int64_t> nine{};
  std::array<std::uint32_t, 8> eight{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<std::uint32_t, 9> too_many{};
  std::vector<std::int64_t> secret{};
  std::uint64_t moving{1};
  std::uint64_t restarted{1};
  std::uint64_t a{1};
  std::uint64_t b{1};
  std::uint64_t c{1};
  std::uint64_t d{1};
  std::uint64_t e{1};
  std::uint64_t f{1};
  std::uint64_t g{1};
  std::uint64_t h{1};
  std::uint64_t i{1};
  Crop left{};
  Crop right{};
  Storage storage{Storage::kHost};
  Storage moving_storage{Storage::kHost};
  Storage secret_storage{Storage::kHost};
  bool pinned{false};
  Many many{};
  weftline::MemoryKind kind{weftline::MemoryKind::kHost};
  weftline::MemoryKind any_kind{weftline::MemoryKind::kHost};
};

inline constexpr weftline::ParamEnumValue<Storage> kStorages[] = {
    weftline::param_enum_value("host", Storage::kHost),
    weftline::param_enum_value("pinned", Storage::kPinned),
    weftline::param_enum_value("device", Storage::kDevice)};

WEFTLINE_PARAM_SCHEMA(
    Image, weftline::param_schema("com.example.Image", 2),
    weftline::field<&Image::shape>("shape").length(0, 8).recompile_required(),
    weftline::field<&Image::unbounded>("unbounded"),
    weftline::field<&Image::nine>("nine").length(0, 9), weftline::field<&Image::eight>("eight"),
    weftline::field<&Image::too_many>("too_many"),
    weftline::field<&Image::secret>("secret").length(0, 8).sensitive(),
    weftline::field<&Image::moving>("moving").runtime_mutable(),
    weftline::field<&Image::restarted>("restarted")
        .lifecycle_mutable(weftline::LifecycleStage::kAllocate),
    weftline::field<&Image::a>("a"), weftline::field<&Image::b>("b"),
    weftline::field<&Image::c>("c"), weftline::field<&Image::d>("d"),
    weftline::field<&Image::e>("e"), weftline::field<&Image::f>("f"),
    weftline::field<&Image::g>("g"), weftline::field<&Image::h>("h"),
    weftline::field<&Image::i>("i"), weftline::field<&Image::left>("left"),
    weftline::field<&Image::right>("right"),
    weftline::field<&Image::storage>("storage").enum_values(kStorages).recompile_required(),
    weftline::field<&Image::moving_storage>("moving_storage")
        .enum_values(kStorages)
        .runtime_mutable(),
    weftline::field<&Image::secret_storage>("secret_storage").enum_values(kStorages).sensitive(),
    weftline::field<&Image::pinned>("pinned"),
    weftline::field<&Image::many>("many").enum_values(many_names().values),
    weftline::field<&Image::kind>("kind").enum_values({
        weftline::param_enum_value("host", weftline::MemoryKind::kHost),
        weftline::param_enum_value("device", weftline::MemoryKind::kCudaDevice),
    }),
    weftline::field<&Image::any_kind>("any_kind")
        .enum_values({
            weftline::param_enum_value("none", weftline::MemoryKind::kUnknown),
            weftline::param_enum_value("host", weftline::MemoryKind::kHost),
        }));

}  // namespace derive
