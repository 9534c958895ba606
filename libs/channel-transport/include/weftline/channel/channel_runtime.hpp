// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "weftline/catalog/endpoint_catalog.hpp"
#include "weftline/channel/inline_publisher.hpp"
#include "weftline/channel/inline_subscriber.hpp"
#include "weftline/core/error.hpp"

namespace weftline {

template <class T>
class ChannelPublisher;
template <class T>
class ChannelSubscriber;

struct ChannelRuntimeOptions {
  /// Where discovery records live. Empty: $WEFTLINE_RUNTIME_DIR, else $XDG_RUNTIME_DIR/weftline,
  /// else /tmp/weftline-<uid>. Created with mode 0700; a folder of another owner or a wider mode is
  /// refused (CHANNEL_DIRECTORY_UNSAFE).
  std::filesystem::path directory{};
  /// Called once on the service thread before it serves, to name or place it; may be empty. Must
  /// not throw, and not use the runtime.
  std::function<void()> on_service_thread{};
};

/// May only shorten what the catalog says.
struct ChannelAttachOptions {
  /// How long wait_for_subscriber() and wait_for_publisher() without a deadline wait. Creating an
  /// endpoint never waits.
  std::optional<std::chrono::nanoseconds> attach_timeout{};
};

/// Which side of a boundary an endpoint object stands on: the graph publishes exports, its peers
/// publish imports.
enum class EndpointSide : std::uint8_t { kGraph = 0, kPeer };

/// One process's transport: the service thread that accepts links, hands over memory and notices
/// death. It must outlive its endpoints; destroying it earlier is reported on stderr with the
/// endpoint's name and aborts. Creating endpoints is cold and may be done from any thread. Waits
/// for no peer.
class ChannelRuntime {
 public:
  [[nodiscard]] static expected<ChannelRuntime, Error> create(
      const ChannelRuntimeOptions& options = {});
  ChannelRuntime(ChannelRuntime&&) noexcept;
  ChannelRuntime& operator=(ChannelRuntime&&) noexcept;
  ~ChannelRuntime();

  /// Typed endpoints for a process outside any graph. kNotFound lists the catalog's endpoints; a
  /// wrong role or payload is kIncompatible with both sides' values. A second live publisher of one
  /// endpoint is kResourceExhausted (CHANNEL_PUBLISHER_EXISTS) and names the process that holds it;
  /// so is an endpoint whose record is too large for its peers (CHANNEL_RECORD_TOO_LARGE, 256 KiB).
  template <class T>
  [[nodiscard]] expected<ChannelPublisher<T>, Error> create_publisher(
      const ChannelEndpointCatalog& catalog, std::string_view endpoint,
      const ChannelAttachOptions& options = {});
  template <class T>
  [[nodiscard]] expected<ChannelSubscriber<T>, Error> create_subscriber(
      const ChannelEndpointCatalog& catalog, std::string_view endpoint,
      const ChannelAttachOptions& options = {});

  /// The type-erased forms, for the runtime of a graph and for tools.
  [[nodiscard]] expected<InlinePublisher, Error> create_inline_publisher(
      const ChannelEndpointCatalog& catalog, std::string_view endpoint, EndpointSide side,
      const PayloadIdentity& payload, const ChannelAttachOptions& options = {});
  [[nodiscard]] expected<InlineSubscriber, Error> create_inline_subscriber(
      const ChannelEndpointCatalog& catalog, std::string_view endpoint, EndpointSide side,
      const PayloadIdentity& payload, const ChannelAttachOptions& options = {});

  struct Impl;  // private to the library

 private:
  explicit ChannelRuntime(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace weftline

#include "weftline/channel/publisher.hpp"
#include "weftline/channel/subscriber.hpp"
