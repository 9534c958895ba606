// SPDX-License-Identifier: Apache-2.0
#include "weftline/channel/channel_runtime.hpp"

#include "endpoint_check.hpp"
#include "inline_publisher_impl.hpp"
#include "inline_subscriber_impl.hpp"
#include "runtime_directory.hpp"
#include "service_thread.hpp"

namespace weftline {

namespace {

std::chrono::nanoseconds attach_timeout(const EndpointRecord& record,
                                        const ChannelAttachOptions& options) {
  return options.attach_timeout.value_or(std::chrono::nanoseconds(record.attach_timeout_ns));
}

}  // namespace

struct ChannelRuntime::Impl {
  std::unique_ptr<channel::ServiceThread> service;
};

ChannelRuntime::ChannelRuntime(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
ChannelRuntime::ChannelRuntime(ChannelRuntime&&) noexcept = default;
ChannelRuntime& ChannelRuntime::operator=(ChannelRuntime&&) noexcept = default;
ChannelRuntime::~ChannelRuntime() = default;

expected<ChannelRuntime, Error> ChannelRuntime::create(const ChannelRuntimeOptions& options) {
  WEFTLINE_ASSIGN(channel::RuntimeDirectory directory,
                  channel::open_runtime_directory(options.directory));
  auto impl = std::make_unique<Impl>();
  WEFTLINE_ASSIGN(impl->service,
                  channel::ServiceThread::start(std::move(directory), options.on_service_thread));
  return ChannelRuntime(std::move(impl));
}

expected<InlinePublisher, Error> ChannelRuntime::create_inline_publisher(
    const ChannelEndpointCatalog& catalog, std::string_view endpoint, EndpointSide side,
    const PayloadIdentity& payload, const ChannelAttachOptions& options) {
  if (!impl_) return fail(ErrorCode::kClosed, "CHANNEL_RUNTIME_MOVED", "this runtime was moved");
  WEFTLINE_ASSIGN(const EndpointRecord* record,
                  channel::check_endpoint(catalog, endpoint, channel::EndpointRole::kPublisher,
                                          side, payload, options));
  WEFTLINE_ASSIGN(auto impl,
                  InlinePublisher::Impl::create(*impl_->service, catalog.deployment_id(), *record,
                                                attach_timeout(*record, options)));
  return InlinePublisher(std::move(impl));
}

expected<InlineSubscriber, Error> ChannelRuntime::create_inline_subscriber(
    const ChannelEndpointCatalog& catalog, std::string_view endpoint, EndpointSide side,
    const PayloadIdentity& payload, const ChannelAttachOptions& options) {
  if (!impl_) return fail(ErrorCode::kClosed, "CHANNEL_RUNTIME_MOVED", "this runtime was moved");
  WEFTLINE_ASSIGN(const EndpointRecord* record,
                  channel::check_endpoint(catalog, endpoint, channel::EndpointRole::kSubscriber,
                                          side, payload, options));
  WEFTLINE_ASSIGN(auto impl,
                  InlineSubscriber::Impl::create(*impl_->service, catalog.deployment_id(), *record,
                                                 attach_timeout(*record, options)));
  return InlineSubscriber(std::move(impl));
}

}  // namespace weftline
