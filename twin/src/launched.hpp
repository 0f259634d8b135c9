// SPDX-License-Identifier: Apache-2.0
// A launch while it runs.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine.hpp"

namespace twin {

struct Origin {
  std::string text;
};
struct Overwritten {  // GM before an instruction
  Memory* memory;
  std::uint64_t begin;
  std::vector<std::uint8_t> data, state;  // data empty: only the state changed
};
struct Launched {
  std::uint64_t serial = 0;  // from 1, over all launches of the program
  std::uint64_t next_device_address = 0;
  std::string kernel;
  KernelType type = KernelType::Unset;
  int blocks = 0, aiv_a_block = 1;
  bool has_aic = false, has_aiv = true, auto_sync = true;
  std::vector<std::unique_ptr<Core>> cores;
  std::vector<Origin> origins;
  std::uint32_t cross_tokens = 0;
  std::map<std::uint32_t, int> cross_token_sets;  // how many sets complete a token
  struct Arrivals {
    std::map<int, std::deque<std::pair<Clock, std::uint32_t>>> by_core;
  };
  std::map<std::tuple<int, int, int>, Arrivals> arrivals;               // (mode, id, group)
  std::map<std::tuple<int, int, int>, CrossSets> cross_sets;            // (core, mode, id)
  std::map<int, std::uint32_t> last_cross_set;                          // core: site
  std::map<std::tuple<std::uint64_t, int, int>, CrossSets> block_sets;  // as block_flags
  // Flags in GM between two blocks (IBSet), by workspace, block that sets, event.
  std::map<std::tuple<std::uint64_t, int, int>, std::deque<CrossFlag::Delivery>> block_flags;
  std::map<int, std::uint32_t> raw_sync_flag;  // flags of SyncAll that the kernel sets by the compiler's own name: site
  std::uint32_t hard_sync = 0;                 // site of a SyncAll in its hard form
  int at_once = 0;                             // how many blocks the device runs at the same time
  bool type_reported = false;                  // that flags between cores need another kernel type
  bool all_at_once = false;                    // more are let in, since they wait for each other: reported where they do
  bool timing_only = false;
  std::vector<double> scalars;     // that the kernel was given, in that mode
  class Rerun* rerun = nullptr;    // not the first run
  const Core* diverged = nullptr;  // the core that did something else than in the first one
  std::vector<Overwritten> overwritten;
  std::vector<Overwritten> stood_in;  // what loads through pointers found in place of skipped values, until the round ends
  std::vector<std::shared_ptr<HcclGroup>> hccl;  // by group
};
Launched& launched();
inline bool is_mix(KernelType type) {
  return type != KernelType::Unset && type != KernelType::AivOnly && type != KernelType::AicOnly;
}

}  // namespace twin
