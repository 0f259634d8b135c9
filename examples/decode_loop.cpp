// SPDX-License-Identifier: Apache-2.0
// A decode loop over a paged cache: each step appends a token to every sequence, plans once, and runs the plan once a
// layer. At the end, the last step must equal the last row of a causal prefill over the same tokens.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "tessera/attention.hpp"

namespace {

constexpr int kLayers = 2, kSequences = 3, kQueryHeads = 8, kKvHeads = 2, kDim = 64;
constexpr int kPageSize = 16, kMaxPages = 8;  // pages of one sequence
constexpr int kSteps = 100;

/// Pages of one layer: [pages, page_size, kv_heads, dim], keys and values apart.
struct LayerCache {
  static constexpr int kTokenElems = kKvHeads * kDim;
  std::vector<float> k, v;
  LayerCache() : k(kSequences * kMaxPages * kPageSize * kTokenElems), v(k.size()) {}
};

/// Which page holds which tokens of which sequence; the same for all layers.
class BlockTable {
 public:
  /// Makes room for one more token of `sequence` and returns where it goes, in tokens from the start of the pool.
  std::int64_t append(int sequence) {
    const int token = lengths_[sequence]++;
    std::int32_t& page = table_[sequence * kMaxPages + token / kPageSize];
    if (token % kPageSize == 0) page = next_free_++;
    return std::int64_t{page} * kPageSize + token % kPageSize;
  }
  const std::int32_t* data() const { return table_.data(); }
  const std::vector<std::int32_t>& lengths() const { return lengths_; }

 private:
  std::vector<std::int32_t> table_ = std::vector<std::int32_t>(kSequences * kMaxPages, -1);
  std::vector<std::int32_t> lengths_ = std::vector<std::int32_t>(kSequences);
  std::int32_t next_free_ = 0;
};

/// A workspace that only grows; a decoder keeps one for its whole life.
class Workspace {
 public:
  void* reserve(std::size_t bytes) {
    const std::size_t rounded =
        (bytes + tessera::kWorkspaceAlignment) / tessera::kWorkspaceAlignment * tessera::kWorkspaceAlignment;
    if (rounded > bytes_) {
      memory_.reset(std::aligned_alloc(tessera::kWorkspaceAlignment, rounded));
      bytes_ = rounded;
    }
    return memory_.get();
  }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> memory_;
  std::size_t bytes_ = 0;
};

int fail(const tessera::Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}

void fill(std::mt19937& random, float* values, int count) {
  std::normal_distribution<float> normal;
  for (int i = 0; i < count; ++i) values[i] = normal(random);
}

tessera::Problem step_problem(const BlockTable& blocks) {
  tessera::Problem problem;
  problem.dtype = tessera::DType::f32;
  problem.batch = kSequences;
  problem.num_q_heads = kQueryHeads;
  problem.num_kv_heads = kKvHeads;
  problem.head_dim_qk = problem.head_dim_v = kDim;
  problem.seqlen_q = 1;
  problem.seqlens_kv = blocks.lengths();
  problem.kv_layout = tessera::KvLayout::paged_token_major;
  problem.page_size = kPageSize;
  problem.causal = true;
  return problem;
}

}  // namespace

int main() {
  std::mt19937 random(1);
  std::vector<LayerCache> layers(kLayers);
  BlockTable blocks;
  Workspace workspace;
  std::vector<float> q(kSequences * kQueryHeads * kDim), o(q.size());
  std::vector<float> all_q, all_k, all_v;  // of sequence 0 in layer 0, for the check below

  for (int step = 0; step < kSteps; ++step) {
    std::int64_t slots[kSequences];
    for (int s = 0; s < kSequences; ++s) slots[s] = blocks.append(s);

    const tessera::Problem problem = step_problem(blocks);
    const auto plan = tessera::plan(problem);
    if (!plan) return fail(plan.status());
    void* memory = workspace.reserve(plan->workspace_bytes());

    for (int layer = 0; layer < kLayers; ++layer) {
      // A model would compute these from the layer's input.
      LayerCache& cache = layers[layer];
      fill(random, q.data(), static_cast<int>(q.size()));
      for (std::int64_t slot : slots) {
        fill(random, &cache.k[slot * LayerCache::kTokenElems], LayerCache::kTokenElems);
        fill(random, &cache.v[slot * LayerCache::kTokenElems], LayerCache::kTokenElems);
      }
      auto tensors = tessera::packed_tensors(problem, q.data(), cache.k.data(), cache.v.data(), o.data());
      tensors.block_table = blocks.data();
      tensors.block_table_stride = kMaxPages;
      tensors.num_pages = kSequences * kMaxPages;
      if (const auto status = plan->run(tensors, memory, workspace.bytes()); !status) return fail(status);
      if (layer != 0) continue;
      all_q.insert(all_q.end(), q.begin(), q.begin() + kQueryHeads * kDim);
      const auto at = slots[0] * LayerCache::kTokenElems;
      all_k.insert(all_k.end(), cache.k.begin() + at, cache.k.begin() + at + LayerCache::kTokenElems);
      all_v.insert(all_v.end(), cache.v.begin() + at, cache.v.begin() + at + LayerCache::kTokenElems);
      if (step + 1 == kSteps) {
        const auto whole = tessera::Problem::parse("f32 b1 hq8 hkv2 d64 sq100 skv100 causal");
        std::vector<float> prefill(all_q.size());
        const auto views = tessera::packed_tensors(*whole, all_q.data(), all_k.data(), all_v.data(), prefill.data());
        if (const auto status = tessera::attention(*whole, views); !status) return fail(status);
        float worst = 0;
        const float* last = prefill.data() + (kSteps - 1) * kQueryHeads * kDim;
        for (int x = 0; x < kQueryHeads * kDim; ++x) worst = std::max(worst, std::abs(o[x] - last[x]));
        std::printf("%d steps, %d sequences, %d layers; the last step differs from a prefill by less than 1e-5: %s\n",
                    kSteps, kSequences, kLayers, worst < 1e-5f ? "yes" : "NO");
        if (!(worst < 1e-5f)) return 1;
      }
    }
  }
  return 0;
}
