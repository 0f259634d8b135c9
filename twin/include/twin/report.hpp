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
  Overlap
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
  std::string core, pipe;
  double busy_cycles = 0;
};
struct LineCost {
  std::string line, what;
  double cycles = 0;  // on the critical path
};
struct Timing {
  std::string device, kernel;
  double cycles = 0, microseconds = 0;
  double gm_read_bytes = 0, gm_write_bytes = 0, l2_hit_bytes = 0, hbm_bytes = 0, cube_macs = 0;
  double hbm_utilisation = 0, cube_utilisation = 0, vector_utilisation = 0;  // of the device's peaks
  std::vector<PipeUse> pipes;
  std::vector<LineCost> critical_path;  // largest first
};
const Timing& last_timing();
std::string to_text(const Timing& timing);
std::string to_json(const Timing& timing);
std::string last_chrome_trace();  // "" unless Settings asks for it

// Settings; the variable TWIN (see docs/twin.md) sets the same. They hold from the next launch on.
struct Settings {
  std::string device = "910B2";  // a row's name, or the path of a device file
  int auto_sync = -1;            // −1: as the kernel was compiled
  bool timing = true;            // model the time of each launch
  bool print_timing = false;     // and print it
  bool keep_trace = false;       // make last_chrome_trace() though no file is asked for
  std::string trace, json;       // files to write
};
Settings& settings();

}  // namespace twin
