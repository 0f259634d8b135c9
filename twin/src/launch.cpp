// SPDX-License-Identifier: Apache-2.0
// A launch: cores are made, run in turn until each has ended, checked, and their time is modelled.
#include <cstdio>
#include <cstring>
#include <mutex>
#include <numeric>

#include "engine.hpp"
#include "fiber.hpp"
#include "host_lock.hpp"
#include "kernels.hpp"
#include "launched.hpp"
#include "streams.hpp"
#include "timeline.hpp"

namespace twin {

void check_flags_at_end(Core& core);
void check_cross_flags_at_end(Core& core);
void check_queues_at_end(Core& core);
void check_matmul_at_end(Core& core);
void check_hccl_at_end();
bool matmul_serves(const Core& core);

namespace {

Launched* running = nullptr;
std::uint64_t launches = 0;
thread_local Core* current = nullptr;
std::string trace_json, html_page;
Timing timing;
double modelled_us = 0;

struct Strand {
  Core* core = nullptr;
  std::unique_ptr<Fiber> fiber;
  bool (*ready)(void*) = nullptr;
  void* context = nullptr;
};
Strand* current_strand = nullptr;

const Device& device_or_exit() {
  std::string error;
  const Device* device = find_device(settings().device, &error);
  if (!device) {
    std::fprintf(stderr, "twin: %s\n", error.c_str());
    std::exit(2);
  }
  return *device;
}

void give_memory(Core& core, const Device& device) {
  struct Size {
    Space space;
    const char* key;
    CoreKind kind;
  };
  constexpr Size kSizes[] = {{Space::UB, "ub_bytes", CoreKind::AIV},   {Space::L1, "l1_bytes", CoreKind::AIC},
                             {Space::L0A, "l0a_bytes", CoreKind::AIC}, {Space::L0B, "l0b_bytes", CoreKind::AIC},
                             {Space::L0C, "l0c_bytes", CoreKind::AIC}, {Space::BT, "bt_bytes", CoreKind::AIC},
                             {Space::FB, "fb_bytes", CoreKind::AIC}};
  std::size_t total = 0;
  for (const Size& s : kSizes)
    total += s.kind == core.kind ? 2 * ((static_cast<std::size_t>(device.at(s.key)) + 127) & ~std::size_t{127}) : 0;
  core.storage.assign(total + 128, 0);
  // As the memories do on the chip, each begins on a multiple of 128: kernels make numbers of such blocks from addresses.
  auto next = (reinterpret_cast<std::uintptr_t>(core.storage.data()) + 127) & ~std::uintptr_t{127};
  for (const Size& s : kSizes) {
    Memory& m = core.memory[int(s.space)];
    m.space = s.space;
    m.name = name(s.space);
    if (s.kind != core.kind) continue;
    m.bytes = m.device_bytes = static_cast<std::uint64_t>(device.at(s.key));
    const std::size_t room = (m.bytes + 127) & ~std::size_t{127};
    m.data = reinterpret_cast<std::uint8_t*>(next);
    m.state = m.data + room;
    next += 2 * room;
    if (s.space == Space::L1 || s.space == Space::L0A || s.space == Space::L0B) m.fractal.assign(m.bytes / 32 + 1, 0);
  }
}

void take_memory(Core& core) {
  core.storage = {};
  for (Memory& m : core.memory) {
    m.history.clear();
    m.fractal = {};
    m.data = m.state = nullptr;
    m.grown = {};
    m.bytes = m.device_bytes = 0;
  }
}

void resume(Strand& strand) {
  current = strand.core;
  current_strand = &strand;
  strand.fiber->resume();
  current = nullptr;
  current_strand = nullptr;
}

// Cores take turns in the order of their numbers, or in one that the seed of TWIN=shuffle gives.
std::vector<std::size_t> order_of_turns(std::size_t cores) {
  std::vector<std::size_t> turns(cores);
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  std::uint64_t state = settings().shuffle;
  if (state == 0) return turns;
  for (std::size_t i = cores; i > 1; --i) {  // Fisher and Yates, with Knuth's 64-bit generator: the same on every host
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    std::swap(turns[i - 1], turns[(state >> 33) % i]);
  }
  return turns;
}

void run_all(Launched& l, const Device& device, const Registered& kernel, const void* arguments,
             const Launched* first = nullptr) {
  const int aic_a_block = l.has_aic ? 1 : 0;
  const int aiv_a_block = l.has_aiv ? l.aiv_a_block : 0;
  const int cores_a_block = aic_a_block + aiv_a_block;
  l.at_once = static_cast<int>(l.has_aic ? device.at("cube_cores") : device.at("vector_cores"));
  for (int b = 0; b < l.blocks; ++b) {
    for (int c = 0; c < cores_a_block; ++c) {
      const bool aic = c < aic_a_block;
      l.cores.push_back(std::make_unique<Core>(static_cast<int>(l.cores.size()), aic ? CoreKind::AIC : CoreKind::AIV, b,
                                               aic ? 0 : c - aic_a_block));
      if (first) l.cores.back()->first_round = first->cores[l.cores.size() - 1].get();
    }
  }
  std::vector<Strand> strands(l.cores.size());
  const std::vector<std::size_t> turns = order_of_turns(strands.size());
  std::size_t started = 0;
  std::size_t live = 0;
  int idle_rounds = 0;
  for (std::size_t ended = 0; ended < strands.size();) {
    while (started < strands.size() && (l.all_at_once || live < static_cast<std::size_t>(l.at_once * cores_a_block))) {
      Strand& s = strands[started];
      s.core = l.cores[started++].get();
      s.core->started = true;
      give_memory(*s.core, device);
      Invoke invoke = kernel.invoke[int(s.core->kind == CoreKind::AIC ? Pass::Aic : Pass::Aiv)];
      if (!invoke) invoke = kernel.invoke[int(Pass::Host)];
      s.fiber = std::make_unique<Fiber>([invoke, arguments] {
        invoke(arguments);
        core().stop(0);
      });
      ++live;
    }
    bool moved = false, polls_only = true;
    for (const std::size_t i : turns) {
      if (i >= started) continue;
      Strand& s = strands[i];
      if (!s.fiber || (s.ready && !s.ready(s.context))) continue;
      s.ready = nullptr;
      moved = true;
      resume(s);
      polls_only &= !s.fiber->done() && s.core->polls >= 1000;
      if (l.diverged) break;
      if (!s.fiber->done()) continue;
      s.fiber.reset();
      s.core->finished = true;
      current = s.core;
      compare_end_with_first(*s.core);
      check_flags_at_end(*s.core);
      check_queues_at_end(*s.core);
      current = nullptr;
      take_memory(*s.core);
      --live;
      ++ended;
    }
    // Rounds in which nobody did anything but read one address: nobody is left who could change it.
    idle_rounds = moved && polls_only ? idle_rounds + 1 : 0;
    if (moved && !l.diverged && idle_rounds < 50) continue;
    std::vector<Strand*> stuck;
    for (Strand& s : strands) {
      if (s.fiber && !s.fiber->done()) stuck.push_back(&s);
    }
    if (!l.diverged) {
      for (const Strand* s : stuck) {
        report_standing(*s->core, s->core->waits_at);
        if (!matmul_serves(*s->core)) cross_deadlock(*s->core);  // one that serves is stuck because its callers are
      }
    }
    for (Strand* s : stuck) {
      s->fiber->abandon();
      resume(*s);
    }
    return;
  }
  for (auto& core : l.cores) {
    current = core.get();
    check_cross_flags_at_end(*core);
    check_matmul_at_end(*core);
  }
  current = nullptr;
  check_hccl_at_end();
}

// Another run of the launch `first`, for the timing-only mode.
void run_again(const Launched& first, const Device& device, const Registered& kernel, const void* arguments,
               Launched* later) {
  later->serial = ++launches;
  later->kernel = first.kernel;
  later->type = first.type;
  later->blocks = first.blocks;
  later->aiv_a_block = first.aiv_a_block;
  later->has_aic = first.has_aic;
  later->has_aiv = first.has_aiv;
  later->auto_sync = first.auto_sync;
  later->timing_only = true;
  running = later;
  run_all(*later, device, kernel, arguments, &first);
  take_stand_ins_away(*later);
  GlobalMemory::get().forget_history();
}

}  // namespace

namespace {
std::mutex host_mutex;
thread_local int host_depth = 0;
}  // namespace
HostLock::HostLock() {
  if (host_depth++ == 0) host_mutex.lock();
}
HostLock::~HostLock() {
  if (--host_depth == 0) host_mutex.unlock();
}

Launched& launched() { return *running; }
Core& core() {
  if (!current) {
    std::fprintf(stderr, "twin: a kernel function was called outside of a kernel launch\n");
    std::abort();
  }
  return *current;
}
bool in_kernel() { return current != nullptr; }
bool in_launch() { return running != nullptr; }

void yield_core() { Fiber::suspend(); }

void block_core_until(bool (*ready)(void*), void* context) {
  if (ready(context)) return;
  current_strand->ready = ready;
  current_strand->context = context;
  Fiber::suspend();
}

void launch(const LaunchRequest& request) {
  const HostLock lock;
  const Device& device = device_or_exit();
  const std::string name = kernel_name(request.kernel), spelling = request.kernel;
  const std::string unit = spelling.substr(std::min(spelling.size(), spelling.find(kUnitFollows)));
  if (request.blocks == 0 || request.blocks > 65535) {
    report({Kind::Limit, format("launch of %s with %u blocks: 1 to 65535 are possible", name.c_str(), request.blocks),
            to_string(request.site), "", "host", "", "", "", "launch at least one block"});
    return;
  }
  Launched l;
  l.serial = ++launches;
  l.kernel = name;
  l.blocks = static_cast<int>(request.blocks);
  l.auto_sync = settings().auto_sync < 0 ? request.auto_sync : settings().auto_sync != 0;
  l.type = request.type != KernelType::Unset ? request.type : kernel_type(name, unit);
  using T = KernelType;
  l.has_aic = l.type == T::AicOnly || l.type == T::MixAic10 || l.type == T::MixAic11 || l.type == T::MixAic12;
  l.has_aiv = l.type != T::AicOnly && l.type != T::MixAic10;
  l.aiv_a_block = l.type == T::MixAic12 ? 2 : 1;
  l.timing_only = settings().timing_only;
  running = &l;
  if (l.timing_only && request.note_scalars) request.note_scalars(request.arguments);
  const Registered& kernel = registered(request.kernel);
  run_all(l, device, kernel, request.arguments);
  take_stand_ins_away(l);
  Streams::get().launched(l, request.stream, request.site);
  GlobalMemory::get().forget_history();
  if (l.timing_only) try_other_values(l, [&](Launched& later) { run_again(l, device, kernel, request.arguments, &later); });
  if (settings().timing) {
    trace_json.clear();
    html_page.clear();
    const Timeline timeline = simulate(l, device);
    timing = summarise(timeline);
    modelled_us += timing.microseconds;
    const bool shown = settings().print_timing || settings().keep_trace || !settings().html.empty();
    if (shown) name_lines(&timing);
    if (settings().keep_trace || !settings().trace.empty()) trace_json = chrome_trace(timeline);
    if (settings().keep_trace || !settings().html.empty()) html_page = html_report(timeline, timing);
    if (settings().print_timing) std::fputs(to_text(timing).c_str(), stderr);
  }
  running = nullptr;
}

const Timing& last_timing() {
  name_lines(&timing);
  return timing;
}
double modelled_microseconds() {
  const HostLock lock;
  return modelled_us;
}
std::string last_chrome_trace() { return trace_json; }
std::string last_html_report() { return html_page; }

}  // namespace twin
