// SPDX-License-Identifier: Apache-2.0
// twincc's command line, and what every part of it needs: messages, files, processes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace twincc {

enum class DeviceCheck { Auto, Off, Warn, Error };  // Auto: Warn where a clang is found

struct Options {
  std::string cxx, out, keep;
  bool compile_only = false, verbose = false, auto_sync = true, has_std = false, has_level = false, has_debug = false,
       steps = false,   // -g was given, not only assumed
      pointers = true;  // the twin sees what goes through pointers into GM
  DeviceCheck device_check = DeviceCheck::Auto;
  std::string clang;               // for the device check
  std::vector<std::string> flags;  // for the compiler, in order
  std::vector<std::string> sources, linked;
  std::vector<std::filesystem::path> include_dirs;  // of -I and -iquote
  std::vector<std::filesystem::path> system_dirs;   // of -isystem
  std::vector<std::string> included;                // by -include
};

// Exits with a message where the command line has no meaning.
Options parse(int argc, char** argv);

[[noreturn]] void fail(const std::string& why);
std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& text);
bool starts_with(const std::string& s, const char* with);
bool ends_with(const std::string& s, const char* with);

// Runs a command; with files, its output and error output go there. The exit status, 127 if it cannot be run.
int execute(const Options& o, const std::vector<std::string>& command, const std::filesystem::path& output = {},
            const std::filesystem::path& errors = {});
// The same, and twincc ends if it does not succeed.
void run(const Options& o, const std::vector<std::string>& command);
// The first of these programs that there is, "" if none.
std::string find_program(const std::vector<std::string>& names);

// The twin's headers and library, relative to the running twincc: installed, or in the build folder.
std::filesystem::path include_home();
std::filesystem::path library_home();

}  // namespace twincc
