// SPDX-License-Identifier: Apache-2.0
#include "cli/temporary_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace tessera::cli {
namespace {

constexpr int kFatal[] = {SIGINT, SIGTERM, SIGHUP};

// What a signal removes. The handlers stand only while it is set, so they never see half of it.
const char* g_name = nullptr;
struct sigaction g_before[std::size(kFatal)];

// Only calls that a handler may make (POSIX.1-2017, 2.4.3). SA_RESETHAND has put the default back: the second signal,
// delivered on return, ends the process.
extern "C" void remove_and_end(int signal) {
  ::unlink(g_name);
  ::raise(signal);
}

void watch_signals(const char* name) {
  g_name = name;
  struct sigaction action = {};
  action.sa_handler = remove_and_end;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < std::size(kFatal); ++i) {
    ::sigaction(kFatal[i], nullptr, &g_before[i]);
    if (g_before[i].sa_handler != SIG_IGN) ::sigaction(kFatal[i], &action, nullptr);  // as nohup wants it
  }
}

void forget_signals() {
  for (std::size_t i = 0; i < std::size(kFatal); ++i) ::sigaction(kFatal[i], &g_before[i], nullptr);
  g_name = nullptr;
}

}  // namespace

TemporaryFile::TemporaryFile(const std::string& target) : target_(target), name_(target + ".tmp.XXXXXX") {
  sigset_t fatal, before;
  ::sigemptyset(&fatal);
  for (const int signal : kFatal) ::sigaddset(&fatal, signal);
  ::pthread_sigmask(SIG_BLOCK, &fatal, &before);  // no signal falls between the file and its handler
  fd_ = ::mkstemp(name_.data());
  const int error = errno;
  if (fd_ >= 0) watch_signals(name_.c_str());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
}

TemporaryFile::~TemporaryFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(name_.c_str());
  forget_signals();
}

bool TemporaryFile::keep() {
  const int closed = ::close(fd_);
  fd_ = -1;
  const bool kept = closed == 0 && std::rename(name_.c_str(), target_.c_str()) == 0;
  const int error = errno;
  if (!kept) ::unlink(name_.c_str());
  forget_signals();
  errno = error;
  return kept;
}

}  // namespace tessera::cli
