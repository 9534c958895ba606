// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "channel_fixture.hpp"
#include "unique_fd.hpp"

namespace weftline::test {

/// A second process: this very program, run with one hidden test case that obeys commands. One
/// command, one line of answer, over two pipes; so each step is known to have happened.
///
///   publish, subscribe          make the endpoint "frames" of `remote_catalog`
///   emit <n>, await, receive, take    its calls; take waits
///   fork                        a child that keeps all open files; answers with its process id
///   close, destroy, leave_runtime_first, exit
class RemotePeer {
 public:
  explicit RemotePeer(const TemporaryDirectory& directory);
  ~RemotePeer();
  RemotePeer(const RemotePeer&) = delete;
  RemotePeer& operator=(const RemotePeer&) = delete;

  /// "ok", a number, or "<error code>: <message>".
  std::string ask(const std::string& command);
  /// Sends a signal; for SIGKILL also waits for the end of the process.
  void signal(int number);
  /// Waits until the kernel reports the process as stopped.
  void stop();
  /// Sends the command and waits for the end; the status is that of waitpid.
  int end_with(const std::string& command);
  /// What it wrote to stderr, once end_with() has returned.
  [[nodiscard]] const std::string& error_output() const { return error_output_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  void send(const std::string& command);
  int reap();
  pid_t pid_{-1};
  channel::UniqueFd commands_;
  channel::UniqueFd answers_;
  channel::UniqueFd errors_;
  std::string error_output_;
};

ChannelEndpointCatalog remote_catalog();

}  // namespace weftline::test
