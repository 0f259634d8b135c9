// SPDX-License-Identifier: Apache-2.0
// What Hccl, communication between chips, asks of the engine. There is one chip: rank 0 of 1.
#pragma once

#include <vector>

#include "twin/types.hpp"

namespace twin {

// A task is `repeat` copies of so many bytes, one behind another in both buffers.
struct HcclTaskCall {
  const char* what = "";
  std::uint64_t send = 0, receive = 0, bytes = 0;
  std::uint32_t repeat = 1;
};
// One core's Hccl object.
struct HcclClient {
  int group = 0;
  int kind = -1, block = 0;  // of the core that the server listens to; −1: either
  bool initialised = false, has_tiling = false;
  int prepared = 0;
  std::vector<std::uint32_t> waits = std::vector<std::uint32_t>(64);  // by handle
};
bool hccl_ready(const HcclClient& client, const char* call, Site site);
int hccl_prepare(HcclClient& client, const HcclTaskCall& task, Site site);  // the handle, or −1
void hccl_commit(const HcclClient& client, int handle, Site site);
int hccl_query(const HcclClient& client, int handle, Site site);  // how often it is done
int hccl_wait(HcclClient& client, int handle, Site site);
void hccl_finalize(const HcclClient& client, Site site);
std::uint8_t* hccl_window(int group, bool in);

}  // namespace twin
