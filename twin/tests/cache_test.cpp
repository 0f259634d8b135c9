// SPDX-License-Identifier: Apache-2.0
// The scalar unit's data cache: stale lines, stores that nobody sees, and write-backs over neighbours. Planted and repaired.
#include "planted.hpp"

using namespace AscendC;
using namespace twin_test;
using twin::KernelType;
using twin::Kind;

namespace {

GlobalTensor<float> gm(GM_ADDR address, int first = 0, int count = 64) { return floats(address, first, count); }
LocalTensor<float> ub(int tile) { return LocalTensor<float>(TPosition::VECCALC, tile * 256, 64); }
void flush(const GlobalTensor<float>& t) {
  DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(t);
}

// The core reads a value, overwrites it by way of MTE3, and reads it again.
template <bool kFixed>
void read_again(GM_ADDR x, GM_ADDR) {
  const float before = gm(x).GetValue(3);
  Duplicate(ub(0), before, 64);
  order<HardEvent::V_MTE3>();
  order<HardEvent::S_MTE3>();
  OTHER DataCopy(gm(x), ub(0), 64);
  order<HardEvent::MTE3_S>();
  if (kFixed) flush(gm(x));
  WRONG if (gm(x).GetValue(0) < 0) return;
}
// A neighbour of what it waits for came into the cache before.
template <bool kFixed>
void read_beside(GM_ADDR x, GM_ADDR) {
  if (GetBlockIdx() == 1 && gm(x).GetValue(1) < 0) return;
  if (GetBlockIdx() == 0) {
    Duplicate(ub(0), 2.0f, 64);
    order<HardEvent::V_MTE3>();
    OTHER DataCopyPad(gm(x), ub(0), DataCopyExtParams(1, 4, 0, 0, 0));
  }
  SyncAll();
  if (GetBlockIdx() == 0) return;
  if (kFixed) flush(gm(x));
  WRONG if (gm(x).GetValue(0) < 0) return;
}
template <bool kFixed>
void store_then_copy(GM_ADDR x, GM_ADDR y) {
  OTHER gm(x).SetValue(0, 1.0f);
  if (kFixed) flush(gm(x));
  order<HardEvent::S_MTE2>();
  WRONG DataCopy(ub(0), gm(x), 64);
  order<HardEvent::MTE2_MTE3>();
  DataCopy(gm(y), ub(0), 64);
}
template <bool kFixed>
void store_for_the_other_core(GM_ADDR x, GM_ADDR) {
  if (GetBlockIdx() == 0) {
    OTHER gm(x).SetValue(0, 1.0f);
    if (kFixed) flush(gm(x));
  }
  SyncAll();
  if (GetBlockIdx() == 1) {
    WRONG if (gm(x).GetValue(0) < 0) return;
  }
}
// Each core stores a result of its own: on the chip all but one are lost.
template <bool kFixed>
void results_side_by_side(GM_ADDR x, GM_ADDR) {
  OTHER WRONG gm(x).SetValue(GetBlockIdx() * (kFixed ? 16 : 1), 1.0f);
  flush(gm(x, GetBlockIdx() * (kFixed ? 16 : 1)));
}
template <bool kFixed>
void copy_beside_a_dirty_line(GM_ADDR x, GM_ADDR) {
  Duplicate(ub(0), 2.0f, 64);
  OTHER gm(x).SetValue(0, 1.0f);
  if (kFixed) flush(gm(x));
  order<HardEvent::V_MTE3>();
  order<HardEvent::S_MTE3>();
  WRONG DataCopyPad(gm(x, 8), ub(0), DataCopyExtParams(1, 16, 0, 0, 0));
}
template <bool kFixed>
void store_into_a_stale_line(GM_ADDR x, GM_ADDR) {
  if (gm(x).GetValue(0) < 0) return;
  Duplicate(ub(0), 2.0f, 64);
  order<HardEvent::V_MTE3>();
  order<HardEvent::S_MTE3>();
  OTHER DataCopyPad(gm(x, 8), ub(0), DataCopyExtParams(1, 16, 0, 0, 0));
  order<HardEvent::MTE3_S>();
  if (kFixed) flush(gm(x));
  WRONG gm(x).SetValue(0, 1.0f);
}

// A flag in GM that another core waits for: correct, and silent.
void hand_over(GM_ADDR x, GM_ADDR y) {
  if (GetBlockIdx() == 0) {
    Duplicate(ub(0), 7.0f, 64);
    order<HardEvent::V_MTE3>();
    DataCopy(gm(y), ub(0), 64);
    order<HardEvent::MTE3_S>();
    gm(x).SetValue(0, 1.0f);
    flush(gm(x));
  } else {
    do {
      flush(gm(x));
    } while (gm(x).GetValue(0) != 1.0f);
    order<HardEvent::S_MTE2>();
    DataCopy(ub(1), gm(y), 64);
    order<HardEvent::MTE2_MTE3>();
    DataCopy(gm(y, 64), ub(1), 64);
  }
}

struct Case {
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
  const char* name;
  void (*run)(bool fixed, bool auto_sync, GM_ADDR x, GM_ADDR y);
};
#define CASE(kernel, blocks, type)                                                                     \
  {                                                                                                    \
#kernel, [](bool fixed, bool auto_sync, GM_ADDR x, GM_ADDR y) {                                      \
      if (fixed) RUN(kernel<true>, blocks).as(KernelType::type).auto_sync(auto_sync)(x, y);              \
      if (!fixed) RUN(kernel<false>, blocks).as(KernelType::type).auto_sync(auto_sync)(x, y);            \
    } \
  }
const Case kCases[] = {CASE(read_again, 1, AivOnly),
                       CASE(read_beside, 2, MixAiv10),
                       CASE(store_then_copy, 1, AivOnly),
                       CASE(store_for_the_other_core, 2, MixAiv10),
                       CASE(results_side_by_side, 2, AivOnly),
                       CASE(copy_beside_a_dirty_line, 1, AivOnly),
                       CASE(store_into_a_stale_line, 1, AivOnly)};

class DataCache : public testing::TestWithParam<Case> {};

TEST_P(DataCache, BugIsReportedWithBothLines) {
  for (const bool auto_sync : {false, true}) {  // the device compiler adds barriers, and never cleans a cache
    twin_test::Device<float> x(std::vector<float>(64, 0.5f)), y(std::vector<float>(128, 0.0f));
    GetParam().run(false, auto_sync, x, y);
    const auto found = twin::take_findings();
    ASSERT_EQ(found.size(), 1u) << "auto-sync " << auto_sync << "\n" << twin_test::text(found);
    EXPECT_EQ(found[0].kind, Kind::StaleCache);
    EXPECT_TRUE(twin_test::ends_with(found[0].line_a, twin_test::at(wrong_line)))
        << found[0].line_a << ", not " << wrong_line;
    EXPECT_TRUE(twin_test::ends_with(found[0].line_b, twin_test::at(other_line)))
        << found[0].line_b << ", not " << other_line;
    EXPECT_FALSE(found[0].fix.empty() || found[0].tensor.empty() || found[0].range.empty());
  }
}
TEST_P(DataCache, SisterRunsSilently) {
  for (const bool auto_sync : {false, true}) {
    twin_test::Device<float> x(std::vector<float>(64, 0.5f)), y(std::vector<float>(128, 0.0f));
    GetParam().run(true, auto_sync, x, y);
    EXPECT_SILENT();
  }
}
INSTANTIATE_TEST_SUITE_P(Planted, DataCache, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(DataCachePolling, HandsOverWhatTheFlagGuards) {
  twin_test::Device<float> x(std::vector<float>(64, 0.0f)), y(std::vector<float>(128, 0.0f));
  RUN(hand_over, 2).as(KernelType::AivOnly).auto_sync(false)(x, y);
  EXPECT_SILENT();
  EXPECT_EQ(y.values()[100], 7.0f);
}

}  // namespace
