// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "code_lines.hpp"
#include "engine.hpp"
#include "host_lock.hpp"
#include "recent.hpp"
#include "text.hpp"

namespace twin {
namespace {

struct Reports {
  std::vector<Finding> list;
  std::map<std::string, std::size_t> known;
  bool mute = false;
};
Reports& reports() {
  static Reports* all = new Reports;  // outlives every exit handler
  return *all;
}

/// False where a file was asked for and cannot be written.
template <class Text>
bool write_report(const std::string& path, Text&& text) {
  if (path.empty()) return true;
  std::ofstream file(path);
  file << text();
  if (file.flush()) return true;
  std::fprintf(stderr, "twin: cannot write %s\n", path.c_str());
  return false;
}

void print_findings() {
  const auto& list = findings();
  for (const Finding& f : list) std::fputs(to_text(f).c_str(), stderr);
  if (!list.empty()) std::fprintf(stderr, "twin: %zu finding%s\n", list.size(), list.size() == 1 ? "" : "s");
}

// The program is about to be ended by a signal, often because of what was found: that is printed first. Whatever may go
// wrong here ends it as well, or a timer does.
void at_crash(int signal) {
  alarm(10);
  std::fprintf(stderr, "twin: the program ends with signal %d (%s)%s\n", signal, strsignal(signal),
               findings().empty() ? "" : "; what was found before:");
  print_findings();
  raise(signal);
}

// Not where the program, or a sanitizer, has a handler of its own.
void watch_for_crashes() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
    struct sigaction old = {}, ours = {};
    ours.sa_handler = at_crash;
    ours.sa_flags = static_cast<int>(SA_RESETHAND);
    if (sigaction(signal, nullptr, &old) == 0 && (old.sa_flags & SA_SIGINFO) == 0 && old.sa_handler == SIG_DFL) {
      sigaction(signal, &ours, nullptr);
    }
  }
}

// The program ends: print what was found, write the files asked for, and fail if there was anything.
void at_exit(int status, void*) {
  std::fflush(nullptr);
  const Settings& s = settings();
  const auto& list = findings();
  if (s.timing_only)
    std::fputs("twin: timing-only: no floating-point value was computed, so no result means anything\n", stderr);
  print_findings();
  bool written = write_report(
      s.json, [&] { return "{\"findings\": " + to_json(list) + ", \"timing\": " + to_json(last_timing()) + "}\n"; });
  written &= write_report(s.trace, last_chrome_trace);
  written &= write_report(s.html, last_html_report);
  std::fflush(nullptr);
  if ((!list.empty() || !written) && status == 0) _exit(1);
}

bool is_kind(const std::string& word) {
  for (int k = 0; k <= int(Kind::MatmulFlag); ++k) {
    if (word == name(Kind(k))) return true;
  }
  return false;
}

void read_environment(Settings* s) {
  const char* text = std::getenv("TWIN");
  std::stringstream words(text ? text : "");
  for (std::string word; std::getline(words, word, ',');) {
    const auto equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (key == "device" && !value.empty()) {
      s->device = value;
    } else if (key == "auto-sync" && (value == "on" || value == "off")) {
      s->auto_sync = value == "on";
    } else if (key == "timing" && (value.empty() || value == "off")) {
      s->print_timing = value.empty();
      s->timing = value.empty();
    } else if (key == "timing-only" && value.empty()) {
      s->print_timing = s->timing = s->timing_only = true;
    } else if (key == "trace" && !value.empty()) {
      s->trace = value;
    } else if (key == "html" && !value.empty()) {
      s->html = value;
    } else if (key == "json" && !value.empty()) {
      s->json = value;
    } else if (key == "shuffle" && !value.empty() && value.find_first_not_of("0123456789") == std::string::npos) {
      s->shuffle = std::strtoull(value.c_str(), nullptr, 10);
    } else if (key == "allow" && is_kind(value)) {
      s->allowed.push_back(value);
    } else if (!word.empty()) {
      std::fprintf(stderr,
                   "twin: TWIN does not know '%s' (device=NAME, auto-sync=on|off, timing, timing=off, timing-only, "
                   "trace=FILE, json=FILE, html=FILE, "
                   "shuffle=SEED, allow=KIND)\n",
                   word.c_str());
      std::exit(2);
    }
  }
}

}  // namespace

std::string json_string(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += format("\\u%04x", c);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string short_line(const std::string& line) {
  const auto slash = line.rfind('/');
  return slash == std::string::npos ? line : line.substr(slash + 1);
}

std::string format(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  std::string out(std::vsnprintf(nullptr, 0, format, arguments), '\0');
  std::vsnprintf(out.data(), out.size() + 1, format, again);
  va_end(arguments);
  va_end(again);
  return out;
}

const char* name(Kind kind) {
  constexpr const char* kNames[] = {"read-after-write",
                                    "write-after-read",
                                    "write-after-write",
                                    "gm-race",
                                    "stale-cache",
                                    "out-of-bounds",
                                    "use-after-free",
                                    "capacity",
                                    "alignment",
                                    "limit",
                                    "uninitialised",
                                    "flag",
                                    "queue",
                                    "deadlock",
                                    "cube-layout",
                                    "kernel-type",
                                    "atomic-order",
                                    "overlap",
                                    "matmul-flag",
                                    "skipped-data"};
  return kNames[static_cast<int>(kind)];
}

Settings& settings() {
  static Settings* s = [] {
    auto* made = new Settings;
    read_environment(made);
    on_exit(&at_exit, nullptr);
    watch_for_crashes();
    return made;
  }();
  return *s;
}

void mute_reports(bool mute) { reports().mute = mute; }

void report(Finding f) {
  const HostLock lock;  // it may be the host's
  Reports& all = reports();
  if (all.mute) return;
  for (const std::string& kind : settings().allowed) {
    if (kind == name(f.kind)) return;
  }
  // One missing order shows as several hazards of the same two lines; one bug in a loop as one sentence with other numbers.
  const bool hazard = f.kind == Kind::ReadAfterWrite || f.kind == Kind::WriteAfterRead || f.kind == Kind::WriteAfterWrite;
  std::string sentence;
  for (const char c : f.line_b.empty() ? f.what : std::string()) {
    if (c < '0' || c > '9') sentence += c;
  }
  // A missing order of cores shows from both sides, a load of the one against a store of the other and the reverse.
  const bool cores = f.kind == Kind::GmRace;
  if (cores) sentence.clear();
  const bool swap = cores && f.line_b < f.line_a;
  const std::string key = std::string(hazard ? "order" : name(f.kind)) + '\n' + (swap ? f.line_b : f.line_a) + '\n' +
                          (swap ? f.line_a : f.line_b) + '\n' + sentence + '\n' +
                          (swap ? f.pipe_b + f.pipe_a : f.pipe_a + f.pipe_b);
  const auto [at, fresh] = all.known.try_emplace(key, all.list.size());
  if (fresh) {
    all.list.push_back(std::move(f));
  } else {
    ++all.list[at->second].count;
  }
}

const std::vector<Finding>& findings() { return reports().list; }

std::vector<Finding> take_findings() {
  const HostLock lock;
  std::vector<Finding> list = std::move(reports().list);
  reports() = {};
  return list;
}

std::string to_text(const Finding& f) {
  std::string out = f.line_a + ": " + name(f.kind) + ": " + f.what + "\n";
  const auto field = [&](const char* label, const std::string& value) {
    if (!value.empty()) out += format("    %-8s %s\n", label, value.c_str());
  };
  field("other", f.line_b);
  field("core", f.core + (f.pipe_a.empty() ? "" : ", pipe " + f.pipe_a) + (f.pipe_b.empty() ? "" : " against " + f.pipe_b));
  field("where", f.range);
  field("tensor", f.tensor);
  if (f.other_tensor != f.tensor) field("against", f.other_tensor);
  field("fix", f.fix);
  if (f.count > 1) field("times", std::to_string(f.count));
  return out;
}

std::string to_json(const std::vector<Finding>& list) {
  std::string out = "[";
  for (const Finding& f : list) {
    out += format(
        "%s{\"kind\": %s, \"what\": %s, \"line\": %s, \"other_line\": %s, \"core\": %s, \"pipe\": %s, \"other_pipe\": %s, "
        "\"range\": %s, \"tensor\": %s, \"other_tensor\": %s, \"fix\": %s, \"count\": %llu}",
        &f == list.data() ? "" : ", ", json_string(name(f.kind)).c_str(), json_string(f.what).c_str(),
        json_string(f.line_a).c_str(), json_string(f.line_b).c_str(), json_string(f.core).c_str(),
        json_string(f.pipe_a).c_str(), json_string(f.pipe_b).c_str(), json_string(f.range).c_str(),
        json_string(f.tensor).c_str(), json_string(f.other_tensor).c_str(), json_string(f.fix).c_str(),
        static_cast<unsigned long long>(f.count));
  }
  return out + "]";
}

std::string hex_range(const std::string& memory, std::uint64_t begin, std::uint64_t end) {
  return format("%s [0x%llx, 0x%llx)", memory.c_str(), static_cast<unsigned long long>(begin),
                static_cast<unsigned long long>(end));
}

// ---- sites ----
namespace {
struct Sites {
  std::unordered_map<std::uint64_t, std::uint32_t> ids;
  Recent<std::uint64_t, std::uint32_t> recent;
  std::vector<Site> list{Site::none()};
};
Sites& sites() {
  static Sites* all = new Sites;
  return *all;
}
}  // namespace

std::uint32_t site_id(const Site& site) {
  Sites& all = sites();
  const std::uint64_t key = reinterpret_cast<std::uint64_t>(site.file) * 0x9E3779B97F4A7C15ull + site.line;
  return all.recent.of(key, key, [&] {
    const auto [at, fresh] = all.ids.try_emplace(key, static_cast<std::uint32_t>(all.list.size()));
    if (fresh) all.list.push_back(site);
    return at->second;
  });
}
const Site& site_of(std::uint32_t id) { return sites().list[id]; }
std::string to_string(const Site& site) {
  if (is_code(site)) return line_of_code(site);
  return site.line ? format("%s:%u", site.file, site.line) : "(launch)";
}

const char* name(Pipe pipe) {
  constexpr const char* kNames[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "HCCL", "ALL"};
  return kNames[static_cast<int>(pipe)];
}
const char* lane_name(Pipe pipe) {
  constexpr const char* kNames[] = {"SCALAR", "VECTOR", "CUBE", "MTE1", "MTE2", "MTE3", "FIXP", "HCCL", "ALL"};
  return kNames[static_cast<int>(pipe)];
}
const char* name(Space space) {
  constexpr const char* kNames[] = {"GM", "UB", "L1", "L0A", "L0B", "L0C", "BiasTable", "FixpipeBuffer"};
  return kNames[static_cast<int>(space)];
}
const char* name(DType dtype) {
  constexpr const char* kNames[] = {"int8",  "uint8",  "int16", "uint16",   "int32", "uint32",
                                    "int64", "uint64", "half",  "bfloat16", "float", "int4"};
  return kNames[static_cast<int>(dtype)];
}

}  // namespace twin
