// SPDX-License-Identifier: Apache-2.0
// A prefix that all sequences share (a system prompt) is read once for all of them, each one's own keys apart; the two
// partial results are merged by their log-sum-exp. The answer must equal attention over prefix and own keys in one.
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "tessera/attention.hpp"
#include "tessera/merge.hpp"

namespace {

constexpr int kSequences = 4, kHeads = 8, kKvHeads = 2, kDim = 64, kPrefix = 512, kOwn = 40;
constexpr int kToken = kKvHeads * kDim, kRow = kHeads * kDim;

std::vector<float> normal(std::size_t count) {
  static std::mt19937 random(7);
  std::normal_distribution<float> distribution;
  std::vector<float> values(count);
  for (float& x : values) x = distribution(random);
  return values;
}

bool ok(const tessera::Status& status) {
  if (!status) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok();
}

/// Attention of q over k and v, as `text` says; false and a message on failure.
bool attend(const char* text, const std::vector<float>& q, const std::vector<float>& k, const std::vector<float>& v,
            std::vector<float>& o, std::vector<float>& lse) {
  const auto problem = tessera::Problem::parse(text);
  if (!problem) return ok(problem.status());
  o.resize(q.size());
  lse.resize(kSequences * kHeads);
  return ok(
      tessera::attention(*problem, tessera::packed_tensors(*problem, q.data(), k.data(), v.data(), o.data(), lse.data())));
}

/// [sequences, prefix + own, token] out of one prefix and everybody's own.
std::vector<float> joined(const std::vector<float>& prefix, const std::vector<float>& own) {
  std::vector<float> all;
  for (int s = 0; s < kSequences; ++s) {
    all.insert(all.end(), prefix.begin(), prefix.end());
    all.insert(all.end(), own.begin() + s * kOwn * kToken, own.begin() + (s + 1) * kOwn * kToken);
  }
  return all;
}

}  // namespace

int main() {
  const auto q = normal(kSequences * kRow);
  const auto prefix_k = normal(kPrefix * kToken), prefix_v = normal(kPrefix * kToken);
  const auto own_k = normal(kSequences * kOwn * kToken), own_v = normal(kSequences * kOwn * kToken);
  std::vector<float> o_prefix, lse_prefix, o_own, lse_own, o_all, lse_all;

  // Seen from the prefix, the four sequences are four queries of one: it is read once. Its lse is [heads, 4].
  if (!attend("f32 b1 hq8 hkv2 d64 sq4 skv512", q, prefix_k, prefix_v, o_prefix, lse_prefix)) return 1;
  if (!attend("f32 b4 hq8 hkv2 d64 sq1 skv40", q, own_k, own_v, o_own, lse_own)) return 1;
  if (!attend("f32 b4 hq8 hkv2 d64 sq1 skv552", q, joined(prefix_k, own_k), joined(prefix_v, own_v), o_all, lse_all))
    return 1;

  // The merge wants both as one sequence of four queries: o is that already, lse [4, heads, 1] becomes [heads, 4].
  std::vector<float> lse_own_by_head(lse_own.size()), o(o_own.size()), lse(lse_own.size());
  for (int s = 0; s < kSequences; ++s) {
    for (int h = 0; h < kHeads; ++h) lse_own_by_head[h * kSequences + s] = lse_own[s * kHeads + h];
  }
  const tessera::Strides strides{0, kRow, kDim};
  const tessera::PartialResult partials[] = {{{o_prefix.data(), strides}, lse_prefix.data()},
                                             {{o_own.data(), strides}, lse_own_by_head.data()}};
  const tessera::MergeProblem shape{tessera::DType::f32, 1, kSequences, kHeads, kDim};
  if (!ok(tessera::merge(shape, partials, {o.data(), strides}, lse.data()))) return 1;

  float worst = 0;
  for (std::size_t x = 0; x < o.size(); ++x) worst = std::max(worst, std::abs(o[x] - o_all[x]));
  std::printf("%d sequences share %d keys; merged and unshared differ by less than 1e-5: %s\n", kSequences, kPrefix,
              worst < 1e-5f ? "yes" : "NO");
  return worst < 1e-5f ? 0 : 1;
}
