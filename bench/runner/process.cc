// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>
#include <utility>

#include "reports/error.h"

extern char** environ;

namespace assay {
namespace {

// What a program may write into one file: its logs must not fill the disk.
constexpr rlim_t kMaxFileBytes = rlim_t{256} << 20;

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!changes.contains(text.substr(0, text.find('=')))) result.push_back(text);
  }
  for (const auto& [name, value] : changes) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// What the new process is to be, prepared before fork.
struct Launch {
  pid_t parent = -1;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  int input = -1;  // -1: /dev/null
  int output = -1;
  int errors = -1;
  const cpu_set_t* cpus = nullptr;
  bool bounded_files = true;
};

// Between fork and exec: only calls that are safe there.
[[noreturn]] void become(const Launch& launch) {
  (void)setpgid(0, 0);
  (void)std::signal(SIGPIPE, SIG_DFL);  // we may ignore it; its `yes | head` relies on it
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launch.parent) _exit(127);  // it died before the line above
  if (launch.bounded_files) {
    const rlimit log_size{kMaxFileBytes, kMaxFileBytes};
    (void)setrlimit(RLIMIT_FSIZE, &log_size);
  }
  if (launch.cpus != nullptr) (void)sched_setaffinity(0, sizeof(cpu_set_t), launch.cpus);
  const int input = launch.input >= 0 ? launch.input : open("/dev/null", O_RDONLY);
  (void)dup2(input, STDIN_FILENO);
  (void)dup2(launch.output, STDOUT_FILENO);
  (void)dup2(launch.errors, STDERR_FILENO);
  execve(launch.arguments[0], launch.arguments, launch.environment);
  _exit(127);
}

[[noreturn]] void fail(const std::string& what, int error) {
  throw Error(ExitCode::kMeasurement, fmt::format("{}: {}", what, std::strerror(error)));
}

// Open until the child has its copy.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  // Owns a file descriptor.
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

int open_output(const std::filesystem::path& path) {
  if (path.empty()) return -1;
  const int output = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (output < 0) fail(path.string() + ": cannot open", errno);
  return output;
}

cpu_set_t set_of(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &set);
  }
  return set;
}

}  // namespace

Child::Child(const ChildSpec& spec) {
  std::vector<std::string> arguments = spec.arguments;
  std::vector<std::string> environment = merged_environment(spec.environment);
  if (access(arguments[0].c_str(), X_OK) != 0) {
    throw Error(ExitCode::kMeasurement, fmt::format("{}: cannot run: {}; build it first",
                                                    arguments[0], std::strerror(errno)));
  }
  const Descriptor output(open_output(spec.output));
  const Descriptor errors(open_output(spec.errors));
  // A socket and not a pipe: writing to a pipe that nobody reads raises SIGPIPE, which only the
  // whole program could ignore. Our end closes with us, so that the child reads its end of file.
  std::array<int, 2> ends = {-1, -1};
  if (spec.spoken_to && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    fail("socketpair", errno);
  }
  Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  const cpu_set_t cpus = set_of(spec.cpus);
  const Launch launch{.parent = getpid(),
                      .arguments = argv.data(),
                      .environment = envp.data(),
                      .input = theirs.get(),
                      .output = output.get(),
                      .errors = spec.errors.empty() ? output.get() : errors.get(),
                      .cpus = spec.cpus.empty() ? nullptr : &cpus,
                      .bounded_files = spec.bounded_files};
  pid_ = fork();
  if (pid_ == 0) become(launch);
  if (pid_ < 0) fail("fork", errno);
  mouth_ = ours.release();
  (void)setpgid(pid_, pid_);  // here too: whoever comes first
}

Child::~Child() {
  end();
  if (mouth_ >= 0) close(mouth_);
}

bool Child::say(std::string_view text) const {
  const ssize_t sent = send(mouth_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent == static_cast<ssize_t>(text.size());
}

void Child::reap() {
  int status = 0;
  if (ended_ || waitpid(pid_, &status, WNOHANG) != pid_) return;
  if (WIFEXITED(status)) {
    ended_ = fmt::format("exit {}", WEXITSTATUS(status));
  } else {
    ended_ = fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  (void)kill(-pid_, SIGKILL);  // what it left behind
}

const std::optional<std::string>& Child::poll() {
  reap();
  return ended_;
}

bool Child::wait(double seconds) {
  for (int i = 0; i < static_cast<int>(seconds * 50) && !poll(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return ended_.has_value();
}

void Child::end() {
  if (poll()) return;
  (void)kill(-pid_, SIGTERM);
  if (wait(1)) return;
  (void)kill(-pid_, SIGKILL);
  // A process that sits in the driver of a lost GPU does not die: it must not hold up the report.
  if (!wait(5)) ended_ = "could not be killed";
}

std::string last_line_of(const std::filesystem::path& path) {
  constexpr std::streamoff kTail = 4096;  // of what may be a long file
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  file.seekg(std::max<std::streamoff>(file.tellg() - kTail, 0));
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return last.substr(0, 200);
}

}  // namespace assay
