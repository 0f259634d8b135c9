// SPDX-License-Identifier: Apache-2.0
// The prefill kernel of every ISA and dtype, called through the kernel seam, against a plain loop in double.
#include "cpu/kernels/prefill_case_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace tessera::cpu {
namespace {

class Prefill : public testing::TestWithParam<std::tuple<std::string_view, DTypeIndex>> {
 protected:
  Case base() const {
    Case c;
    c.dtype = std::get<1>(GetParam());
    return c;
  }
  AttentionKernel kernel() const { return kernel_of(std::get<0>(GetParam()), std::get<1>(GetParam())); }
  void check(const Case& c) const {
    SCOPED_TRACE(c.name());
    Tensors s(c);
    s.run(kernel());
    if (!testing::Test::HasFatalFailure()) s.check();
  }
};

INSTANTIATE_TEST_SUITE_P(All, Prefill,
                         testing::Combine(testing::ValuesIn(isas_of_this_machine()),
                                          testing::Values(DTypeIndex::f32, DTypeIndex::f16, DTypeIndex::bf16)),
                         [](const auto& info) {
                           const DTypeIndex dtype = std::get<1>(info.param);
                           return std::string(std::get<0>(info.param)) + "_" + dtype_name(dtype);
                         });

TEST_P(Prefill, EveryHeadDim) {
  for (int d : {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 40, 63, 64, 65, 80, 96, 100, 128, 129, 192, 255, 256}) {
    Case c = base();
    c.dqk = d, c.dv = 1 + (d * 37) % 256, c.sq = 9, c.skv = 21, c.offset = 12, c.scale = 1 / std::sqrt(float(d));
    check(c);
    std::swap(c.dqk, c.dv);
    c.scale = 1 / std::sqrt(float(c.dqk));
    check(c);
  }
}

TEST_P(Prefill, EveryRowCountAndGroup) {
  for (int group : {1, 2, 3, 5, 7, 8}) {
    for (std::int64_t sq : {1, 2, 3, 5, 8, 11, 16, 17, 25, 33, 49, 64}) {
      Case c = base();
      c.hq = 2 * group, c.hkv = 2, c.sq = sq, c.skv = sq + 13, c.offset = 13, c.one_head_items = sq % 2 == 0;
      check(c);
    }
  }
}

TEST_P(Prefill, EveryKeyCount) {
  for (std::int64_t skv : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 127, 128, 129, 130, 143, 255, 256, 257, 300}) {
    Case c = base();
    c.sq = 14, c.skv = skv, c.offset = skv - c.sq, c.right = kUnbounded;
    check(c);
    c.right = 0;
    check(c);
    c.offset = 0;
    check(c);
  }
}

TEST_P(Prefill, Windows) {
  for (std::int64_t left :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{9}, std::int64_t{127}, std::int64_t{140}, kUnbounded}) {
    for (std::int64_t right : {std::int64_t{0}, std::int64_t{130}, kUnbounded}) {
      for (std::int64_t offset : {-20, 77, 200}) {
        Case c = base();
        c.hq = 3, c.sq = 45, c.skv = 200, c.offset = offset, c.left = left, c.right = right, c.dqk = 5, c.dv = 6;
        check(c);
      }
    }
  }
}

TEST_P(Prefill, ScoreOptions) {
  for (int options = 1; options < 64; ++options) {
    Case c = base();
    c.softcap = options & 1 ? 1.5f : 0, c.alibi = options & 2, c.sink = options & 4, c.bias = options & 8,
    c.mask = options & 16;
    c.bias_type = static_cast<BiasType>(options % 3);
    c.sq = 20, c.skv = 150, c.offset = 130, c.right = options & 32 ? 0 : kUnbounded, c.hq = 6, c.hkv = 2;
    c.seed = static_cast<unsigned>(options);
    check(c);
  }
}

TEST_P(Prefill, Scales) {
  for (float scale : {-0.3f, 0.0f, 1e-3f, 2.0f}) {
    Case c = base();
    c.scale = scale, c.skv = 200, c.offset = 160;
    check(c);
    c.softcap = 2, c.sink = true;
    check(c);
  }
}

TEST_P(Prefill, PagesAndSplits) {
  for (std::int64_t page : {1, 3, 16, 128}) {
    for (std::int64_t split : {0, 1, 50, 128}) {
      Case c = base();
      c.page = page, c.keys_per_split = split, c.head_major = split == 50, c.sq = 4, c.skv = 210, c.offset = 206;
      c.hq = 8, c.hkv = 4, c.one_head_items = page == 3, c.sink = page == 16, c.bias = page == 128;
      SCOPED_TRACE(c.name());
      Tensors s(c);
      s.poison_unused(page == 3 ? kInf : kNan);
      s.run(kernel());
      s.check();
    }
  }
}

TEST_P(Prefill, RowsDoNotFitInOnePass) {
  Case c = base();
  c.hq = 16, c.hkv = 2, c.dqk = 256, c.dv = 256, c.sq = 50, c.skv = 150, c.offset = 0, c.one_head_items = false,
  c.scale = 1 / 16.0f;
  check(c);
}

TEST_P(Prefill, BitsDoNotDependOnTheRowRange) {
  for (bool options : {false, true}) {
    Case c = base();
    c.hq = 3, c.sq = 70, c.skv = 300, c.offset = 230, c.left = 150, c.dqk = 24, c.dv = 40, c.scale = 1.0f,
    c.mask = c.alibi = options;
    Tensors whole(c);
    whole.run(kernel());
    for (std::int64_t rows : {1, 2, 5, 16, 31, 48, 100}) {
      c.rows_per_item = rows, c.page = rows == 5 ? 7 : 0;
      if (c.page) continue;
      Tensors parts(c);
      parts.run(kernel());
      EXPECT_EQ(std::memcmp(whole.o().data(), parts.o().data(), whole.o().size()), 0) << c.name();
      EXPECT_EQ(std::memcmp(whole.lse().data(), parts.lse().data(), whole.lse().size() * 4), 0) << c.name();
    }
  }
}

TEST_P(Prefill, InvisibleKeysMayBeAnything) {
  for (float poison : {kNan, kInf, -kInf}) {
    for (std::int64_t bad : {0, 1, 62, 63, 127, 128}) {
      Case c = base();
      c.hq = 3, c.sq = 70, c.skv = 130, c.offset = 60, c.left = 40, c.dv = 20;
      Tensors clean(c), dirty(c);
      clean.run(kernel());
      for (int e = 0; e < c.dqk; ++e) put(c.dtype, dirty.k_at(bad, 0, e), poison);
      for (int e = 0; e < c.dv; ++e) put(c.dtype, dirty.v_at(bad, 0, e), poison);
      dirty.run(kernel());
      for (std::int64_t i = 0; i < c.sq; ++i) {
        const std::int64_t position = i + c.offset;
        if (bad <= position && bad >= position - c.left) continue;
        for (int h = 0; h < c.hq; ++h) {
          ASSERT_EQ(clean.lse_at(i, h), dirty.lse_at(i, h)) << c.name() << " query " << i << " bad key " << bad;
          for (int e = 0; e < c.dv; ++e)
            ASSERT_EQ(clean.o_at(i, h, e), dirty.o_at(i, h, e)) << c.name() << " query " << i << " bad key " << bad;
        }
      }
    }
  }
}

TEST_P(Prefill, MaskedKeysMayBeAnything) {
  for (bool bias : {false, true}) {
    Case c = base();
    c.hq = 2, c.sq = 9, c.skv = 40, c.offset = 31, c.mask = !bias, c.bias = bias;
    Tensors clean(c), dirty(c);
    clean.run(kernel());
    // Key 17 is hidden from every row by the mask or the bias.
    Tensors* setups[] = {&clean, &dirty};
    for (Tensors* s : setups) s->hide(17);
    for (int e = 0; e < c.dqk; ++e) put(c.dtype, dirty.k_at(17, 0, e), kNan);
    for (int e = 0; e < c.dv; ++e) put(c.dtype, dirty.v_at(17, 0, e), kNan);
    clean.run(kernel());
    dirty.run(kernel());
    EXPECT_EQ(std::memcmp(clean.o().data(), dirty.o().data(), clean.o().size()), 0) << c.name();
    EXPECT_EQ(std::memcmp(clean.lse().data(), dirty.lse().data(), clean.lse().size() * 4), 0) << c.name();
  }
}

TEST_P(Prefill, VisibleNanReachesItsRowsAlone) {
  Case c = base();
  c.sq = 60, c.skv = 60, c.offset = 0;
  Tensors s(c);
  put(c.dtype, s.k_at(59, 0, 3), kNan);
  put(c.dtype, s.v_at(50, 0, 2), kInf);
  s.run(kernel());
  for (std::int64_t i = 0; i < c.sq; ++i) {
    for (int e = 0; e < c.dv; ++e) {
      const float o = s.o_at(i, 0, e);
      if (i == 59) {
        EXPECT_TRUE(std::isnan(o));
      } else if (i >= 50 && e == 2) {
        EXPECT_EQ(o, kInf);
      } else {
        EXPECT_TRUE(std::isfinite(o)) << i << " " << e;
      }
    }
    EXPECT_EQ(std::isnan(s.lse_at(i, 0)), i == 59);
  }
}

TEST_P(Prefill, HugeFiniteBiasDoesNotMask) {
  if (std::get<1>(GetParam()) != DTypeIndex::f32) return;  // one dtype is enough
  Case c = base();
  c.sq = 3, c.skv = 6, c.offset = 6, c.bias = true, c.hq = 1;
  for (float bias : {-3.4e38f, -1e30f, 3e38f}) {
    Tensors s(c);
    s.set_q(0);
    for (std::size_t i = 0; i < 18; ++i) s.set_bias(i, bias);
    s.run(kernel());
    s.check();
    c.keys_per_split = c.keys_per_split ? 0 : 2;
  }
}

TEST_P(Prefill, NoKeysAtAll) {
  Case c = base();
  c.skv = 1, c.offset = -1000, c.sink = true;
  check(c);
  c.sink = false;
  check(c);
}

}  // namespace
}  // namespace tessera::cpu
