// SPDX-License-Identifier: Apache-2.0
#include <nvtx3/nvToolsExt.h>

#include "nvtx_ranges.hpp"

namespace weftline::runtime::nvtx {
namespace {

nvtxDomainHandle_t domain() noexcept {
  static const nvtxDomainHandle_t kDomain = nvtxDomainCreateA("weftline");
  return kDomain;
}

nvtxEventAttributes_t attributes(Name name) noexcept {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = static_cast<nvtxStringHandle_t>(name);
  return event;
}

}  // namespace

bool available() noexcept { return true; }

Name register_name(const std::string& text) {
  return nvtxDomainRegisterStringA(domain(), text.c_str());
}

void begin(Name name) noexcept {
  const nvtxEventAttributes_t event = attributes(name);
  nvtxDomainRangePushEx(domain(), &event);
}

void end() noexcept { nvtxDomainRangePop(domain()); }

void mark(Name name) noexcept {
  const nvtxEventAttributes_t event = attributes(name);
  nvtxDomainMarkEx(domain(), &event);
}

}  // namespace weftline::runtime::nvtx
