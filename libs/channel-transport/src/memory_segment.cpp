// SPDX-License-Identifier: Apache-2.0
#include "memory_segment.hpp"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "system_failure.hpp"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010  // in the kernel's headers only, before glibc 2.37
#endif

namespace weftline::channel {

namespace {

constexpr int kFixedSize = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

int seals_for(SegmentWriter writer) noexcept {
  return writer == SegmentWriter::kThisProcess ? kFixedSize | F_SEAL_FUTURE_WRITE : kFixedSize;
}

auto wrong_segment(const std::string& message) {
  return fail(ErrorCode::kProtocolError, "CHANNEL_WRONG_SEGMENT", message);
}

}  // namespace

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this != &other) {
    unmap();
    address_ = std::exchange(other.address_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

Mapping::~Mapping() { unmap(); }

void Mapping::unmap() noexcept {
  if (address_ != nullptr) ::munmap(address_, bytes_);
}

expected<Segment, Error> create_segment(const char* name, std::size_t bytes) {
  Segment segment;
  segment.fd = UniqueFd{::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  const std::string what = "cannot create " + std::to_string(bytes) + " bytes of shared memory";
  if (!segment.fd.valid()) return system_failure("CHANNEL_MEMORY", what, errno);
  // Allocated here, or a full memory would show as SIGBUS in the middle of a publish.
  if (const int error = ::posix_fallocate(segment.fd.get(), 0, static_cast<off_t>(bytes))) {
    return system_failure("CHANNEL_MEMORY", what, error, "lower queue_depth or free memory");
  }
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                         segment.fd.get(), 0);
  if (address == MAP_FAILED) return system_failure("CHANNEL_MEMORY", what, errno);
  segment.mapping = Mapping(address, bytes);
  return segment;
}

expected<void, Error> seal_segment(const Segment& segment, SegmentWriter writer) {
  if (::fcntl(segment.fd.get(), F_ADD_SEALS, seals_for(writer)) != 0) {
    return system_failure("CHANNEL_MEMORY", "cannot seal shared memory", errno,
                          "Linux 5.1 or later is needed");
  }
  return {};
}

expected<Mapping, Error> map_received(const UniqueFd& fd, std::size_t bytes, SegmentWriter writer) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) {
    return wrong_segment("received memory cannot be examined: " +
                         std::generic_category().message(errno));
  }
  if (status.st_size != static_cast<off_t>(bytes)) {
    return wrong_segment("received memory has " + std::to_string(status.st_size) +
                         " bytes, the endpoint needs " + std::to_string(bytes));
  }
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  const int needed = seals_for(writer);
  if (seals < 0 || (seals & needed) != needed) {
    return wrong_segment("received memory has the seals " + std::to_string(seals) +
                         ", not all of " + std::to_string(needed));
  }
  const int protection = writer == SegmentWriter::kReceiver ? PROT_READ | PROT_WRITE : PROT_READ;
  void* address = ::mmap(nullptr, bytes, protection, MAP_SHARED | MAP_POPULATE, fd.get(), 0);
  if (address == MAP_FAILED) {
    return wrong_segment("received memory cannot be mapped: " +
                         std::generic_category().message(errno));
  }
  return Mapping(address, bytes);
}

expected<UniqueFd, Error> create_sealed_text(std::string_view text) {
  UniqueFd fd{::memfd_create("weftline-record", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!fd.valid() ||
      ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fcntl(fd.get(), F_ADD_SEALS, kFixedSize | F_SEAL_WRITE) != 0) {
    return system_failure("CHANNEL_MEMORY", "cannot prepare the endpoint record", errno);
  }
  return fd;
}

expected<std::string, Error> read_sealed_text(const UniqueFd& fd, std::size_t limit) {
  // Only a memfd has seals, so a read of it can't wait for anybody.
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_WRITE) == 0) {
    return wrong_segment("the endpoint record is not a sealed memfd");
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || status.st_size < 0 ||
      static_cast<std::size_t>(status.st_size) > limit) {
    return wrong_segment("the endpoint record has " + std::to_string(status.st_size) +
                         " bytes, at most " + std::to_string(limit) + " are read");
  }
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  if (::pread(fd.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return wrong_segment("the endpoint record cannot be read");
  }
  return text;
}

}  // namespace weftline::channel
