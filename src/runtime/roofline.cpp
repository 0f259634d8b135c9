// SPDX-License-Identifier: Apache-2.0
#include "tessera/roofline.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/text.hpp"
#include "cpu/kernels/peak.hpp"
#include "runtime/cpu/machine.hpp"

namespace tessera {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

struct Isa {
  std::string_view name;
  const cpu::PeakTable& (*table)();
};

constexpr Isa kIsas[] = {
#define TESSERA_ISA(name) {#name, cpu::name::peak_table},
#include "cpu/kernels/kernels.inc"
#undef TESSERA_ISA
};

Result<const cpu::PeakTable*> find_table(std::string_view implementation) {
  if (implementation == "reference") implementation = "portable";
  for (const Isa& isa : kIsas) {
    if (!implementation.empty() && isa.name != implementation) continue;
    const std::string_view missing = runtime::missing_for(isa.name);
    if (missing.empty()) return &isa.table();
    if (!implementation.empty()) {
      return Status::unsupported("implementation: \"" + std::string(implementation) + "\" needs " + std::string(missing) +
                                 ", which this processor or its system lacks");
    }
  }
  return Status::invalid("implementation: there is no \"" + std::string(implementation) + "\"");
}

Status check_sample(int num_threads, double seconds) {
  if (num_threads < 1 || num_threads > 4096) {
    return Status::invalid("num_threads: " + std::to_string(num_threads) + " is not in [1, 4096]");
  }
  if (!(seconds > 0 && seconds <= 60)) return Status::invalid("seconds: " + base::shortest(seconds) + " is not in (0, 60]");
  return {};
}

/// Threads meet here and leave at the same time, within the time a cache line takes to travel.
class SpinBarrier {
 public:
  explicit SpinBarrier(int count) : count_(count) {}

  void wait() {
    const int turn = turn_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == count_) {
      arrived_.store(0, std::memory_order_relaxed);
      turn_.store(turn + 1, std::memory_order_release);
      return;
    }
    for (int spins = 0; turn_.load(std::memory_order_acquire) == turn; ++spins) {
      if (spins > 10000) std::this_thread::yield();  // more threads than cores
    }
  }

 private:
  const int count_;
  std::atomic<int> arrived_{0};
  std::atomic<int> turn_{0};
};

/// Keeps the calling thread on one core, as long as this lives: a new thread may else share a core with its parent for
/// milliseconds, and two threads would be found to do the work of one. Does nothing where there are fewer cores.
class OneCore {
 public:
  OneCore(int thread, int num_threads) {
#if defined(__linux__)
    if (sched_getaffinity(0, sizeof before_, &before_) != 0 || CPU_COUNT(&before_) < num_threads) return;
    int core = 0;
    for (int left = thread;; ++core) {
      if (CPU_ISSET(core, &before_) && left-- == 0) break;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pinned_ = sched_setaffinity(0, sizeof one, &one) == 0;
#else
    (void)thread, (void)num_threads;
#endif
  }
  ~OneCore() {
#if defined(__linux__)
    if (pinned_) sched_setaffinity(0, sizeof before_, &before_);
#endif
  }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;

 private:
#if defined(__linux__)
  cpu_set_t before_;
  bool pinned_ = false;
#endif
};

/// Calls work(thread) on as many threads at once, the calling one among them.
template <class Work>
Status on_threads(int num_threads, Work work) {
  std::vector<std::thread> threads;
  std::atomic<int> go{0};  // 1: all are there, -1: give up
  const auto body = [&](int thread) {
    while (go.load(std::memory_order_acquire) == 0) std::this_thread::yield();
    if (go.load(std::memory_order_relaxed) < 0) return;
    const OneCore core(thread, num_threads);
    work(thread);
  };
  Status status;
  try {
    for (int t = 1; t < num_threads; ++t) threads.emplace_back(body, t);
    go.store(1, std::memory_order_release);
    const OneCore core(0, num_threads);
    work(0);
  } catch (const std::system_error&) {
    go.store(-1, std::memory_order_release);
    status = Status::out_of_memory("num_threads: cannot start " + std::to_string(num_threads) + " threads");
  }
  for (std::thread& thread : threads) thread.join();
  return status;
}

struct alignas(64) Interval {
  Clock::time_point begin, end;
};

/// From the first thread's begin to the last one's end.
double wall_seconds(const std::vector<Interval>& intervals) {
  Clock::time_point begin = intervals[0].begin, end = intervals[0].end;
  for (const Interval& interval : intervals) {
    begin = std::min(begin, interval.begin);
    end = std::max(end, interval.end);
  }
  return seconds_between(begin, end);
}

using MultiplyAdd = void (*)(std::int64_t iterations, float* sink);

struct alignas(64) Sink {
  float values[64];
};

Sink make_sink() {
  Sink sink;
  for (int i = 0; i < 64; ++i) sink.values[i] = 1.0f + static_cast<float>(i) / 64;
  return sink;
}

/// Iterations that take about a millisecond; warms the vector units up as well.
std::int64_t iterations_a_millisecond(MultiplyAdd run) {
  Sink sink = make_sink();
  for (std::int64_t iterations = 1000;; iterations *= 4) {
    const auto begin = Clock::now();
    run(iterations, sink.values);
    const double seconds = seconds_between(begin, Clock::now());
    if (seconds > 2e-4)
      return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(iterations) * 1e-3 / seconds));
  }
}

/// Two ways of reading, each timed over the whole of its rounds.
struct ReadTotals {
  double bytes[2] = {0, 0};
  double seconds[2] = {0, 0};
};

constexpr std::size_t kReadBlock = 1024;       // peak.hpp: reads are multiples of this
constexpr std::size_t kRoundBytes = 4u << 20;  // a round reads at least this much a thread: 20 us and more
std::atomic<std::uint64_t> g_consumed{0};      // what was read goes here, so that no read can be left out

}  // namespace

Result<double> sample_compute_peak(std::string_view implementation, DType dtype, int num_threads, double seconds) {
  const auto table = find_table(implementation);
  if (!table.ok()) return table.status();
  if (Status status = check_sample(num_threads, seconds); !status) return status;

  const bool pairs = dtype == DType::bf16 && (*table)->pair_dot != nullptr;
  const MultiplyAdd run = pairs ? (*table)->pair_dot : (*table)->multiply_add;
  const double flops_per_iteration = pairs ? (*table)->pair_dot_flops_per_iteration : (*table)->flops_per_iteration;
  const auto iterations = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(static_cast<double>(iterations_a_millisecond(run)) * seconds * 1e3));

  // The median of a few slices: one that another process interrupted says nothing of the peak.
  const int slices = std::clamp(static_cast<int>(seconds * 1e3 / 2), 1, 8);
  const std::int64_t slice_iterations = std::max<std::int64_t>(1, iterations / slices);
  std::vector<double> slice_seconds(static_cast<std::size_t>(slices));
  std::vector<Interval> intervals(static_cast<std::size_t>(num_threads));
  SpinBarrier barrier(num_threads);
  const Status status = on_threads(num_threads, [&](int thread) {
    Sink sink = make_sink();
    Interval& interval = intervals[static_cast<std::size_t>(thread)];
    for (int slice = 0; slice < slices; ++slice) {
      barrier.wait();
      interval.begin = Clock::now();
      run(slice_iterations, sink.values);
      interval.end = Clock::now();
      barrier.wait();
      if (thread == 0) slice_seconds[static_cast<std::size_t>(slice)] = wall_seconds(intervals);
    }
    g_consumed.fetch_xor(static_cast<std::uint64_t>(sink.values[0]), std::memory_order_relaxed);
  });
  if (!status) return status;
  std::sort(slice_seconds.begin(), slice_seconds.end());
  const double median = slice_seconds[slice_seconds.size() / 2];
  return flops_per_iteration * static_cast<double>(slice_iterations) * num_threads / median;
}

Result<double> sample_read_rate(std::string_view implementation, const void* buffer, std::size_t bytes, int num_threads,
                                double seconds) {
  const auto table = find_table(implementation);
  if (!table.ok()) return table.status();
  if (Status status = check_sample(num_threads, seconds); !status) return status;
  if (buffer == nullptr) return Status::invalid("buffer: null");

  // Whole blocks from the first aligned byte on.
  const auto address = reinterpret_cast<std::uintptr_t>(buffer);
  const std::size_t skip = (64 - address % 64) % 64;
  const std::size_t share =
      bytes < skip ? 0 : (bytes - skip) / static_cast<std::size_t>(num_threads) / kReadBlock * kReadBlock;
  if (share == 0) {
    return Status::invalid("bytes: " + std::to_string(bytes) + " is too few for " + std::to_string(num_threads) +
                           " threads of 1024 each");
  }
  const auto* data = static_cast<const std::byte*>(buffer) + skip;
  const std::size_t passes = (kRoundBytes + share - 1) / share;

  ReadTotals totals;
  std::vector<Interval> intervals(static_cast<std::size_t>(num_threads));
  SpinBarrier barrier(num_threads);
  bool more = true;  // written by thread 0 between two barriers, read by all after the second
  const auto started = Clock::now();
  const Status status = on_threads(num_threads, [&](int thread) {
    const std::byte* mine = data + static_cast<std::size_t>(thread) * share;
    std::uint64_t seen = 0;
    // Round -1 warms up and is not counted; then plain and prefetched take turns, both at least once.
    for (int round = -1;; ++round) {
      const int way = round & 1;
      const auto read = way == 0 ? (*table)->read : (*table)->read_prefetched;
      barrier.wait();
      Interval& interval = intervals[static_cast<std::size_t>(thread)];
      interval.begin = Clock::now();
      for (std::size_t pass = 0; pass < passes; ++pass) seen |= read(mine, share);
      interval.end = Clock::now();
      barrier.wait();
      if (thread == 0) {
        if (round >= 0) {
          totals.bytes[way] += static_cast<double>(share) * static_cast<double>(passes) * num_threads;
          totals.seconds[way] += wall_seconds(intervals);
        }
        more = round < 1 || seconds_between(started, Clock::now()) < seconds;
      }
      barrier.wait();
      if (!more) break;
    }
    g_consumed.fetch_xor(seen, std::memory_order_relaxed);
  });
  if (!status) return status;
  return std::max(totals.bytes[0] / totals.seconds[0], totals.bytes[1] / totals.seconds[1]);
}

}  // namespace tessera
