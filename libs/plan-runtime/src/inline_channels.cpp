// SPDX-License-Identifier: Apache-2.0
#include "inline_channels.hpp"

#include <cstddef>

#include "parker.hpp"
#include "weftline/channel/inline_publisher.hpp"

namespace weftline::runtime {
namespace {

/// Scalars and PODs: their bytes go into the channel's frames.
class InlineExportPort final : public ExportPort {
 public:
  InlineExportPort(InlinePublisher publisher, std::size_t body_bytes) noexcept
      : publisher_(std::move(publisher)), body_bytes_(body_bytes) {}

  void wake(Parker& lane) noexcept override {
    publisher_.set_writable_callback(
        {[](void* parker) noexcept { static_cast<Parker*>(parker)->wake(); }, &lane});
  }
  bool has_room() const noexcept override { return publisher_.has_room(); }
  std::uint32_t peer_count() const noexcept override { return publisher_.subscriber_count(); }
  expected<std::uint32_t, Error> publish(const void* value,
                                         const SampleMetadata& metadata) noexcept override {
    return publisher_.publish({static_cast<const std::byte*>(value), body_bytes_}, metadata);
  }
  void close() noexcept override { static_cast<void>(publisher_.close()); }
  expected<void, Error> wait_for_peer(std::chrono::steady_clock::time_point deadline) override {
    return publisher_.wait_for_subscriber(deadline);
  }

 private:
  InlinePublisher publisher_;
  const std::size_t body_bytes_;
};

}  // namespace

expected<std::unique_ptr<ExportPort>, Error> InlineChannels::open_export(
    const EndpointRecord& endpoint) {
  WEFTLINE_ASSIGN(InlinePublisher publisher,
                  runtime_.create_inline_publisher(catalog_, endpoint.name, EndpointSide::kGraph,
                                                   endpoint.payload));
  return std::make_unique<InlineExportPort>(std::move(publisher), endpoint.payload.size);
}

expected<std::unique_ptr<ImportPort>, Error> InlineChannels::open_import(
    const EndpointRecord& endpoint) {
  return fail(ErrorCode::kNotSupported, "RUN_IMPORT_UNSUPPORTED",
              "this version does not take the topic " + endpoint.uri + " from another process");
}

}  // namespace weftline::runtime
