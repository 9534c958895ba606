// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "publisher_ring.hpp"
#include "service_thread.hpp"

namespace weftline::channel {

/// A link as the emit path sees it.
struct PublisherLink {
  explicit PublisherLink(PublisherRing made) noexcept : ring(std::move(made)) {}
  PublisherRing ring;
  std::atomic<bool> broken{
      false};  ///< Set by the emit path; the service thread then drops the link.
};

/// The links that a publisher writes to: a fixed array of atomic pointers. The service thread puts
/// links in and takes them out; the emit path reads them without a lock. A link that is taken out
/// is freed only when no emit that may still use it is under way.
class PublisherLinkTable {
 public:
  PublisherLinkTable(std::uint32_t maximum_links, const ServiceThread& service);

  /// The links of this moment, for the time of one emit. One at a time: the caller serializes.
  class Emit {
   public:
    explicit Emit(PublisherLinkTable& table) noexcept;
    ~Emit();
    Emit(const Emit&) = delete;
    Emit& operator=(const Emit&) = delete;
    [[nodiscard]] std::span<PublisherLink* const> links() const noexcept;
    /// Takes a link out of this snapshot and has it dropped by the service thread.
    void give_up(PublisherLink& link) noexcept;

   private:
    PublisherLinkTable& table_;
    std::size_t count_{0};
  };

  /// Frames that were dropped, of all links since creation. Never less than before; behind by a
  /// link that is just being retired. Not while an Emit is there.
  [[nodiscard]] std::uint64_t dropped() noexcept;

  // Service side, with the service thread's mutex held.

  /// The caller keeps at most `maximum_links` in the table.
  void add(PublisherLink& link) noexcept;
  /// Takes a link out and frees it as soon as no emit uses it.
  void retire(std::unique_ptr<PublisherLink> link);
  /// Frees what retire() had to keep. For on_poked().
  void free_retired() noexcept;

  [[nodiscard]] std::uint32_t count() const noexcept { return count_.load(); }

 private:
  std::vector<std::atomic<PublisherLink*>> slots_;
  std::vector<PublisherLink*> snapshot_;  // of the emit path
  std::uint64_t known_dropped_{0};        // of the emit path
  const ServiceThread& service_;
  std::atomic<bool> emitting_{false};
  std::atomic<bool> retire_waits_{false};
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint64_t> dropped_before_{0};         // on links that are freed
  std::vector<std::unique_ptr<PublisherLink>> retired_;  // of the service side
};

}  // namespace weftline::channel
