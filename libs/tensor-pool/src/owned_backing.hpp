// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "weftline/cuda/device.hpp"
#include "weftline/tensor/tensor_backing.hpp"

namespace weftline {

class RetirementQueue;

/// Bytes with an owner of their own, for one life. With a queue, its worker ends that life when all
/// streams have passed; without one (plain host memory) the last handle's drop does. The end is the
/// destructor.
class OwnedBacking : public TensorBacking {
 public:
  virtual ~OwnedBacking() = default;

  // One thread, after the last handle is gone.

  /// True when no device can touch the bytes any more. After an error nobody will ever know.
  [[nodiscard]] expected<bool, Error> has_passed() noexcept;

 protected:
  OwnedBacking() noexcept = default;
  /// Cold. The queue is null exactly for plain host memory, as the device is.
  expected<void, Error> build(MemoryKind kind, std::shared_ptr<Device> device, std::byte* data,
                              std::shared_ptr<RetirementQueue> queue,
                              std::uint32_t max_release_streams);

 private:
  void last_reference_dropped() noexcept override;

  std::shared_ptr<Device> owned_device_{};
  std::shared_ptr<RetirementQueue> queue_{};
  HostWaitCounters host_waits_{};  ///< Without a queue.
  bool released_{false};           ///< The release streams are recorded.
};

}  // namespace weftline
