// SPDX-License-Identifier: Apache-2.0
#include "cli/unfused.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <thread>

#include "bench/memory.hpp"
#include "cli/failure.hpp"
#include "cli/half.hpp"
#include "cli/unfused_steps.hpp"

namespace tessera::cli {
namespace {

constexpr std::int64_t kRowBlock = 64;  // rows of S a work item

struct Shape {
  std::int64_t batch, hq, hkv, sq, sk, dqk, dv;
  std::int64_t blocks() const { return (sq + kRowBlock - 1) / kRowBlock; }
  std::int64_t items() const { return batch * hq * blocks(); }
};

std::int64_t panel_elements(std::int64_t depth, std::int64_t cols) { return (cols + kPanel - 1) / kPanel * kPanel * depth; }

// Everything the three steps write. One head's part of K and V is packed once and used by its whole group.
struct Memory {
  std::vector<float> q, k, v;  // widened
  std::vector<float> k_panels, v_panels;
  std::vector<float> scores;  // [batch, hq, sq, sk]
  Memory(const Shape& s)
      : q(static_cast<std::size_t>(s.batch * s.sq * s.hq * s.dqk)),
        k(static_cast<std::size_t>(s.batch * s.sk * s.hkv * s.dqk)),
        v(static_cast<std::size_t>(s.batch * s.sk * s.hkv * s.dv)),
        k_panels(static_cast<std::size_t>(s.batch * s.hkv * panel_elements(s.dqk, s.sk))),
        v_panels(static_cast<std::size_t>(s.batch * s.hkv * panel_elements(s.sk, s.dv))),
        scores(static_cast<std::size_t>(s.batch * s.hq * s.sq * s.sk)) {}
};

class Unfused {
 public:
  Unfused(const AttendInput& input, int threads, float* o)
      : input_(input),
        p_(input.problem),
        shape_{p_.batch, p_.num_q_heads, p_.num_kv_heads, p_.seqlen_q, p_.seqlen_kv, p_.head_dim_qk, p_.head_dim_v},
        memory_(shape_),
        threads_(threads),
        o_(o) {}

  void run() {
    std::barrier barrier(threads_);
    const auto work = [&](int thread) {
      widen_share(thread);
      barrier.arrive_and_wait();
      for (auto i = thread; i < shape_.batch * shape_.hkv; i += threads_) pack_head(i);
      barrier.arrive_and_wait();
      for (auto i = std::int64_t{thread}; i < shape_.items(); i += threads_) score_block(i);
      barrier.arrive_and_wait();
      for (auto i = std::int64_t{thread}; i < shape_.items(); i += threads_) softmax_block(i);
      barrier.arrive_and_wait();
      for (auto i = std::int64_t{thread}; i < shape_.items(); i += threads_) output_block(i);
    };
    std::vector<std::jthread> helpers;
    for (int t = 1; t < threads_; ++t) helpers.emplace_back(work, t);
    work(0);
  }

 private:
  struct Block {
    std::int64_t b, h, head, first, rows;  // head: (b, h) in the score matrix
  };
  Block block(std::int64_t item) const {
    const auto head = item / shape_.blocks(), first = item % shape_.blocks() * kRowBlock;
    return {head / shape_.hq, head % shape_.hq, head, first, std::min(kRowBlock, shape_.sq - first)};
  }
  float* scores(const Block& at) { return memory_.scores.data() + (at.head * shape_.sq + at.first) * shape_.sk; }
  std::int64_t kv_head(const Block& at) const { return at.b * shape_.hkv + at.h / (shape_.hq / shape_.hkv); }

  void widen_share(int thread) {
    const auto part = [&](const AlignedBuffer& from, std::vector<float>& to) {
      const auto n = static_cast<std::int64_t>(to.size()), begin = n * thread / threads_, end = n * (thread + 1) / threads_;
      const auto* source = from.data() + begin * static_cast<std::int64_t>(size_of(p_.dtype));
      widen(p_.dtype, source, end - begin, to.data() + begin);
    };
    part(input_.q, memory_.q);
    part(input_.k, memory_.k);
    part(input_.v, memory_.v);
  }
  void pack_head(std::int64_t i) {
    const auto b = i / shape_.hkv, h = i % shape_.hkv;
    const auto k_row = shape_.hkv * shape_.dqk, v_row = shape_.hkv * shape_.dv;
    steps_.pack(memory_.k.data() + b * shape_.sk * k_row + h * shape_.dqk, 1, k_row, shape_.dqk, shape_.sk,
                memory_.k_panels.data() + i * panel_elements(shape_.dqk, shape_.sk));
    steps_.pack(memory_.v.data() + b * shape_.sk * v_row + h * shape_.dv, v_row, 1, shape_.sk, shape_.dv,
                memory_.v_panels.data() + i * panel_elements(shape_.sk, shape_.dv));
  }
  void score_block(std::int64_t item) {
    const auto at = block(item);
    const auto* q = memory_.q.data() + ((at.b * shape_.sq + at.first) * shape_.hq + at.h) * shape_.dqk;
    steps_.multiply(q, shape_.hq * shape_.dqk, memory_.k_panels.data() + kv_head(at) * panel_elements(shape_.dqk, shape_.sk),
                    scores(at), shape_.sk, at.rows, shape_.sk, shape_.dqk, static_cast<float>(p_.scale()));
  }
  void softmax_block(std::int64_t item) {
    const auto at = block(item);
    const auto keys = p_.key_length(at.b);
    const auto shift = p_.alignment == Alignment::bottom_right ? keys - shape_.sq : 0;
    for (std::int64_t r = 0; r < at.rows; ++r) {
      const auto position = at.first + r + shift;
      auto begin = std::int64_t{0}, end = keys;
      if (p_.causal) end = std::min(end, position + 1);
      if (p_.window_right >= 0) end = std::min(end, position + 1 + std::min(p_.window_right, keys + shape_.sq));
      if (p_.window_left >= 0) begin = std::max(begin, position - std::min(p_.window_left, keys + shape_.sq));
      steps_.softmax(scores(at) + r * shape_.sk, shape_.sk, std::min(begin, shape_.sk), std::max(end, std::int64_t{0}));
    }
  }
  void output_block(std::int64_t item) {
    const auto at = block(item);
    float* o = o_ + ((at.b * shape_.sq + at.first) * shape_.hq + at.h) * shape_.dv;
    steps_.multiply(scores(at), shape_.sk, memory_.v_panels.data() + kv_head(at) * panel_elements(shape_.sk, shape_.dv), o,
                    shape_.hq * shape_.dv, at.rows, shape_.dv, shape_.sk, 1.0f);
  }

  const AttendInput& input_;
  const Problem& p_;
  const Shape shape_;
  const UnfusedSteps& steps_ = unfused_steps();
  Memory memory_;
  const int threads_;
  float* const o_;
};

}  // namespace

std::string unfused_refusal(const Problem& p) {
  if (p.paged() || !p.cu_seqlens_q.empty() || !p.cu_seqlens_kv.empty())
    return "it covers dense tensors, not ragged or paged ones";
  if (p.softcap != 0 || p.has_alibi || p.has_sink || p.has_bias || p.has_mask)
    return "it covers causal, window and scale only";
  return {};
}

UnfusedAnswer run_unfused(const AttendInput& input, int threads, int max_repeats, double budget_seconds) {
  const auto& p = input.problem;
  if (const auto why = unfused_refusal(p); !why.empty()) throw Failure(kUnsupported, "--compare-unfused: " + why);
  UnfusedAnswer answer;
  answer.o.resize(static_cast<std::size_t>(input.o_elements()));
  const bench::PeakMemory peak;
  Unfused unfused(input, threads, answer.o.data());
  unfused.run();  // touches the memory, which is not what is timed
  for (double spent = 0;
       static_cast<int>(answer.seconds.size()) < max_repeats && (spent < budget_seconds || answer.seconds.empty());
       spent += answer.seconds.back()) {
    const auto begin = std::chrono::steady_clock::now();
    unfused.run();
    answer.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  answer.extra_bytes = static_cast<double>(peak.extra_bytes());
  answer.score_bytes = 4.0 * static_cast<double>(p.batch * p.num_q_heads) * static_cast<double>(p.seqlen_q * p.seqlen_kv);
  return answer;
}

}  // namespace tessera::cli
