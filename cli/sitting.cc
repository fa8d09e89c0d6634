// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/sitting.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace assay {
namespace {

// A signal handler reaches nothing but what is global.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void interrupt(int) { interrupted = true; }

}  // namespace

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (terminal_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::operator()(const std::string& line) const {
  std::fputs((terminal_ ? "\r\033[K" + line : line + "\n").c_str(), stderr);
  std::fflush(stderr);
}

const std::atomic<bool>& stop_on_signals() {
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  return interrupted;
}

}  // namespace assay
