// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/payload.hpp"

#include <algorithm>

#include "weftline/core/json.hpp"

namespace weftline {
namespace {

/// "uint32 'w'" or "uint32[4] 'w'".
std::string describe(const PodField& field) {
  std::string text(pod_scalar_name(field.kind));
  if (field.count != 1) text.append("[").append(std::to_string(field.count)).append("]");
  return text.append(" '").append(field.name).append("'");
}

std::string here_and_there(std::string_view what, std::string_view here, std::string_view there) {
  std::string text(what);
  text.append(": ").append(here).append(" here, ").append(there).append(" there");
  return text;
}

std::string explain_fields(const std::vector<PodField>& here, const std::vector<PodField>& there) {
  const std::size_t shared = std::min(here.size(), there.size());
  for (std::size_t i = 0; i < shared; ++i) {
    if (here[i] == there[i]) continue;
    std::string place = "field " + std::to_string(i);
    const std::string left = describe(here[i]);
    const std::string right = describe(there[i]);
    if (left != right) return here_and_there(place, left, right);
    place.append(" ").append(left);
    return here_and_there(place, "byte " + std::to_string(here[i].offset),
                          "byte " + std::to_string(there[i].offset));
  }
  if (here.size() == there.size()) return {};
  const std::string left = here.size() > shared ? describe(here[shared]) : "none";
  const std::string right = there.size() > shared ? describe(there[shared]) : "none";
  return here_and_there("field " + std::to_string(shared), left, right);
}

}  // namespace

std::string_view payload_identity_kind_name(PayloadIdentityKind kind) noexcept {
  switch (kind) {
    case PayloadIdentityKind::kScalar:
      return "scalar";
    case PayloadIdentityKind::kTensor:
      return "tensor";
    case PayloadIdentityKind::kSchema:
      return "schema";
    case PayloadIdentityKind::kPod:
      return "pod";
  }
  return "unknown";
}

std::uint32_t pod_scalar_bytes(PodScalarKind kind) noexcept {
  return payload_traits::scalar_bytes(kind);
}

std::string_view pod_scalar_name(PodScalarKind kind) noexcept {
  switch (kind) {
    case PodScalarKind::kUInt8:
      return "uint8";
    case PodScalarKind::kInt8:
      return "int8";
    case PodScalarKind::kUInt16:
      return "uint16";
    case PodScalarKind::kInt16:
      return "int16";
    case PodScalarKind::kUInt32:
      return "uint32";
    case PodScalarKind::kInt32:
      return "int32";
    case PodScalarKind::kUInt64:
      return "uint64";
    case PodScalarKind::kInt64:
      return "int64";
    case PodScalarKind::kFloat32:
      return "float32";
    case PodScalarKind::kFloat64:
      return "float64";
    case PodScalarKind::kByte:
      return "byte";
    case PodScalarKind::kBool:
      return "bool";
  }
  return "unknown";
}

std::string PayloadIdentity::to_string() const {
  std::string text(payload_identity_kind_name(kind));
  if (kind == PayloadIdentityKind::kTensor) return text;
  text += " " + name;
  if (version != 0) text += " v" + std::to_string(version);
  return text + " (" + std::to_string(size) + (size == 1 ? " byte)" : " bytes)");
}

TypeKey type_key(const PayloadIdentity& identity) {
  JsonValue::Array fields;
  for (const PodField& field : identity.fields) {
    fields.emplace_back(JsonValue::Object{{"count", field.count},
                                          {"kind", pod_scalar_name(field.kind)},
                                          {"name", field.name},
                                          {"offset", field.offset}});
  }
  const JsonValue canonical(JsonValue::Object{{"alignment", identity.alignment},
                                              {"fields", std::move(fields)},
                                              {"kind", payload_identity_kind_name(identity.kind)},
                                              {"name", identity.name},
                                              {"size", identity.size},
                                              {"version", identity.version}});
  const Sha256Digest digest = sha256(canonical.dump());
  TypeKey key;
  std::copy_n(digest.begin(), key.bytes.size(), key.bytes.begin());
  return key;
}

std::string explain_difference(const PayloadIdentity& here, const PayloadIdentity& there) {
  if (here.kind != there.kind) {
    return here_and_there("kind", payload_identity_kind_name(here.kind),
                          payload_identity_kind_name(there.kind));
  }
  if (here.name != there.name) {
    return here_and_there("name", here.name, there.name);
  }
  if (here.version != there.version) {
    return here_and_there("version", std::to_string(here.version), std::to_string(there.version));
  }
  if (auto fields = explain_fields(here.fields, there.fields); !fields.empty()) return fields;
  if (here.size != there.size) {
    return here_and_there("size", std::to_string(here.size) + " bytes",
                          std::to_string(there.size) + " bytes");
  }
  if (here.alignment != there.alignment) {
    return here_and_there("alignment", std::to_string(here.alignment),
                          std::to_string(there.alignment));
  }
  return {};
}

}  // namespace weftline
