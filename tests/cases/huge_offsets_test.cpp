// SPDX-License-Identifier: Apache-2.0
// Offsets past 2^31 and 2^32 elements, in a sparse 16 GiB pool of which a few pages are ever touched.
#include <sys/mman.h>

#include <vector>

#include "support/kit.hpp"

namespace tessera::test {
namespace {

class SparsePool {
 public:
  static constexpr std::size_t kBytes = std::size_t{16} << 30;

  SparsePool() : data_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~SparsePool() {
    if (ok()) munmap(data_, kBytes);
  }
  SparsePool(const SparsePool&) = delete;
  SparsePool& operator=(const SparsePool&) = delete;

  bool ok() const { return data_ != MAP_FAILED; }
  std::uint16_t* data() const { return static_cast<std::uint16_t*>(data_); }

 private:
  void* data_;
};

constexpr std::int64_t kDim = 32;

/// Runs `problem` on these tensors and expects what the same logical rows give in a compact layout.
void expect_compact(const Problem& problem, const AttentionTensors& tensors, const Instance& compact) {
  for (const std::string& implementation : runnable()) {
    Output wanted;
    ASSERT_TRUE(run(compact, {implementation}, wanted));
    std::vector<std::uint16_t> o(wanted.o.size());
    std::vector<float> lse(wanted.lse.size());
    AttentionTensors t = tensors;
    t.o = {o.data(), packed_query_strides(problem, problem.head_dim_v)};
    t.lse = lse.data();
    PlanOptions options;
    options.implementation = implementation;
    const Status status = attention(problem, t, options);
    ASSERT_TRUE(status.ok()) << implementation << ": " << status.message();
    Output got;
    got.lse = lse;
    for (const std::uint16_t x : o) got.o.push_back(decode(problem.dtype, x));
    EXPECT_EQ(first_difference(got, wanted), "") << context(compact, {implementation});
  }
}

TEST(HugeOffsets, PagesBeyondFourGibiElements) {
  const SparsePool k, v;
  if (!k.ok() || !v.ok()) GTEST_SKIP() << "no 32 GiB of address space";
  for (const std::string pages : {"page16", "hpage16"}) {
    for (const int sq : {1, 40}) {
      const Problem problem = parse("bf16 hq4 hkv2 d32 skv90 causal " + pages + " sq" + std::to_string(sq));
      const Instance compact(problem, random_values(22));
      AttentionTensors tensors = compact.tensors();
      const std::int64_t page_elems = tensors.k.strides.outer;
      ASSERT_EQ(page_elems, 16 * 2 * kDim);
      // Six pages: around 2^31 and 2^32 elements, and the first and last of the pool.
      const std::int64_t last = static_cast<std::int64_t>(SparsePool::kBytes / 2) / page_elems - 1;
      const std::int64_t at31 = (std::int64_t{1} << 31) / page_elems, at32 = (std::int64_t{1} << 32) / page_elems;
      const std::int64_t places[] = {at32, at31 - 1, 0, last, at31, at32 - 1};
      std::vector<std::int32_t> table;
      for (std::int64_t n = 0; n < 6; ++n) {
        const std::int64_t from = tensors.block_table[n] * page_elems;
        for (std::int64_t x = 0; x < page_elems; ++x) {
          k.data()[places[n] * page_elems + x] = static_cast<const std::uint16_t*>(tensors.k.data)[from + x];
          v.data()[places[n] * page_elems + x] = static_cast<const std::uint16_t*>(tensors.v.data)[from + x];
        }
        table.push_back(static_cast<std::int32_t>(places[n]));
      }
      tensors.k.data = k.data();
      tensors.v.data = v.data();
      tensors.block_table = table.data();
      tensors.block_table_stride = 6;
      tensors.num_pages = last + 1;
      expect_compact(problem, tensors, compact);
    }
  }
}

TEST(HugeOffsets, StridesBeyondFourGibiElements) {
  const SparsePool k, v;
  if (!k.ok() || !v.ok()) GTEST_SKIP() << "no 32 GiB of address space";
  struct Case {
    const char* problem;
    Strides strides;  // of k and v
  };
  constexpr std::int64_t k31 = std::int64_t{1} << 31, k32 = std::int64_t{1} << 32;
  const Case cases[] = {
      {"bf16 b2 hq2 hkv2 d32 skv20 sq1", {k32 + 64, 96, 32}},       // sequences far apart
      {"bf16 b2 hq2 hkv2 d32 skv20 sq20", {1024, 32, k32 - 2048}},  // heads far apart
      {"bf16 hq4 hkv2 d32 skv3 sq2", {0, k31 + 32, 64}},            // tokens far apart
      {"bf16 hq2 hkv1 d32 skv8 sq30 causal", {0, k31 / 2 - 32, 0}},
  };
  for (const Case& c : cases) {
    const Problem problem = parse(c.problem);
    const Instance compact(problem, random_values(23));
    AttentionTensors tensors = compact.tensors();
    for (std::int64_t b = 0; b < problem.batch; ++b) {
      for (std::int64_t j = 0; j < problem.seqlen_kv; ++j) {
        for (std::int64_t h = 0; h < problem.num_kv_heads; ++h) {
          const std::int64_t to = b * c.strides.outer + j * c.strides.seq + h * c.strides.head;
          ASSERT_LE(to + kDim, static_cast<std::int64_t>(SparsePool::kBytes / 2));
          for (std::int64_t x = 0; x < kDim; ++x) {
            const std::int64_t from = ((b * problem.seqlen_kv + j) * problem.num_kv_heads + h) * kDim + x;
            k.data()[to + x] = static_cast<const std::uint16_t*>(tensors.k.data)[from];
            v.data()[to + x] = static_cast<const std::uint16_t*>(tensors.v.data)[from];
          }
        }
      }
    }
    tensors.k = {k.data(), c.strides};
    tensors.v = {v.data(), c.strides};
    expect_compact(problem, tensors, compact);
  }
}

TEST(HugeOffsets, QueriesAndOutputsFarApart) {
  const SparsePool q, o;
  if (!q.ok() || !o.ok()) GTEST_SKIP() << "no 32 GiB of address space";
  const Problem problem = parse("bf16 b2 hq2 hkv1 d32 skv50 sq3 causal");
  const Instance compact(problem, random_values(24));
  const Strides strides = {(std::int64_t{1} << 32) + 32, 64, (std::int64_t{1} << 31) + 96};
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t h = 0; h < 2; ++h) {
        for (std::int64_t x = 0; x < kDim; ++x) {
          q.data()[b * strides.outer + i * strides.seq + h * strides.head + x] =
              static_cast<const std::uint16_t*>(compact.tensors().q.data)[((b * 3 + i) * 2 + h) * kDim + x];
        }
      }
    }
  }
  for (const std::string& implementation : runnable()) {
    Output wanted, got;
    ASSERT_TRUE(run(compact, {implementation}, wanted));
    got.lse.resize(wanted.lse.size());
    AttentionTensors t = compact.tensors();
    t.q = {q.data(), strides};
    t.o = {o.data(), strides};
    t.lse = got.lse.data();
    PlanOptions options;
    options.implementation = implementation;
    const Status status = attention(problem, t, options);
    ASSERT_TRUE(status.ok()) << implementation << ": " << status.message();
    for (std::int64_t row = 0; row < 2 * 3 * 2; ++row) {
      const std::int64_t b = row / 6, i = row / 2 % 3, h = row % 2;
      for (std::int64_t x = 0; x < kDim; ++x) {
        got.o.push_back(decode(DType::bf16, o.data()[b * strides.outer + i * strides.seq + h * strides.head + x]));
      }
    }
    EXPECT_EQ(first_difference(got, wanted), "") << context(compact, {implementation});
  }
}

}  // namespace
}  // namespace tessera::test
