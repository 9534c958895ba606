// SPDX-License-Identifier: Apache-2.0
#include "topics.hpp"

#include <cctype>

#include "weftline/core/memory_kind.hpp"
#include "weftline/core/tensor_layout.hpp"

namespace weftline {

std::string canonical_uri(std::string uri) {
  constexpr std::string_view kOther = "holomq://";
  if (uri.starts_with(kOther)) uri.replace(0, kOther.size(), "weftline://");
  return uri;
}

std::string name_from_uri(std::string_view uri) {
  constexpr std::string_view kSeparator = "://";
  if (const auto at = uri.find(kSeparator); at != std::string_view::npos) {
    uri.remove_prefix(at + kSeparator.size());
  }
  while (uri.starts_with('/') || uri.starts_with('.')) uri.remove_prefix(1);
  std::string name(uri);
  for (char& c : name) {
    if (c == '/') c = '.';
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
  }
  return name;
}

std::string endpoint_name(const std::string& uri, const TopicOptions& options) {
  return options.endpoint_name ? *options.endpoint_name : name_from_uri(uri);
}

std::optional<std::uint32_t> stated_depth(const TopicOptions& options) {
  return options.queue_depth ? options.queue_depth : options.bounds.subscriber.queue_depth;
}

std::string contradictions(const TensorBoundaryContract& contract, const TensorRepresentation& port,
                           std::string_view port_name) {
  std::string text;
  const auto add = [&](std::string_view what, const std::string& topic, const std::string& other) {
    text.append(text.empty() ? "" : "; ").append("the topic states ").append(what).append(" ");
    text.append(topic).append(", ").append(port_name).append(" ").append(other);
  };
  if (port.memory_kind && *port.memory_kind != contract.memory_kind) {
    add("memory kind", std::string(memory_kind_name(contract.memory_kind)),
        std::string(memory_kind_name(*port.memory_kind)));
  }
  if (port.dtype && !same_dtype(*port.dtype, contract.dtype)) {
    add("dtype", dtype_name(contract.dtype), dtype_name(*port.dtype));
  }
  if (!port.rank) return text;
  if (contract.rank && *port.rank != *contract.rank) {
    add("rank", std::to_string(*contract.rank), std::to_string(*port.rank));
  } else if (contract.max_rank && *port.rank > *contract.max_rank) {
    add("a max_rank of", std::to_string(*contract.max_rank), "rank " + std::to_string(*port.rank));
  }
  return text;
}

EndpointRecord endpoint_record(const std::string& uri, const TopicOptions& options,
                               const PayloadIdentity& payload, TopicDirection direction,
                               const TopicState& topic) {
  EndpointRecord record;
  record.name = topic.name;
  record.uri = uri;
  record.name_origin =
      options.endpoint_name ? EndpointNameOrigin::kAuthored : EndpointNameOrigin::kGenerated;
  record.direction = direction;
  record.payload = payload;
  record.queue_depth = stated_depth(options).value_or(record.queue_depth);
  const EndpointBounds& bounds = options.bounds;
  record.max_subscribers = bounds.publisher.max_subscribers.value_or(record.max_subscribers);
  record.max_loaned_samples =
      bounds.publisher.max_loaned_samples.value_or(record.max_loaned_samples);
  record.max_borrowed_samples =
      bounds.subscriber.max_borrowed_samples.value_or(record.max_borrowed_samples);
  record.peer = options.attach.peer;
  record.attach_timeout_ns = static_cast<std::uint64_t>(options.attach.wait.count());
  record.incarnations = topic.generations;
  record.tensor = options.tensor;
  record.capture_time = options.capture_time;
  record.clock_health = options.clock_health;
  return record;
}

}  // namespace weftline
