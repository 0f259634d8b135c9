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

using Module = std::map<std::string, IrFunction>;
using Symbols = std::set<std::string>;
using Sizes = std::map<std::string, unsigned long long>;

constexpr std::size_t kMostKeys = 32;  // each costs two runs of clang's optimiser, about a second

// Of `before`, what the kernel reaches in another form of the module.
Symbols reached_in(const Module& module, const std::string& kernel, const Symbols& before) {
  Symbols out;
  std::vector<std::string> open = {kernel};
  while (!open.empty()) {
    const std::string symbol = open.back();
    open.pop_back();
    const auto f = module.find(symbol);
    if (f == module.end() || before.count(symbol) == 0 || !out.insert(symbol).second) continue;
    for (const Reference& r : f->second.references) open.push_back(r.symbol);
  }
  return out;
}
unsigned long long bytes_of(const Sizes& sizes, const Symbols& functions) {
  unsigned long long bytes = 0;
  for (const std::string& f : functions) bytes += sizes.count(f) ? sizes.at(f) : 0;
  return bytes;
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
    // So that sqrtf stays a call of the host's library, and __builtin_sqrtf an instruction of the scalar unit.
    calls.push_back("-fno-math-errno");
    for (const std::string& f : host_mathematics())
      calls.insert(calls.end(), {"-fno-builtin-" + f, "-fno-builtin-" + f + "f"});
    calls.insert(calls.end(), {"-O0", "-Xclang", "-disable-O0-optnone", "-gline-tables-only", "-S", "-emit-llvm",
                               source_.string(), "-o", ir.string()});
    if (execute(o_, calls, {}, messages) != 0) return not_compiled(messages);
    std::map<std::string, std::set<std::string>> reached;
    const Module module = read_module(read_file(ir));
    for (const Complaint& c : check_calls(module, include_home().string(), source_line, &reached)) found_.insert(c);
    code_size(ir, module, name, cache_kib, reached);
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
  bool sizes_of(const fs::path& ir, Sizes* sizes) const {
    const fs::path object = ir.string() + ".o", table = ir.string() + ".nm";
    if (execute(o_, {o_.clang, "-O2", "-w", "-c", ir.string(), "-o", object.string()}, {}, work_ / "size.txt") != 0)
      return false;
    if (execute(o_, {"nm", "-S", "--defined-only", object.string()}, table, work_ / "size.txt") != 0) return false;
    std::istringstream in(read_file(table));
    for (std::string line; std::getline(in, line);) {
      std::istringstream row(line);
      std::string address, size, kind, symbol;
      if (row >> address >> size >> kind >> symbol) (*sizes)[symbol] = std::strtoull(size.c_str(), nullptr, 16);
    }
    return true;
  }
  // The program of one tiling key: what its branches leave of the module.
  struct OfKey {
    Module module;
    Sizes sizes;
    bool made = false;
  };
  OfKey of_key(const fs::path& ir, const std::string& key) const {
    OfKey out;
    const fs::path own = ir.string() + "." + key + ".ll", optimised = own.string() + ".optimised.ll";
    write_file(own, with_tiling_key(read_file(ir), key));
    const std::vector<std::string> optimise = {o_.clang,     "-O2",        "-w", "-S",
                                               "-emit-llvm", own.string(), "-o", optimised.string()};
    out.made = execute(o_, optimise, {}, work_ / "size.txt") == 0 && sizes_of(own, &out.sizes);
    if (out.made) out.module = read_module(read_file(optimised));
    return out;
  }
  struct Size {
    unsigned long long bytes = 0;
    std::string key;  // "" for all together
  };
  // Of the kernel's keys the one with the largest program; `all` if they are not known, too many, or nothing comes of it.
  Size largest_key(const fs::path& ir, const Module& module, const std::string& kernel, const Symbols& functions,
                   const Size& all) {
    Symbols keys;
    for (const std::string& f : functions) keys.insert(module.at(f).tiling_keys.begin(), module.at(f).tiling_keys.end());
    if (keys.empty() || keys.count("") != 0 || keys.size() > kMostKeys) return all;
    Size largest;
    for (const std::string& key : keys) {
      const auto [program, fresh] = by_key_.try_emplace(ir.string() + " " + key);
      if (fresh) program->second = of_key(ir, key);
      const OfKey& of = program->second;
      if (!of.made) return all;
      const Size size = {bytes_of(of.sizes, reached_in(of.module, kernel, functions)), key};
      if (size.bytes > largest.bytes) largest = size;
    }
    return largest;
  }
  void code_size(const fs::path& ir, const Module& module, const std::string& name, int cache_kib,
                 const std::map<std::string, Symbols>& reached) {
    Sizes sizes;
    if (!sizes_of(ir, &sizes)) return;
    const unsigned long long room = static_cast<unsigned long long>(cache_kib) * 1024;
    for (const auto& [kernel, functions] : reached) {
      Size size = {bytes_of(sizes, functions), ""};
      if (size.bytes > room) size = largest_key(ir, module, kernel, functions, size);
      if (size.bytes <= room) continue;
      const Place& at = module.at(kernel).at;
      add(at.line > 0 ? at : Place{unit_.file().string(), 1},
          "kernel " + readable(kernel) + (size.key.empty() ? "" : " with tiling key " + size.key) + " is about " +
              std::to_string(size.bytes / 1024) + " KiB of code (estimated), the instruction cache of " +
              (name == "aic" ? "a cube" : "a vector") + " core holds " + std::to_string(cache_kib) +
              " KiB: unroll and inline less, or split the kernel",
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
  std::map<std::string, OfKey> by_key_;
};

}  // namespace

bool device_check(const Options& o, const Unit& unit, const fs::path& source, const std::vector<std::string>& flags,
                  const fs::path& work) {
  return Check(o, unit, source, flags, work).run();
}

}  // namespace twincc
