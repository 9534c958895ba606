// SPDX-License-Identifier: Apache-2.0
#include "remote_peer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <optional>

namespace weftline::test {

namespace {

constexpr int kCommandFd = 3;
constexpr int kAnswerFd = 4;
constexpr const char* kDirectoryVariable = "WEFTLINE_TEST_PEER_DIRECTORY";

struct Pipe {
  channel::UniqueFd read{};
  channel::UniqueFd write{};
};

Pipe make_pipe() {
  int fds[2];
  REQUIRE(::pipe2(fds, O_CLOEXEC) == 0);
  return {channel::UniqueFd{fds[0]}, channel::UniqueFd{fds[1]}};
}

/// False at the end of the stream.
bool read_line(int fd, std::string& line) {
  line.clear();
  char c = 0;
  while (::read(fd, &c, 1) == 1) {
    if (c == '\n') return true;
    line.push_back(c);
  }
  return false;
}

void write_line(int fd, const std::string& line) {
  const std::string text = line + "\n";
  [[maybe_unused]] const auto written = ::write(fd, text.data(), text.size());
}

std::string one_line(const Error& error) { return error.to_string(); }

/// The other process's side.
class PeerProgram {
 public:
  explicit PeerProgram(const char* directory)
      : runtime_(*ChannelRuntime::create({directory})), catalog_(remote_catalog()) {}

  std::string obey(const std::string& command) {
    if (command == "publish")
      return make(runtime_->create_publisher<std::uint32_t>(catalog_, "frames"), publisher_);
    if (command == "subscribe")
      return make(try_subscribe<std::uint32_t>(*runtime_, catalog_), subscriber_);
    if (command == "await") return result(publisher_->wait_for_subscriber(watchdog()));
    if (command.starts_with("emit ")) {
      return value(publisher_->emit(static_cast<std::uint32_t>(std::stoul(command.substr(5)))));
    }
    if (command == "receive") return sample(subscriber_->receive_sample());
    if (command == "take") return sample(subscriber_->wait_and_receive_sample(watchdog()));
    if (command == "close") return result(publisher_ ? publisher_->close() : subscriber_->close());
    if (command == "destroy") {
      publisher_.reset();
      subscriber_.reset();
      return "ok";
    }
    if (command == "fork") {
      const pid_t child = ::fork();
      if (child == 0) {
        for (;;) ::pause();
      }
      return std::to_string(child);
    }
    if (command == "leave_runtime_first") {
      std::signal(SIGABRT, SIG_DFL);  // not the test framework's handler, which writes a report
      runtime_.reset();
    }
    return "unknown command";
  }

 private:
  template <class T>
  static std::string make(expected<T, Error> made, std::optional<T>& place) {
    if (!made) return one_line(made.error());
    place.emplace(std::move(*made));
    return "ok";
  }
  static std::string result(const expected<void, Error>& outcome) {
    return outcome ? "ok" : one_line(outcome.error());
  }
  static std::string value(const expected<std::uint32_t, Error>& outcome) {
    return outcome ? std::to_string(*outcome) : one_line(outcome.error());
  }
  static std::string sample(const expected<Sample<std::uint32_t>, Error>& outcome) {
    return outcome ? std::to_string(outcome->data) : one_line(outcome.error());
  }

  std::optional<ChannelRuntime> runtime_;
  ChannelEndpointCatalog catalog_;
  std::optional<ChannelPublisher<std::uint32_t>> publisher_;
  std::optional<ChannelSubscriber<std::uint32_t>> subscriber_;
};

}  // namespace

ChannelEndpointCatalog remote_catalog() { return catalog_with<std::uint32_t>(blocking()); }

TEST_CASE("a second process obeys commands", "[.peer]") {
  const char* directory = std::getenv(kDirectoryVariable);
  REQUIRE(directory != nullptr);
  PeerProgram program(directory);
  std::string command;
  while (read_line(kCommandFd, command) && command != "exit") {
    write_line(kAnswerFd, program.obey(command));
  }
}

RemotePeer::RemotePeer(const TemporaryDirectory& directory) {
  Pipe commands = make_pipe();
  Pipe answers = make_pipe();
  Pipe errors = make_pipe();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  // Above the two fixed numbers first: a dup2 onto itself would keep close-on-exec.
  const int command_fd = ::fcntl(commands.read.get(), F_DUPFD_CLOEXEC, 10);
  const int answer_fd = ::fcntl(answers.write.get(), F_DUPFD_CLOEXEC, 10);
  ::posix_spawn_file_actions_adddup2(&actions, command_fd, kCommandFd);
  ::posix_spawn_file_actions_adddup2(&actions, answer_fd, kAnswerFd);
  ::posix_spawn_file_actions_adddup2(&actions, errors.write.get(), STDERR_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const std::string variable = std::string(kDirectoryVariable) + "=" + directory.path().string();
  std::vector<char*> environment{const_cast<char*>(variable.c_str())};
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  environment.push_back(nullptr);
  const char* arguments[] = {"peer", "a second process obeys commands", nullptr};
  const int error = ::posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr,
                                  const_cast<char**>(arguments), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(command_fd);
  ::close(answer_fd);
  REQUIRE(error == 0);
  commands_ = std::move(commands.write);
  answers_ = std::move(answers.read);
  errors_ = std::move(errors.read);
}

RemotePeer::~RemotePeer() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    reap();
  }
}

void RemotePeer::send(const std::string& command) { write_line(commands_.get(), command); }

std::string RemotePeer::ask(const std::string& command) {
  send(command);
  pollfd query{answers_.get(), POLLIN, 0};
  const int ready = ::poll(&query, 1, 60'000);
  std::string answer;
  if (ready != 1 || !read_line(answers_.get(), answer)) {
    FAIL("the second process did not answer '" + command + "'");
  }
  return answer;
}

void RemotePeer::signal(int number) {
  REQUIRE(::kill(pid_, number) == 0);
  if (number == SIGKILL) reap();
}

void RemotePeer::stop() {
  REQUIRE(::kill(pid_, SIGSTOP) == 0);
  int status = 0;
  REQUIRE(::waitpid(pid_, &status, WUNTRACED) == pid_);
  REQUIRE(WIFSTOPPED(status));
}

int RemotePeer::end_with(const std::string& command) {
  send(command);
  // Read first: a process with a full pipe would not end.
  std::string line;
  while (read_line(errors_.get(), line)) error_output_ += line + "\n";
  return reap();
}

int RemotePeer::reap() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return status;
}

}  // namespace weftline::test
