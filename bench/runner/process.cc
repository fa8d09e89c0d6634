// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/runner/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

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

// Between fork and exec: only calls that are safe there.
[[noreturn]] void become(pid_t parent, char* const* arguments, char* const* environment, int output,
                         int errors) {
  (void)setpgid(0, 0);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // it died before the line above
  const rlimit log_size{kMaxFileBytes, kMaxFileBytes};
  (void)setrlimit(RLIMIT_FSIZE, &log_size);
  const int null = open("/dev/null", O_RDONLY);
  (void)dup2(null, STDIN_FILENO);
  (void)dup2(output, STDOUT_FILENO);
  (void)dup2(errors, STDERR_FILENO);
  execve(arguments[0], arguments, environment);
  _exit(127);
}

int open_output(const std::filesystem::path& path) {
  const int output = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (output >= 0) return output;
  throw Error(ExitCode::kMeasurement,
              fmt::format("{}: cannot open: {}", path.string(), std::strerror(errno)));
}

}  // namespace

Child::Child(const ChildSpec& spec) {
  std::vector<std::string> arguments = spec.arguments;
  std::vector<std::string> environment = merged_environment(spec.environment);
  if (access(arguments[0].c_str(), X_OK) != 0) {
    throw Error(ExitCode::kMeasurement, fmt::format("{}: cannot run: {}; build it first",
                                                    arguments[0], std::strerror(errno)));
  }
  const int output = open_output(spec.output);
  const int errors = spec.errors.empty() ? output : open_output(spec.errors);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become(parent, argv.data(), envp.data(), output, errors);
  const int error = errno;
  close(output);
  if (errors != output) close(errors);
  if (pid_ < 0) {
    throw Error(ExitCode::kMeasurement, fmt::format("fork: {}", std::strerror(error)));
  }
  (void)setpgid(pid_, pid_);  // here too: whoever comes first
}

Child::~Child() { end(); }

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
  std::ifstream file(path, std::ios::binary);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return last.substr(0, 200);
}

}  // namespace assay
