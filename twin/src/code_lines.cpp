// SPDX-License-Identifier: Apache-2.0
#include "code_lines.hpp"

#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <unordered_map>
#include <vector>

#include "engine.hpp"
#include "host_lock.hpp"
#include "recent.hpp"

extern char** environ;

namespace twin {
namespace {

constexpr char kCode[] = "code";  // Site::file of such a line; its number is one of Codes::list
constexpr int kCallers = 8;

struct Place {  // an address in a file of the program
  std::string object;
  std::uint64_t offset = 0;
};
struct Code {
  std::uintptr_t pc[kCallers] = {};  // from the inside out
  std::string line;                  // "" before it was asked for
};
struct Codes {
  std::unordered_map<std::uintptr_t, std::uint32_t> numbers;
  Recent<std::uintptr_t, std::uint32_t> recent;
  std::vector<Code> list;
  std::set<std::string> headers;
};
Codes& codes() {
  static auto* const all = new Codes;
  return *all;
}

struct Frames {
  std::uintptr_t pc;
  Code* code;
  int n = 0;
};
_Unwind_Reason_Code on_frame(_Unwind_Context* context, void* data) {
  auto& f = *static_cast<Frames*>(data);
  const auto pc = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
  if (f.n == 0 && pc != f.pc) return _URC_NO_REASON;  // the twin's own
  f.code->pc[f.n++] = pc;
  return f.n == kCallers ? _URC_END_OF_STACK : _URC_NO_REASON;
}

int on_object(dl_phdr_info* info, std::size_t, void* data) {
  auto& p = *static_cast<Place*>(data);
  for (int k = 0; k < info->dlpi_phnum; ++k) {
    const auto& segment = info->dlpi_phdr[k];
    if (segment.p_type != PT_LOAD || p.offset - (info->dlpi_addr + segment.p_vaddr) >= segment.p_memsz) continue;
    p.offset -= info->dlpi_addr;
    p.object = info->dlpi_name;
    return 1;
  }
  return 0;
}

Place place_of(std::uintptr_t pc) {
  Place p{"", pc - 1};  // inside the call, not behind it
  if (dl_iterate_phdr(&on_object, &p) != 0 && p.object.empty()) {
    char self[4096];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    if (n > 0) p.object.assign(self, static_cast<std::size_t>(n));
  }
  return p;
}

// What the command prints; "" if it cannot be run.
std::string output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], 1);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const bool runs = posix_spawnp(&child, argv[0], &files, nullptr, argv.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  std::string out;
  char some[4096];
  for (ssize_t n; runs && (n = read(ends[0], some, sizeof some)) > 0;) out.append(some, static_cast<std::size_t>(n));
  close(ends[0]);
  if (runs) waitpid(child, nullptr, 0);
  return out;
}

struct Frame {
  std::string function, line;
};
using Frames_of = std::map<std::uint64_t, std::vector<Frame>>;  // by offset; what is inlined comes first

// One run of addr2line for many addresses of one file.
Frames_of ask(const std::string& object, const std::set<std::uint64_t>& offsets) {
  std::vector<std::string> command = {"addr2line", "-a", "-i", "-f", "-C", "-e", object};
  for (const std::uint64_t offset : offsets) command.push_back(format("0x%llx", static_cast<unsigned long long>(offset)));
  std::istringstream in(output_of(command));
  Frames_of out;
  std::vector<Frame>* frames = nullptr;
  for (std::string text; std::getline(in, text);) {
    if (text.compare(0, 2, "0x") == 0) {
      frames = &out[std::strtoull(text.c_str(), nullptr, 16)];
      continue;
    }
    Frame f{text, ""};
    if (!frames || !std::getline(in, f.line)) break;
    f.line = f.line.substr(0, f.line.find(' '));  // "x.asc:12 (discriminator 3)"
    frames->push_back(f);
  }
  return out;
}

bool has_line(const Frame& f) { return f.line.compare(0, 2, "??") != 0 && f.line.find(":?") == std::string::npos; }

bool in_a_header(const std::string& line) {
  const auto begins = [&](const std::string& folder) { return line.compare(0, folder.size(), folder) == 0; };
  const auto& own = codes().headers;
  const auto from_there = [&](const std::string& folder) {
    return folder[0] == '/' ? begins(folder) : line.find('/' + folder) != std::string::npos;
  };
  return begins("/usr/include/") || begins("/usr/lib/") || line.find("/include/c++/") != std::string::npos ||
         std::any_of(own.begin(), own.end(), from_there);
}

// The innermost line that is the kernel's own; without any, the innermost at all; without debug information, the function.
std::string choose(const std::vector<Frame>& frames, const Place& place) {
  const Frame* best = nullptr;
  for (const Frame& f : frames) {
    if (!has_line(f)) {
      if (!best && f.line.compare(0, 2, "??") != 0 && !in_a_header(f.line)) break;  // the kernel's file, but no line
      continue;
    }
    if (!in_a_header(f.line)) return f.line;
    if (!best) best = &f;
  }
  if (best) return best->line;
  if (frames.empty() || frames[0].function == "??")
    return format("%s+0x%llx%s", place.object.c_str(), static_cast<unsigned long long>(place.offset),
                  frames.empty() ? " (addr2line of binutils would tell the line)" : "");
  return frames[0].function + " (no line is known: -g would tell it, or a lower -O where the compiler has joined several)";
}

// Of all that have been seen so far: to start the program costs more than to ask it.
void resolve() {
  Codes& all = codes();
  std::map<std::string, std::set<std::uint64_t>> wanted;
  std::vector<std::vector<Place>> places(all.list.size());
  for (std::size_t k = 0; k < all.list.size(); ++k) {
    if (!all.list[k].line.empty()) continue;
    for (const std::uintptr_t pc : all.list[k].pc) {
      if (pc == 0) break;
      places[k].push_back(place_of(pc));
      wanted[places[k].back().object].insert(places[k].back().offset);
    }
  }
  std::map<std::string, Frames_of> known;
  for (const auto& [object, offsets] : wanted) {
    if (!object.empty()) known[object] = ask(object, offsets);
  }
  for (std::size_t k = 0; k < all.list.size(); ++k) {
    if (places[k].empty()) continue;
    std::vector<Frame> frames;
    for (const Place& p : places[k]) {
      const auto& more = known[p.object][p.offset];
      frames.insert(frames.end(), more.begin(), more.end());
    }
    all.list[k].line = choose(frames, places[k][0]);
  }
}

}  // namespace

Site site_of_code(const void* pc) {
  const HostLock lock;
  Codes& all = codes();
  const auto address = reinterpret_cast<std::uintptr_t>(pc);
  const std::uint32_t number = all.recent.of(address, address, [&] {
    const auto [at, fresh] = all.numbers.try_emplace(address, static_cast<std::uint32_t>(all.list.size()));
    if (fresh) {
      all.list.emplace_back();
      Frames frames{address, &all.list.back()};
      _Unwind_Backtrace(&on_frame, &frames);
      if (frames.n == 0) all.list.back().pc[0] = address;
    }
    return at->second;
  });
  return {kCode, number + 1};  // a line 0 is none
}

bool is_code(const Site& site) { return site.file == kCode; }

std::string line_of_code(const Site& site) {
  const HostLock lock;
  if (codes().list[site.line - 1].line.empty()) resolve();
  return codes().list[site.line - 1].line;
}

void headers_lie_at(const char* engine_hpp) {
  const HostLock lock;
  std::string folder = engine_hpp;
  folder.resize(folder.size() - std::min(folder.size(), std::strlen("twin/engine.hpp")));
  while (folder.compare(0, 3, "../") == 0) folder.erase(0, 3);  // debug information puts the compiler's folder before it
  if (!folder.empty()) codes().headers.insert(folder);
}

}  // namespace twin
