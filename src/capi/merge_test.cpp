// SPDX-License-Identifier: Apache-2.0
// The merge and the library's pool across the C interface.
#include "capi/capi_test.hpp"

#include <atomic>

namespace tessera::capi::test {
namespace {

struct Merge {
  std::vector<float> a = std::vector<float>(2 * 4, 1.0f), b = std::vector<float>(2 * 4, 3.0f),
                     o = std::vector<float>(2 * 4, NAN);
  std::vector<float> lse_a = {0, 0}, lse_b = {0, -INFINITY}, lse = {NAN, NAN};
  tessera_merge_desc desc = {sizeof(tessera_merge_desc), TESSERA_F32, 0, 1, 1, 2, 4};
  tessera_partial partials[2] = {{{a.data(), 8, 8, 4}, lse_a.data()}, {{b.data(), 8, 8, 4}, lse_b.data()}};
  tessera_tensor out = {o.data(), 8, 8, 4};
  tessera_error error = {};
  tessera_code run() { return tessera_merge(&desc, partials, 2, &out, lse.data(), nullptr, &error); }
};

TEST(CApiMerge, MergesTwo) {
  Merge m;
  ASSERT_EQ(m.run(), TESSERA_OK) << m.error.message;
  for (int x = 0; x < 4; ++x) {
    EXPECT_FLOAT_EQ(m.o[x], 2.0f);
    EXPECT_EQ(m.o[4 + x], 1.0f) << "the second head's other partial is empty";
  }
  EXPECT_FLOAT_EQ(m.lse[0], std::log(2.0f));
  EXPECT_EQ(m.lse[1], 0.0f);
}

TEST(CApiMerge, RunsOnTheLibrarysPool) {
  tessera_error error = {};
  tessera_executor pool = {};
  ASSERT_EQ(tessera_default_executor(&pool, &error), TESSERA_OK) << error.message;
  EXPECT_GE(pool.concurrency(pool.self), 1);
  std::atomic<int> sum = 0;
  pool.parallel(
      pool.self, 100, [](void* context, int i) { *static_cast<std::atomic<int>*>(context) += i; }, &sum);
  EXPECT_EQ(sum, 4950) << "each of 100 tasks once";

  const std::int64_t rows = 400, dim = 256;
  std::vector<float> a(rows * dim, 1.0f), b(rows * dim, 3.0f), lse(rows, 2.0f), o(rows * dim, NAN);
  const tessera_merge_desc desc = {sizeof desc, TESSERA_F32, 0, 1, 1, rows, dim};
  const tessera_partial partials[] = {{{a.data(), rows * dim, rows * dim, dim}, lse.data()},
                                      {{b.data(), rows * dim, rows * dim, dim}, lse.data()}};
  const tessera_tensor out = {o.data(), rows * dim, rows * dim, dim};
  ASSERT_EQ(tessera_merge(&desc, partials, 2, &out, nullptr, &pool, &error), TESSERA_OK) << error.message;
  EXPECT_EQ(std::count(o.begin(), o.end(), 2.0f), rows * dim);
  EXPECT_EQ(tessera_default_executor(nullptr, &error), TESSERA_INVALID);
  EXPECT_THAT(error.message, HasSubstr("executor is null"));
}

TEST(CApiMerge, MisuseIsNamed) {
  const struct {
    const char* part;
    tessera_code (*call)(Merge&);
  } cases[] = {
      {"desc", [](Merge& m) { return tessera_merge(nullptr, m.partials, 2, &m.out, nullptr, nullptr, &m.error); }},
      {"partials", [](Merge& m) { return tessera_merge(&m.desc, nullptr, 2, &m.out, nullptr, nullptr, &m.error); }},
      {"partials", [](Merge& m) { return tessera_merge(&m.desc, m.partials, 0, &m.out, nullptr, nullptr, &m.error); }},
      {"num_partials is 18446744073709551615",
       [](Merge& m) { return tessera_merge(&m.desc, m.partials, SIZE_MAX, &m.out, nullptr, nullptr, &m.error); }},
      {"o is null", [](Merge& m) { return tessera_merge(&m.desc, m.partials, 2, nullptr, nullptr, nullptr, &m.error); }},
      {"o: null", [](Merge& m) { return m.out.data = nullptr, m.run(); }},
      {"partials[1].lse: null", [](Merge& m) { return m.partials[1].lse = nullptr, m.run(); }},
      {"partials[0].o: null", [](Merge& m) { return m.partials[0].o.data = nullptr, m.run(); }},
      {"desc.struct_size is 1", [](Merge& m) { return m.desc.struct_size = 1, m.run(); }},
      {"desc.dtype is 9", [](Merge& m) { return m.desc.dtype = 9, m.run(); }},
      {"desc.reserved is 9", [](Merge& m) { return m.desc.reserved = 9, m.run(); }},
      {"batch: -1", [](Merge& m) { return m.desc.batch = -1, m.run(); }},
      {"seqlen_q: -1", [](Merge& m) { return m.desc.seqlen_q = -1, m.run(); }},
      {"num_q_heads: -1", [](Merge& m) { return m.desc.num_q_heads = -1, m.run(); }},
      {"head_dim_v: 0", [](Merge& m) { return m.desc.head_dim_v = 0, m.run(); }},
      {"executor",
       [](Merge& m) {
         const tessera_executor empty = {};
         return tessera_merge(&m.desc, m.partials, 2, &m.out, nullptr, &empty, &m.error);
       }},
  };
  for (const auto& c : cases) {
    Merge m;
    EXPECT_EQ(c.call(m), TESSERA_INVALID) << c.part;
    EXPECT_THAT(m.error.message, HasSubstr(c.part));
    for (float x : m.o) EXPECT_TRUE(std::isnan(x));
  }
}

}  // namespace
}  // namespace tessera::capi::test
