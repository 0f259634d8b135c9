// SPDX-License-Identifier: Apache-2.0
// Planted bugs of the cube: order between its pipes, layouts, unit flags.
// clang-format off: reports are compared with the lines that the kernels are written on
#include "bug_pairs.hpp"

using namespace AscendC;
using namespace twin_test;
using twin::KernelType;
using twin::Kind;

namespace {

struct Tiles {  // one fractal of A and B, one of C
  LocalTensor<half> a1{TPosition::A1, 0, 256}, b1{TPosition::B1, 1024, 256}, a2{TPosition::A2, 0, 256},
      b2{TPosition::B2, 0, 256};
  LocalTensor<float> c{TPosition::CO1, 0, 256};
  GlobalTensor<half> x, y;
  GlobalTensor<float> z;
  Tiles(GM_ADDR gx, GM_ADDR gz) {
    x.SetGlobalBuffer((__gm__ half*)gx, 256);
    y.SetGlobalBuffer((__gm__ half*)gx, 256);
    z.SetGlobalBuffer((__gm__ float*)gz, 256);
  }
};
// Which synchronisation is left out.
template <bool kFixed>
void bias_too_early(GM_ADDR x, GM_ADDR z) {
  Tiles t(x, z);
  LocalTensor<float> c1(TPosition::C1, 4096, 16), c2(TPosition::C2, 0, 16);
  DataCopy(t.a1, t.x, Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
  DataCopy(c1, gm(x, 0, 16), 16);
  order<HardEvent::MTE2_MTE1>();
  LoadData(t.a2, t.a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
  LoadData(t.b2, t.a1, LoadData2DParams(0, 1, 1, 0, 0, true, 0));
  if (!kFixed) order<HardEvent::MTE1_M>();
  OTHER DataCopy(c2, c1, 16);
  if (kFixed) order<HardEvent::MTE1_M>();
  WRONG Mmad(t.c, t.a2, t.b2, c2, MmadParams(16, 16, 16, false));
  PipeBarrier<PIPE_ALL>();
}
enum CubeBug { kNoBug, kMte1, kCube, kFix, kReload, kSmall };
template <CubeBug kBug>
void cube(GM_ADDR x, GM_ADDR z) {
  Tiles t(x, z);
  const Nd2NzParams nz(1, 16, 16, 0, 16, 16, 1, 0);
  const LoadData2DParams one(0, 1, 1, 0, 0, false, 0);
  DataCopy(t.a1, t.x, nz);
  if (kBug == kMte1) other_line = __LINE__ + 1;
  DataCopy(t.b1, t.y, nz);
  if (kBug != kMte1) order<HardEvent::MTE2_MTE1>();
  if (kBug == kMte1) order<HardEvent::MTE2_MTE1>(), PipeBarrier<PIPE_MTE2>(), DataCopy(t.b1, t.y, nz), other_line = __LINE__;
  LoadData(t.a2, t.a1, one);
  if (kBug == kMte1) wrong_line = __LINE__ + 1;
  LoadData(t.b2, t.b1, one);
  if (kBug == kCube) other_line = __LINE__ - 1;
  if (kBug == kCube)
    SetFlag<HardEvent::MTE1_M>(0), LoadData(t.b2, t.b1, one), other_line = __LINE__, WaitFlag<HardEvent::MTE1_M>(0);
  if (kBug != kCube) order<HardEvent::MTE1_M>();
  MmadParams p(16, 16, 16, false);
  if (kBug == kCube) wrong_line = __LINE__ + 1;
  Mmad(t.c, t.a2, t.b2, p);
  if (kBug == kSmall) other_line = __LINE__ - 1;
  p.cmatrixInitVal = false;
  if (kBug != kSmall) PipeBarrier<PIPE_M>();
  if (kBug == kSmall) wrong_line = __LINE__ + 1;
  Mmad(t.c, t.a2, t.b2, p);
  if (kBug == kFix) other_line = __LINE__ - 1;
  if (kBug == kReload) other_line = __LINE__ - 2, wrong_line = __LINE__, LoadData(t.a2, t.a1, one);
  if (kBug != kFix) order<HardEvent::M_FIX>();
  if (kBug == kFix) wrong_line = __LINE__ + 1;
  Fixpipe(t.z, t.c, FixpipeParamsV220(16, 16, 16, 16, false));
  PipeBarrier<PIPE_ALL>();
}

template <bool kFixed>
void one_row(GM_ADDR x, GM_ADDR z) {
  LocalTensor<half> a1(TPosition::A1, 0, 1024), b1(TPosition::B1, 8192, 1024), a2(TPosition::A2, 0, 1024),
      b2(TPosition::B2, 0, 1024);
  LocalTensor<float> c(TPosition::CO1, 0, 256);
  GlobalTensor<half> g;
  g.SetGlobalBuffer((__gm__ half*)x, 512);
  DataCopy(a1, g, Nd2NzParams(1, 1, 32, 0, 32, kFixed ? 1 : 16, 1, 0));
  DataCopy(b1, g, Nd2NzParams(1, 32, 16, 0, 16, 32, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  InitConstValue(a2, InitConstValueParams<half>(1, 2, 0, half(0)));
  LoadData(a2, a1, LoadData2DParams(0, kFixed ? 1 : 2, 1, 0, 0, false, 0));
  LoadData(b2, b1, LoadData2DParams(0, 2, 1, 0, 0, true, 0));
  order<HardEvent::MTE1_M>();
  WRONG Mmad(c, a2, b2, MmadParams(1, 16, 32, false));
  order<HardEvent::M_FIX>();
  GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)z, 16);
  Fixpipe(out, c, FixpipeParamsV220(16, 1, 16, 16, false));
}
template <bool kFixed>
void unit_flags(GM_ADDR x, GM_ADDR z) {
  Tiles t(x, z);
  DataCopy(t.a1, t.x, Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  LoadData(t.a2, t.a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
  LoadData(t.b2, t.a1, LoadData2DParams(0, 1, 1, 0, 0, true, 0));
  order<HardEvent::MTE1_M>();
  MmadParams p(16, 16, 16, false);
  p.unitFlag = 3;
  Mmad(t.c, t.a2, t.b2, p);
  FixpipeParamsV220 f(16, 16, 16, 16, false);
  f.unitFlag = kFixed ? 3 : 0;
  if (!kFixed) order<HardEvent::M_FIX>();
  WRONG Fixpipe(t.z, t.c, f);
}

// Two products into one tile, and Fixpipe. 0: as they should be.
enum UnitBug { kUnitsFit, kNeverLast, kLastTwice, kReserved, kMmadWithout, kOddStride, kRowsOverlap };
template <UnitBug kBug>
void unit_flag_modes(GM_ADDR x, GM_ADDR z) {
  Tiles t(x, z);
  LocalTensor<half> b2(TPosition::B2, 0, 512);
  DataCopy(t.a1, t.x, Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  LoadData(t.a2, t.a1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
  LoadData(b2, t.a1, LoadData2DParams(0, 1, 1, 0, 0, true, 0));
  LoadData(b2[256], t.a1, LoadData2DParams(0, 1, 1, 0, 0, true, 0));
  order<HardEvent::MTE1_M>();
  LocalTensor<float> c(TPosition::CO1, 0, 512);
  MmadParams p(16, 32, 16, false);
  p.unitFlag = kBug == kReserved ? 1 : kBug == kLastTwice ? 3 : 2;
  if (kBug == kReserved) wrong_line = __LINE__ + 1;
  Mmad(c, t.a2, b2, p);
  if (kBug == kLastTwice) other_line = __LINE__ - 1, wrong_line = __LINE__ + 5;
  PipeBarrier<PIPE_M>();
  p.unitFlag = kBug == kNeverLast ? 2 : kBug == kMmadWithout ? 0 : 3;
  p.cmatrixInitVal = false;
  if (kBug != kReserved && kBug != kLastTwice) other_line = __LINE__ + 1;
  Mmad(c, t.a2, b2, p);
  FixpipeParamsV220 f(32, 16, kBug == kOddStride ? 17 : 16, kBug == kRowsOverlap ? 16 : 32, false);
  f.unitFlag = 3;
  if (kBug != kReserved && kBug != kLastTwice) wrong_line = __LINE__ + 3;
  GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)z, 512);
  Fixpipe(out, c, f);
}
#define UNIT(bug, kind, two)                                                         \
  {                                                                                  \
    "unit_flag_" #bug, kind, two, ONE(unit_flag_modes<bug>, 1, KernelType::AicOnly), \
        ONE(unit_flag_modes<kUnitsFit>, 1, KernelType::AicOnly)                      \
  }

#define CUBE(bug, kind) \
  { "cube_" #bug, kind, true, ONE(cube<bug>, 1, KernelType::AicOnly), ONE(cube<kNoBug>, 1, KernelType::AicOnly) }

const Case kCases[] = {
    CUBE(kMte1, Kind::ReadAfterWrite),
    CUBE(kCube, Kind::ReadAfterWrite),
    CUBE(kFix, Kind::ReadAfterWrite),
    CUBE(kReload, Kind::WriteAfterRead),
    CUBE(kSmall, Kind::ReadAfterWrite),
    PAIR_OF(bias_too_early, Kind::ReadAfterWrite, true, 1, KernelType::AicOnly),
    PAIR_OF(one_row, Kind::CubeLayout, false, 1, KernelType::AicOnly),
    PAIR_OF(unit_flags, Kind::CubeLayout, false, 1, KernelType::AicOnly),
    UNIT(kNeverLast, Kind::CubeLayout, true),
    UNIT(kLastTwice, Kind::CubeLayout, true),
    UNIT(kReserved, Kind::CubeLayout, false),
    UNIT(kMmadWithout, Kind::CubeLayout, true),
    UNIT(kOddStride, Kind::Alignment, false),
    UNIT(kRowsOverlap, Kind::Limit, false),
};
INSTANTIATE_TEST_SUITE_P(Cube, Bug, testing::ValuesIn(kCases), name_of_case);

}  // namespace
