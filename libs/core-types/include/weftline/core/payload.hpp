// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "weftline/core/digest.hpp"
#include "weftline/core/error.hpp"

namespace weftline {

class Tensor;  // tensor-pool; only its name is needed to identify the payload

enum class PayloadIdentityKind : std::uint8_t { kScalar = 0, kTensor, kSchema, kPod };

[[nodiscard]] std::string_view payload_identity_kind_name(PayloadIdentityKind kind) noexcept;

/// Element types of scalars and POD fields. kByte is `std::byte`, not a number.
enum class PodScalarKind : std::uint8_t {
  kUInt8 = 0,
  kInt8,
  kUInt16,
  kInt16,
  kUInt32,
  kInt32,
  kUInt64,
  kInt64,
  kFloat32,
  kFloat64,
  kByte,
  kBool,
};

/// 0 for a value outside the enum.
[[nodiscard]] std::uint32_t pod_scalar_bytes(PodScalarKind kind) noexcept;
/// "uint8", "float32", "byte", …
[[nodiscard]] std::string_view pod_scalar_name(PodScalarKind kind) noexcept;

/// One field of a POD as written in `ChannelPodLayout`.
struct PodFieldSpec {
  std::string_view name{};
  PodScalarKind kind{PodScalarKind::kByte};
  std::uint32_t offset{0};
  std::uint32_t count{1};  ///< Elements; more than 1 for an array.
};

/// Specialize with `static constexpr std::string_view kName` and `static constexpr std::uint32_t
/// kVersion`.
template <class T>
struct ChannelTypeIdentity;

/// Specialize with `static constexpr std::array<PodFieldSpec, N> kFields`, in offset order,
/// covering every byte of T exactly once: a gap, an overlap or tail padding does not compile.
template <class T>
struct ChannelPodLayout;

namespace payload_traits {

template <PodScalarKind Kind>
struct ScalarKindIs {
  static constexpr PodScalarKind kKind = Kind;
};

template <class T>
struct ScalarKindOf;
template <>
struct ScalarKindOf<std::uint8_t> : ScalarKindIs<PodScalarKind::kUInt8> {};
template <>
struct ScalarKindOf<std::int8_t> : ScalarKindIs<PodScalarKind::kInt8> {};
template <>
struct ScalarKindOf<std::uint16_t> : ScalarKindIs<PodScalarKind::kUInt16> {};
template <>
struct ScalarKindOf<std::int16_t> : ScalarKindIs<PodScalarKind::kInt16> {};
template <>
struct ScalarKindOf<std::uint32_t> : ScalarKindIs<PodScalarKind::kUInt32> {};
template <>
struct ScalarKindOf<std::int32_t> : ScalarKindIs<PodScalarKind::kInt32> {};
template <>
struct ScalarKindOf<std::uint64_t> : ScalarKindIs<PodScalarKind::kUInt64> {};
template <>
struct ScalarKindOf<std::int64_t> : ScalarKindIs<PodScalarKind::kInt64> {};
template <>
struct ScalarKindOf<float> : ScalarKindIs<PodScalarKind::kFloat32> {};
template <>
struct ScalarKindOf<double> : ScalarKindIs<PodScalarKind::kFloat64> {};
template <>
struct ScalarKindOf<std::byte> : ScalarKindIs<PodScalarKind::kByte> {};
template <>
struct ScalarKindOf<bool> : ScalarKindIs<PodScalarKind::kBool> {};

constexpr std::uint32_t scalar_bytes(PodScalarKind kind) noexcept {
  constexpr std::array<std::uint32_t, 12> kBytes{1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 1, 1};
  const auto index = static_cast<std::size_t>(kind);
  return index < kBytes.size() ? kBytes[index] : 0;
}

template <class T>
constexpr std::uint32_t element_count() noexcept {
  if constexpr (std::is_array_v<T>) {
    return static_cast<std::uint32_t>(std::extent_v<T>) * element_count<std::remove_extent_t<T>>();
  } else {
    return 1;
  }
}

template <std::size_t N>
constexpr bool covers_every_byte(const std::array<PodFieldSpec, N>& fields,
                                 std::size_t size) noexcept {
  std::size_t next = 0;
  for (const auto& field : fields) {
    if (field.offset != next || field.count == 0) return false;
    next += std::size_t{field.count} * scalar_bytes(field.kind);
  }
  return next == size;
}

}  // namespace payload_traits

/// A fixed-width scalar that means the same in every process.
template <class T>
concept PortableScalar = requires { payload_traits::ScalarKindOf<T>::kKind; };

/// A trivially copyable struct with a declared name, version and layout.
template <class T>
concept ChannelPod = requires {
  { ChannelTypeIdentity<T>::kName } -> std::convertible_to<std::string_view>;
  { ChannelTypeIdentity<T>::kVersion } -> std::convertible_to<std::uint32_t>;
  ChannelPodLayout<T>::kFields;
} && std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>;

/// What a port may carry: a scalar, a POD, or a Tensor.
template <class T>
concept PublishedPayload = PortableScalar<T> || ChannelPod<T> || std::same_as<T, Tensor>;

/// A POD field of a plan or catalog record.
struct PodField {
  std::string name{};
  PodScalarKind kind{PodScalarKind::kByte};
  std::uint32_t offset{0};
  std::uint32_t count{1};
  friend bool operator==(const PodField&, const PodField&) = default;
};

/// Names a payload type across processes. Two sides interoperate when all of it is equal.
struct PayloadIdentity {
  PayloadIdentityKind kind{PayloadIdentityKind::kScalar};
  std::string name{};        ///< "uint32", "com.example.Pose", "tensor"
  std::uint32_t version{0};  ///< 0 for scalars and tensors
  std::uint64_t size{0};     ///< bytes of one body; 0 for tensors
  std::uint64_t alignment{0};
  std::vector<PodField> fields{};  ///< only for PODs

  friend bool operator==(const PayloadIdentity&, const PayloadIdentity&) = default;
  /// "pod com.example.Pose v2 (24 bytes)"
  [[nodiscard]] std::string to_string() const;
};

/// First 16 bytes of the SHA-256 over the canonical form of an identity.
struct TypeKey {
  std::array<std::uint8_t, 16> bytes{};
  friend bool operator==(const TypeKey&, const TypeKey&) = default;
};
[[nodiscard]] TypeKey type_key(const PayloadIdentity& identity);

/// Says in words the first difference between two identities ("field 2: uint16 'w' here, uint32 'w'
/// there"); empty when they are equal.
[[nodiscard]] std::string explain_difference(const PayloadIdentity& here,
                                             const PayloadIdentity& there);

/// The identity of a C++ payload type.
template <PublishedPayload T>
[[nodiscard]] PayloadIdentity payload_identity() {
  if constexpr (std::same_as<T, Tensor>) {
    return {.kind = PayloadIdentityKind::kTensor, .name = "tensor"};
  } else if constexpr (PortableScalar<T>) {
    return {.kind = PayloadIdentityKind::kScalar,
            .name = std::string(pod_scalar_name(payload_traits::ScalarKindOf<T>::kKind)),
            .size = sizeof(T),
            .alignment = alignof(T)};
  } else {
    static_assert(
        payload_traits::covers_every_byte(ChannelPodLayout<T>::kFields, sizeof(T)),
        "ChannelPodLayout must cover every byte of the type exactly once, in offset order");
    PayloadIdentity identity{.kind = PayloadIdentityKind::kPod,
                             .name = std::string(ChannelTypeIdentity<T>::kName),
                             .version = ChannelTypeIdentity<T>::kVersion,
                             .size = sizeof(T),
                             .alignment = alignof(T)};
    for (const PodFieldSpec& field : ChannelPodLayout<T>::kFields) {
      identity.fields.push_back({std::string(field.name), field.kind, field.offset, field.count});
    }
    return identity;
  }
}

}  // namespace weftline

/// A field of `ChannelPodLayout<Type>`: name, kind, offset and count are taken from the member,
/// which is a scalar or an array of scalars.
#define WEFTLINE_POD_FIELD(Type, member)                                    \
  ::weftline::PodFieldSpec {                                                \
    #member,                                                                \
        ::weftline::payload_traits::ScalarKindOf<                           \
            std::remove_all_extents_t<decltype(Type::member)>>::kKind,      \
        static_cast<std::uint32_t>(offsetof(Type, member)),                 \
        ::weftline::payload_traits::element_count<decltype(Type::member)>() \
  }
