// SPDX-License-Identifier: Apache-2.0
#include "tessera/merge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "base/convert.hpp"

namespace tessera {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Strides packed(const MergeProblem& p) {
  return {p.seqlen_q * p.num_q_heads * p.head_dim_v, p.num_q_heads * p.head_dim_v, p.head_dim_v};
}

/// One row of one element each: merges (o, lse) pairs.
struct Pair {
  float o, lse;
};
Pair merge_pairs(const std::vector<Pair>& pairs) {
  MergeProblem p;
  p.head_dim_v = 1;
  std::vector<PartialResult> partials;
  for (const Pair& pair : pairs) partials.push_back({{&pair.o, packed(p)}, &pair.lse});
  Pair out{kNan, kNan};
  const Status status = merge(p, partials, {&out.o, packed(p)}, &out.lse);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

TEST(Merge, EmptyPartialsChangeNoBit) {
  const Pair empty{0, -kInf}, dirty{kNan, -kInf};
  EXPECT_EQ(merge_pairs({empty, empty}).o, 0.0f);
  EXPECT_EQ(merge_pairs({empty, empty}).lse, -kInf);
  EXPECT_EQ(merge_pairs({dirty, dirty}).o, 0.0f);  // an empty partial's O may hold anything
  for (const Pair x : {Pair{0.1f, 0.3f}, Pair{-3e38f, -87.0f}, Pair{1e-40f, 1000.0f}, Pair{0.7f, 1e-30f}}) {
    for (const auto& pairs : {std::vector{x, empty}, std::vector{empty, x}, std::vector{empty, x, dirty}, std::vector{x}}) {
      const Pair out = merge_pairs(pairs);
      EXPECT_EQ(std::memcmp(&out, &x, sizeof x), 0) << x.o << " " << x.lse;
    }
  }
}

TEST(Merge, NaturalLogarithm) {  // a prefix of 4096 keys with V = 0, a suffix of 64 with V = 1, every score 0
  const Pair out = merge_pairs({{0, std::log(4096.0f)}, {1, std::log(64.0f)}});
  EXPECT_NEAR(out.o, 64.0f / 4160.0f, 1e-8);
  EXPECT_NEAR(out.lse, std::log(4160.0f), 1e-6);
}

TEST(Merge, LargeLseNeitherOverflowsNorVanishes) {
  EXPECT_EQ(merge_pairs({{1, 100}, {2, 0}}).lse, 100.0f);
  EXPECT_NEAR(merge_pairs({{1, 1000}, {2, 990}}).lse, 1000.0000454f, 1e-4);
  EXPECT_NEAR(merge_pairs({{1, -1000}, {2, -1001}}).lse, -999.686738f, 1e-4);
  EXPECT_EQ(merge_pairs({{1, 1000}, {2, -1000}}).o, 1.0f);
  EXPECT_EQ(merge_pairs({{1, -1000}, {2, 1000}}).o, 2.0f);
  for (float sign : {1.0f, -1.0f}) {
    const Pair out = merge_pairs({{1, sign > 0 ? 151.29f : -152.29f}, {0, sign > 0 ? 150.29f : -151.29f}});
    EXPECT_NEAR(out.o, sign > 0 ? 0.7310586f : 0.2689414f, 1e-5);
    EXPECT_NEAR(out.lse, sign > 0 ? 151.603262f : -150.976738f, 1e-4);
  }
}

TEST(Merge, NanIsNotHidden) {
  EXPECT_TRUE(std::isnan(merge_pairs({{1, kNan}, {2, 0}}).o));
  EXPECT_TRUE(std::isnan(merge_pairs({{2, 0}, {kNan, 0}}).o));
  EXPECT_EQ(merge_pairs({{2, 0}, {kNan, 0}}).lse, std::log(2.0f));
}

TEST(Merge, InfiniteFeaturesKeepToTheirOwnColumn) {
  MergeProblem p;
  p.head_dim_v = 2;
  const float a[2] = {kInf, 1}, b[2] = {0, 3}, lse = 0;
  float o[2];
  const PartialResult partials[] = {{{a, packed(p)}, &lse}, {{b, packed(p)}, &lse}};
  ASSERT_TRUE(merge(p, partials, {o, packed(p)}, nullptr).ok());
  EXPECT_EQ(o[0], kInf);
  EXPECT_EQ(o[1], 2.0f);
}

/// Random partials of any dtype and strides, kept as floats beside.
struct Random {
  MergeProblem problem;
  std::vector<std::vector<std::uint8_t>> o;
  std::vector<std::vector<float>> lse;
  std::vector<PartialResult> partials;
  Strides strides;

  Random(unsigned seed, DType dtype, int count, bool padded) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> value(-2, 2);
    problem = {dtype, 2, 3, 4, 37};
    strides = packed(problem);
    if (padded) strides = {4000, 1000, 41};  // [batch][seq][head] with gaps
    const std::size_t size = size_of(dtype);
    for (int i = 0; i < count; ++i) {
      auto& bytes = o.emplace_back(10000 * size);
      for (std::size_t e = 0; e < 10000; ++e) put(dtype, bytes.data() + e * size, value(random));
      auto& l = lse.emplace_back();
      for (int row = 0; row < 24; ++row) l.push_back(row % 5 == i ? -kInf : 3 * value(random));
    }
    for (int i = 0; i < count; ++i)
      partials.push_back({{o[static_cast<std::size_t>(i)].data(), strides}, lse[static_cast<std::size_t>(i)].data()});
  }

  static void put(DType dtype, std::uint8_t* at, float x) {
    const std::uint16_t half = dtype == DType::f16 ? base::float_to_f16(x) : base::float_to_bf16(x);
    std::memcpy(at, dtype == DType::f32 ? static_cast<const void*>(&x) : &half, size_of(dtype));
  }
  static float get(DType dtype, const std::uint8_t* at) {
    float x;
    std::uint16_t half;
    std::memcpy(&half, at, 2);
    if (dtype != DType::f32) return dtype == DType::f16 ? base::f16_to_float(half) : base::bf16_to_float(half);
    std::memcpy(&x, at, 4);
    return x;
  }
  std::size_t element(const Strides& s, int b, int h, int q, int i) const {
    return static_cast<std::size_t>(b * s.outer + q * s.seq + h * s.head + i) * size_of(problem.dtype);
  }
};

void expect_exact(const Random& r, const std::vector<std::uint8_t>& o, const std::vector<float>& lse, const char* what) {
  const double epsilon = r.problem.dtype == DType::f32 ? 1e-6 : r.problem.dtype == DType::f16 ? 1.0 / 1024 : 1.0 / 128;
  for (int b = 0; b < 2; ++b) {
    for (int h = 0; h < 4; ++h) {
      for (int q = 0; q < 3; ++q) {
        const auto row = static_cast<std::size_t>((b * 4 + h) * 3 + q);
        double sum = 0, acc[37] = {};
        for (std::size_t p = 0; p < r.partials.size(); ++p) {
          const double weight = std::exp(static_cast<double>(r.lse[p][row]));
          sum += weight;
          for (int i = 0; i < 37; ++i)
            acc[i] += weight * Random::get(r.problem.dtype, r.o[p].data() + r.element(r.strides, b, h, q, i));
        }
        ASSERT_NEAR(lse[row], std::log(sum), 2e-6 * std::max(1.0, std::abs(std::log(sum)))) << what << " row " << row;
        for (int i = 0; i < 37; ++i) {
          ASSERT_NEAR(Random::get(r.problem.dtype, o.data() + r.element(r.strides, b, h, q, i)), acc[i] / sum, 2 * epsilon)
              << what << " row " << row << " feature " << i;
        }
      }
    }
  }
}

TEST(Merge, AgreesWithTheFormulaInEveryTypeAndLayout) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (int count : {1, 2, 3, 7}) {
      for (bool strided : {false, true}) {
        const Random r(static_cast<unsigned>(count), dtype, count, strided);
        std::vector<std::uint8_t> o(40000);
        std::vector<float> lse(24);
        ASSERT_TRUE(merge(r.problem, r.partials, {o.data(), r.strides}, lse.data()).ok());
        if (count > 1) expect_exact(r, o, lse, "merge");
      }
    }
  }
}

TEST(Merge, InPlaceGivesTheSameBits) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (std::size_t place : {std::size_t{0}, std::size_t{2}}) {
      Random r(5, dtype, 3, true);
      std::vector<std::uint8_t> o(r.o[place]);  // gaps as they are
      std::vector<float> lse(24);
      ASSERT_TRUE(merge(r.problem, r.partials, {o.data(), r.strides}, lse.data()).ok());
      ASSERT_TRUE(merge(r.problem, r.partials, {r.o[place].data(), r.strides}, r.lse[place].data()).ok());
      EXPECT_EQ(o, r.o[place]);
      EXPECT_EQ(std::memcmp(lse.data(), r.lse[place].data(), 24 * 4), 0);
    }
  }
}

class Threads final : public Executor {
 public:
  explicit Threads(int count) : count_(count) {}
  int concurrency() const noexcept override { return count_; }
  void parallel(int count, void (*task)(void*, int), void* context) override {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back(task, context, i);
    for (auto& thread : threads) thread.join();
  }

 private:
  int count_;
};

TEST(Merge, ExecutorChangesNoBit) {
  MergeProblem p{DType::f32, 1, 200, 8, 64};
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> a(p.seqlen_q * 8 * 64), b(a.size()), la(1600), lb(1600), serial(a.size()), threaded(a.size()), ls(1600),
      lt(1600);
  for (auto* values : {&a, &b, &la, &lb}) {
    for (float& x : *values) x = normal(random);
  }
  const PartialResult partials[] = {{{a.data(), packed(p)}, la.data()}, {{b.data(), packed(p)}, lb.data()}};
  ASSERT_TRUE(merge(p, partials, {serial.data(), packed(p)}, ls.data()).ok());
  for (int count : {1, 2, 3, 7}) {
    Threads executor(count);
    std::fill(threaded.begin(), threaded.end(), kNan);
    ASSERT_TRUE(merge(p, partials, {threaded.data(), packed(p)}, lt.data(), &executor).ok());
    EXPECT_EQ(std::memcmp(serial.data(), threaded.data(), serial.size() * 4), 0) << count;
    EXPECT_EQ(std::memcmp(ls.data(), lt.data(), ls.size() * 4), 0) << count;
  }
}

struct Misuse {
  const char* message;
  std::function<void(MergeProblem&, std::vector<PartialResult>&, Tensor&)> spoil;
};

TEST(Merge, MisuseNamesArgumentAndValue) {
  const Misuse misuses[] = {
      {"dtype: 7", [](auto& p, auto&, auto&) { p.dtype = static_cast<DType>(7); }},
      {"batch: -1", [](auto& p, auto&, auto&) { p.batch = -1; }},
      {"seqlen_q: -2", [](auto& p, auto&, auto&) { p.seqlen_q = -2; }},
      {"num_q_heads: 0", [](auto& p, auto&, auto&) { p.num_q_heads = 0; }},
      {"head_dim_v: 257", [](auto& p, auto&, auto&) { p.head_dim_v = 257; }},
      {"partials: none", [](auto&, auto& partials, auto&) { partials.clear(); }},
      {"partials[1].o: null", [](auto&, auto& partials, auto&) { partials[1].o.data = nullptr; }},
      {"partials[0].lse: null", [](auto&, auto& partials, auto&) { partials[0].lse = nullptr; }},
      {"partials[1].o.strides.head: -4", [](auto&, auto& partials, auto&) { partials[1].o.strides.head = -4; }},
      {"partials[1].o.strides.seq: 4611686018427387904",
       [](auto&, auto& partials, auto&) { partials[1].o.strides.seq = std::int64_t{1} << 62; }},
      {"partials[0].o: its address",
       [](auto&, auto& partials, auto&) { partials[0].o.data = static_cast<const std::uint8_t*>(partials[0].o.data) + 1; }},
      {"o: null", [](auto&, auto&, auto& o) { o.data = nullptr; }},
      {"o.strides: rows overlap with", [](auto&, auto&, auto& o) { o.strides.head = 0; }},
      {"o.strides: rows overlap with", [](auto&, auto&, auto& o) { o.strides.seq = 36; }},
  };
  for (const Misuse& m : misuses) {
    Random r(1, DType::f32, 2, false);
    std::vector<std::uint8_t> o(40000, 0xab);
    Tensor out{o.data(), r.strides};
    m.spoil(r.problem, r.partials, out);
    const Status status = merge(r.problem, r.partials, out, nullptr);
    EXPECT_EQ(status.code(), StatusCode::invalid) << m.message;
    EXPECT_NE(status.message().find(m.message), std::string::npos) << m.message << " / " << status.message();
    EXPECT_EQ(o, std::vector<std::uint8_t>(40000, 0xab)) << "something was written: " << m.message;
  }
}

TEST(Merge, ResultsMayBeAPartialsOwnTensorsAndNothingElseOfIt) {
  Random r(1, DType::f32, 2, false);
  float* o0 = static_cast<float*>(const_cast<void*>(r.partials[0].o.data));
  float* lse0 = const_cast<float*>(r.partials[0].lse);
  float* lse1 = const_cast<float*>(r.partials[1].lse);
  std::vector<float> o(10000), lse(10000);
  const auto message = [&](float* out, float* out_lse) {
    return merge(r.problem, r.partials, {out, r.strides}, out_lse).message();
  };
  EXPECT_EQ(message(o0, lse0), "");
  EXPECT_EQ(message(o.data(), lse1), "");
  EXPECT_EQ(message(o0 + 1, lse.data()), "o: shares memory with partials[0].o and is not the same tensor");
  EXPECT_EQ(message(o.data(), lse1 + 1), "lse: shares memory with partials[1].lse and is not the same tensor");
  EXPECT_EQ(message(o.data(), o.data()), "o: shares memory with lse");
  EXPECT_EQ(message(o.data(), o0), "lse: shares memory with partials[0].o");
}

TEST(Merge, NothingToMerge) {
  const PartialResult partials[] = {{{nullptr, {}}, nullptr}};
  EXPECT_TRUE(merge({DType::f32, 1, 0, 2, 8}, partials, {nullptr, {}}, nullptr).ok());
}

}  // namespace
}  // namespace tessera
