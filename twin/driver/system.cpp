// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "options.hpp"

namespace fs = std::filesystem;

namespace twincc {

void fail(const std::string& why) {
  std::fprintf(stderr, "twincc: %s\n", why.c_str());
  std::exit(2);
}

std::string read_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) fail(path.string() + " is a folder, not a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("cannot read " + path.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_file(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) fail("cannot write " + path.string());
}

bool starts_with(const std::string& s, const char* with) { return s.compare(0, std::strlen(with), with) == 0; }
bool ends_with(const std::string& s, const char* with) {
  const std::size_t n = std::strlen(with);
  return s.size() >= n && s.compare(s.size() - n, n, with) == 0;
}

int execute(const Options& o, const std::vector<std::string>& command, const fs::path& output, const fs::path& errors) {
  std::vector<char*> argv;
  for (const std::string& a : command) {
    if (o.verbose) std::fprintf(stderr, "%s ", a.c_str());
    argv.push_back(const_cast<char*>(a.c_str()));
  }
  if (o.verbose) std::fputc('\n', stderr);
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) fail("cannot start a process");
  if (child == 0) {
    const auto redirect = [](const fs::path& path, int to) {
      const int file = path.empty() ? -1 : open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      if (file >= 0) dup2(file, to);
    };
    redirect(output, 1);
    redirect(errors, 2);
    execvp(argv[0], argv.data());
    std::fprintf(stderr, "twincc: cannot run %s\n", argv[0]);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void run(const Options& o, const std::vector<std::string>& command) {
  const int status = execute(o, command);
  if (status != 0) std::exit(status == 127 ? 2 : 1);
}

std::string find_program(const std::vector<std::string>& names) {
  const char* variable = std::getenv("PATH");
  const std::string path = variable ? variable : "/usr/bin:/bin";
  for (const std::string& name : names) {
    if (name.find('/') != std::string::npos) {
      if (access(name.c_str(), X_OK) == 0) return name;
      continue;
    }
    std::istringstream dirs(path);
    for (std::string dir; std::getline(dirs, dir, ':');) {
      if (access((fs::path(dir) / name).c_str(), X_OK) == 0) return name;
    }
  }
  return "";
}

namespace {

// An installed twincc finds its files from its own place; beside one in a build folder lies a note that says where they are.
fs::path home(const char* installed, std::size_t line, const char* what) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  fs::path at_home = (self.parent_path() / installed).lexically_normal();
  if (fs::exists(at_home, error)) return at_home;
  std::ifstream note(self.parent_path() / "twincc.home");
  std::string path;
  for (std::size_t i = 0; i <= line; ++i) std::getline(note, path);
  if (!path.empty() && fs::exists(path, error)) return path;
  fail(std::string("cannot find the twin's ") + what + ": expected " + at_home.string() +
       "; install Tessera again, twincc with it");
}

}  // namespace

fs::path include_home() { return home(TWIN_INSTALLED_INCLUDE, 0, "headers"); }
fs::path library_home() { return home(TWIN_INSTALLED_LIBRARY, 1, "library"); }

}  // namespace twincc
