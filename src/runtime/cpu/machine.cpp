// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/machine.hpp"

#include <algorithm>
#include <string>
#include <thread>

#include "runtime/core.hpp"
#include "runtime/cpu/features.hpp"
#include "runtime/cpu/quota.hpp"
#include "runtime/cpu/system_file.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

namespace tessera::runtime {
namespace {

const CpuFeatures& features() noexcept {
  static const CpuFeatures detected = detect_features();
  return detected;
}

struct Feature {
  const char* name;
  bool CpuFeatures::*has;
  const char* first_isa;  // the narrowest ISA of ours that needs it; wider ones need it too
};

constexpr Feature kFeatures[] = {
    {"avx2", &CpuFeatures::avx2, "avx2"},           {"fma", &CpuFeatures::fma, "avx2"},
    {"f16c", &CpuFeatures::f16c, "avx2"},           {"avx512f", &CpuFeatures::avx512f, "avx512"},
    {"avx512bw", &CpuFeatures::avx512bw, "avx512"}, {"avx512dq", &CpuFeatures::avx512dq, "avx512"},
    {"avx512vl", &CpuFeatures::avx512vl, "avx512"}, {"avx512bf16", &CpuFeatures::avx512bf16, "avx512bf16"},
};

/// Names are prefixes of the wider ones' but for avx2.
bool needs(std::string_view isa, std::string_view first_isa) noexcept {
  if (isa == "portable") return false;
  return first_isa == "avx2" || isa.starts_with(first_isa);
}

int usable_cores() noexcept {
#if defined(__linux__)
  // A worker of an earlier run may call. The mask may be wider than cpu_set_t; up to 8192 cores are asked for.
  constexpr int kMaxCores = 8192;
  alignas(cpu_set_t) unsigned char mask[kMaxCores / 8] = {};
  auto* set = reinterpret_cast<cpu_set_t*>(mask);
  if (sched_getaffinity(0, sizeof mask, set) == 0)
    return std::max(1, CPU_COUNT_S(sizeof mask, set) + (is_kept_off() ? 1 : 0));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

/// "48K", "32768K", "1M"
std::int64_t read_size(const std::string& text) {
  std::int64_t size = 0;
  std::size_t i = 0;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) size = size * 10 + (text[i] - '0');
  const char unit = i < text.size() ? text[i] : ' ';
  return unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : unit == 'G' ? size << 30 : size;
}

void read_caches(MachineInfo& machine) {
  const std::string base = "/sys/devices/system/cpu/cpu0/cache/index";
  for (int index = 0; index < 8; ++index) {
    const std::string folder = base + std::to_string(index) + "/";
    const std::string level = first_line(folder + "level"), type = first_line(folder + "type");
    const std::int64_t size = read_size(first_line(folder + "size"));
    if (size == 0 || type == "Instruction") continue;
    if (level == "1") machine.l1d_bytes = size;
    if (level == "2") machine.l2_bytes = size;
    if (level == "3") machine.l3_bytes = size;
  }
}

std::string cpu_name() {
  char brand[49];
  read_brand(brand);
  std::string name(brand);
  const std::size_t begin = name.find_first_not_of(' '), end = name.find_last_not_of(' ');
  if (begin != std::string::npos) return name.substr(begin, end - begin + 1);
  name = first_line("/sys/firmware/devicetree/base/model");
  return name.empty() ? "unknown" : name;
}

MachineInfo detect() {
  MachineInfo machine;
  machine.cpu_model = cpu_name();
  machine.cores = usable_cores();
  if (const int quota = cpu_quota(); quota > 0) machine.cores = std::min(machine.cores, quota);
  read_caches(machine);
  for (const Feature& f : kFeatures) {
    if (features().*(f.has)) machine.isa_features.emplace_back(f.name);
  }
  return machine;
}

}  // namespace

std::string_view missing_for(std::string_view isa) noexcept {
  for (const Feature& f : kFeatures) {
    if (needs(isa, f.first_isa) && !(features().*(f.has))) return f.name;
  }
  return {};
}

const MachineInfo& detect_machine() {
  static const MachineInfo machine = detect();
  return machine;
}

planner::CpuModel cpu_model(std::string_view isa) {
  const MachineInfo& machine = detect_machine();
  planner::CpuModel model;
  model.cores = machine.cores;
  if (machine.l1d_bytes > 0) model.l1d_bytes = machine.l1d_bytes;
  if (machine.l2_bytes > 0) model.l2_bytes = machine.l2_bytes;
  if (machine.l3_bytes > 0) model.l3_bytes = machine.l3_bytes;
  // Above two cores more memory channels are likely: a machine's cores share its read rate as two share theirs here.
  model.dram_bytes_per_s *= std::max(1.0, machine.cores / 4.0);
  for (const planner::IsaRate& rate : planner::kIsaRates) {
    if (isa != rate.name) continue;
    const bool halved = features().amd && features().family == 0x19 && isa.starts_with("avx512");
    const double clock = planner::kClockHz * (halved ? planner::kDoublePumped : 1.0);
    model.flops_per_core[0] = clock * rate.f32_per_cycle;
    model.flops_per_core[1] = clock * rate.f16_per_cycle;
    model.flops_per_core[2] = clock * rate.bf16_per_cycle;
  }
  return model;
}

}  // namespace tessera::runtime

namespace tessera {

MachineInfo machine_info() { return runtime::detect_machine(); }

}  // namespace tessera
