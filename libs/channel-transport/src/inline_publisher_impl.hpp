// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "discovery_record.hpp"
#include "link_acceptor.hpp"
#include "publisher_link_table.hpp"
#include "service_thread.hpp"
#include "weftline/channel/inline_publisher.hpp"

namespace weftline {

struct InlinePublisher::Impl final : channel::ServiceThread::Client {
  /// Takes the record (one live publisher per endpoint), listens, and joins the service thread.
  [[nodiscard]] static expected<std::unique_ptr<Impl>, Error> create(
      channel::ServiceThread& service, const std::string& deployment_id,
      const EndpointRecord& endpoint, std::chrono::nanoseconds attach_timeout);
  ~Impl();

  void on_directory_changed() override {}
  void on_poked() override;
  void on_later() override { acceptor->listen_again(); }
  [[nodiscard]] const std::string& name() const noexcept override { return endpoint.name; }
  void links_changed(bool attached);

  channel::ServiceThread& service;
  const std::string deployment_id;
  const EndpointRecord endpoint;
  const std::chrono::nanoseconds attach_timeout;
  channel::WakeEvent attached_event;
  WritableCallback callback{};  // written with the service thread's mutex held
  bool closed{false};           // of the caller
  channel::PublisherLinkTable table;
  std::unique_ptr<channel::LinkAcceptor> acceptor;
  std::unique_ptr<channel::DiscoveryRecord> record;

 private:
  Impl(channel::ServiceThread& thread, const std::string& deployment, const EndpointRecord& what,
       std::chrono::nanoseconds timeout, channel::WakeEvent event)
      : service(thread),
        deployment_id(deployment),
        endpoint(what),
        attach_timeout(timeout),
        attached_event(std::move(event)),
        table(what.max_subscribers, thread) {}
};

}  // namespace weftline
