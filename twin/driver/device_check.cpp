// SPDX-License-Identifier: Apache-2.0
#include "device_check.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace fs = std::filesystem;

namespace twincc {
namespace {

std::string source_line(const Place& at) {
  static std::map<std::string, std::vector<std::string>> files;
  auto [file, fresh] = files.try_emplace(at.file);
  std::error_code error;
  if (fresh && fs::is_regular_file(at.file, error)) {
    std::istringstream in(read_file(at.file));
    for (std::string line; std::getline(in, line);) file->second.push_back(line);
  }
  const std::size_t i = static_cast<std::size_t>(at.line) - 1;
  return i < file->second.size() ? file->second[i] : "";
}

struct Diagnostic {
  Place at;
  std::string what;
};
// "path:line:column: error: what" lines of clang.
std::vector<Diagnostic> errors_of(const fs::path& file) {
  std::vector<Diagnostic> out;
  std::istringstream in(read_file(file));
  for (std::string line; std::getline(in, line);) {
    std::size_t at = line.find(": error: "), skip = 9;
    if (at == std::string::npos) at = line.find(": fatal error: "), skip = 15;
    if (at == std::string::npos) continue;
    const std::size_t column = line.rfind(':', at - 1);
    const std::size_t row = column == std::string::npos || column == 0 ? column : line.rfind(':', column - 1);
    if (row == std::string::npos) continue;
    out.push_back({{line.substr(0, row), std::atoi(line.c_str() + row + 1)}, line.substr(at + skip)});
  }
  return out;
}

class Check {
 public:
  Check(const Options& o, const Unit& unit, const fs::path& source, const std::vector<std::string>& flags,
        const fs::path& work)
      : o_(o), unit_(unit), source_(source), flags_(flags), work_(work) {}

  bool run() {
    fs::create_directories(work_);
    const bool cube = unit_.mix() || unit_.type() == "AicOnly", vector = unit_.mix() || unit_.type() != "AicOnly";
    if (cube) pass("-D__DAV_C220_CUBE__=1", "aic", 32);
    if (vector) pass("-D__DAV_C220_VEC__=1", "aiv", 16);
    return print();
  }

 private:
  std::vector<std::string> command(const char* core, const char* kind) const {
    std::vector<std::string> c = {o_.clang, kind, core};
    c.insert(c.end(), flags_.begin(), flags_.end());
    c.insert(c.end(),
             {"-w", "-ferror-limit=0", "-fno-caret-diagnostics", "-fno-color-diagnostics", "-fdiagnostics-absolute-paths"});
    return c;
  }
  void pass(const char* core, const std::string& name, int cache_kib) {
    // Errors that only distinct memories bring are a kernel's; host code has no such pointers.
    const fs::path messages = work_ / (name + ".txt"), ir = work_ / (name + ".ll");
    std::vector<std::string> pointers = command(core, "-DTWIN_DEVICE_CHECK=2");
    pointers.insert(pointers.end(), {"-fsyntax-only", source_.string()});
    if (execute(o_, pointers, {}, messages) == 127) fail("cannot run " + o_.clang);
    for (const Diagnostic& d : errors_of(messages)) {
      if (unit_.is_device_line(d.at.file, d.at.line)) add(d.at, d.what);
    }
    std::vector<std::string> calls = command(core, "-DTWIN_DEVICE_CHECK=1");
    calls.insert(calls.end(), {"-O0", "-Xclang", "-disable-O0-optnone", "-gline-tables-only", "-S", "-emit-llvm",
                               source_.string(), "-o", ir.string()});
    if (execute(o_, calls, {}, messages) != 0) return not_compiled(messages);
    std::map<std::string, std::set<std::string>> reached;
    for (const Complaint& c : check_calls(read_module(read_file(ir)), include_home().string(), source_line, &reached))
      found_.insert(c);
    code_size(ir, name, cache_kib, reached);
  }
  void not_compiled(const fs::path& messages) {
    bool explained = false;
    std::string first = "no message";
    for (const Diagnostic& d : errors_of(messages)) {
      if (first == "no message") first = d.at.file + ":" + std::to_string(d.at.line) + ": " + d.what;
      if (!unit_.is_device_line(d.at.file, d.at.line)) continue;
      add(d.at, d.what);
      explained = true;
    }
    if (!explained)
      add({unit_.file().string(), 1}, o_.clang + " cannot compile this file, so its kernels are not checked: " + first);
  }
  // Optimised code of this host, instructions of the twin as calls: of about the size that the core's code has.
  void code_size(const fs::path& ir, const std::string& name, int cache_kib,
                 const std::map<std::string, std::set<std::string>>& reached) {
    const fs::path object = work_ / (name + ".o"), table = work_ / (name + ".nm");
    if (execute(o_, {o_.clang, "-O2", "-w", "-c", ir.string(), "-o", object.string()}, {}, work_ / "size.txt") != 0) return;
    if (execute(o_, {"nm", "-S", "--defined-only", object.string()}, table, work_ / "size.txt") != 0) return;
    std::map<std::string, unsigned long long> sizes;
    std::istringstream in(read_file(table));
    for (std::string line; std::getline(in, line);) {
      std::istringstream row(line);
      std::string address, size, kind, symbol;
      if (row >> address >> size >> kind >> symbol) sizes[symbol] = std::strtoull(size.c_str(), nullptr, 16);
    }
    for (const auto& [kernel, functions] : reached) {
      unsigned long long bytes = 0;
      for (const std::string& f : functions) bytes += sizes.count(f) ? sizes[f] : 0;
      if (bytes <= static_cast<unsigned long long>(cache_kib) * 1024) continue;
      add({unit_.file().string(), 1},
          "kernel " + readable(kernel) + " is about " + std::to_string(bytes / 1024) +
              " KiB of code (estimated), the instruction cache of " + (name == "aic" ? "a cube" : "a vector") +
              " core holds " + std::to_string(cache_kib) + " KiB: unroll and inline less, or split the kernel",
          false);
    }
  }
  void add(const Place& at, const std::string& what, bool fatal = true) {
    Complaint c;
    c.at = at;
    c.what = what;
    c.fatal = fatal;
    found_.insert(std::move(c));
  }
  bool print() const {
    bool refused = false, fatal = false;
    for (const Complaint& c : found_) {
      const bool error = c.fatal && o_.device_check == DeviceCheck::Error;
      refused |= error;
      fatal |= c.fatal;
      std::fprintf(stderr, "%s:%d: %s: %s [device-check]\n", c.at.file.c_str(), c.at.line, error ? "error" : "warning",
                   c.what.c_str());
    }
    if (fatal && !refused)
      std::fprintf(
          stderr,
          "twincc: the chip's compiler would refuse this; --device-check=error makes it an error, =off does not look\n");
    return !refused;
  }

  const Options& o_;
  const Unit& unit_;
  const fs::path source_;
  const std::vector<std::string>& flags_;
  const fs::path work_;
  std::set<Complaint> found_;
};

}  // namespace

bool device_check(const Options& o, const Unit& unit, const fs::path& source, const std::vector<std::string>& flags,
                  const fs::path& work) {
  return Check(o, unit, source, flags, work).run();
}

}  // namespace twincc
