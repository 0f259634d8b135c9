// SPDX-License-Identifier: Apache-2.0
// What the twin tells about a run. A program need not include this: findings are printed at its end, which then fails.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace twin {

enum class Kind : std::uint8_t {
  ReadAfterWrite,
  WriteAfterRead,
  WriteAfterWrite,
  GmRace,
  StaleCache,
  OutOfBounds,
  UseAfterFree,
  Capacity,
  Alignment,
  Limit,
  Uninitialised,
  Flag,
  Queue,
  Deadlock,
  CubeLayout,
  KernelType,
  AtomicOrder,
  Overlap,
  MatmulFlag,
  SkippedData
};
const char* name(Kind kind);

// One bug. Two findings that differ only in addresses or repetitions are one.
struct Finding {
  Kind kind = Kind::Limit;
  std::string what{};    // one sentence
  std::string line_a{};  // file:line of the access, wait or call that is wrong
  std::string line_b{};  // file:line of its counterpart, "" if there is none
  std::string core{};    // "AIV 3", "AIC 0"
  std::string pipe_a{}, pipe_b{};
  std::string range{};                   // "UB [0x100, 0x180)"
  std::string fix{};                     // what would repair it
  std::string tensor{}, other_tensor{};  // where they were declared, and where they lie
  std::uint64_t count = 1;
};

// Everything found since the last call, in the order of the run; forgets it.
std::vector<Finding> take_findings();
const std::vector<Finding>& findings();
std::string to_text(const Finding& finding);
std::string to_json(const std::vector<Finding>& findings);

// Modelled time of the last launch on the chosen device.
struct PipeUse {
  std::string core, pipe;  // "AIV 3", "MTE2"
  double busy_cycles = 0;
};
struct PathUse {
  std::string path;  // "GM to UB"
  double bytes = 0;
};
struct LineCost {            // a share of the critical path
  std::string what;          // "V works", "waits for MTE3→V", "waits for PipeBarrier<PIPE_V>"
  std::string line;          // file:line of the work, or of the wait
  std::string name;          // the instruction that worked or was waited for
  std::string because_line;  // where that stands, if not in `line`
  double cycles = 0;
};
struct HotLine {
  std::string line, pipe, name;
  std::uint64_t count = 0;
  double busy_cycles = 0;  // of its pipe, over all cores
  double bytes = 0;        // moved
  double critical_cycles = 0;
};
struct Peaks {  // of the device; per second
  double cube_flops = 0, vector_lanes = 0, hbm_bytes = 0, l2_bytes = 0;
};
struct Timing {
  std::string device, kernel;
  int blocks = 0;
  double cycles = 0, microseconds = 0, mhz = 0;
  double gm_read_bytes = 0, gm_write_bytes = 0, l2_hit_bytes = 0, hbm_bytes = 0;
  double cube_macs = 0;                                                      // as if all were half: 4096 a busy cycle
  double vector_lanes = 0;                                                   // lanes worked on, 64 or 128 a repeat
  double hbm_utilisation = 0, cube_utilisation = 0, vector_utilisation = 0;  // of the device's peaks
  Peaks peaks;
  std::vector<PipeUse> pipes;
  std::vector<PathUse> paths;
  std::vector<LineCost> critical_path;  // largest first; adds up to the cycles
  std::vector<HotLine> lines;           // busiest first
};
const Timing& last_timing();
double modelled_microseconds();  // of all launches so far
std::string to_text(const Timing& timing);
std::string to_json(const Timing& timing);
std::string last_chrome_trace();  // "" unless Settings asks for it
std::string last_html_report();   // the same

// Settings; the variable TWIN (see docs/twin.md) sets the same. They hold from the next launch on.
struct Settings {
  std::string device = "910B2";      // a row's name, or the path of a device file
  int auto_sync = -1;                // −1: as the kernel was compiled
  bool timing = true;                // model the time of each launch
  bool print_timing = false;         // and print it
  bool timing_only = false;          // floating-point values are not computed
  bool keep_trace = false;           // make last_chrome_trace() and last_html_report() though no file is asked for
  std::string trace, json, html;     // files to write
  std::uint64_t shuffle = 0;         // not 0: cores take turns in another order, which this seed gives
  std::vector<std::string> allowed;  // kinds of findings that are not reported
};
Settings& settings();

}  // namespace twin
