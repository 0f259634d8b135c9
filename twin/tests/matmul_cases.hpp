// SPDX-License-Identifier: Apache-2.0
// Products for the tests of Matmul: a kernel for every type and layout, its data, and what must come out.
#pragma once

#include "lib/matmul_intf.h"
#include "support.hpp"
#include "tiling/tiling_api.h"

namespace twin_test {

enum class Way { All, Standing, Async, BlocksToGm, BlocksToUb, BlocksInPlace, Ahead };  // how C is fetched

template <class T, class C, CubeFormat kA = CubeFormat::ND, CubeFormat kB = CubeFormat::ND, CubeFormat kC = CubeFormat::ND,
          bool kTransA = false, bool kTransB = false, class Bias = float, AscendC::TPosition kPlace = AscendC::TPosition::GM,
          const auto& kConfig = CFG_NORM>
struct Case {
  using In = T;
  using Out = C;
  using BiasType = Bias;
  static constexpr CubeFormat a = kA, b = kB, c = kC;
  static constexpr bool trans_a = kTransA, trans_b = kTransB, to_ub = kPlace != AscendC::TPosition::GM;
  using Object =
      AscendC::Matmul<AscendC::MatmulType<AscendC::TPosition::GM, kA, T, kTransA>,
                      AscendC::MatmulType<AscendC::TPosition::GM, kB, T, kTransB>, AscendC::MatmulType<kPlace, kC, C>,
                      AscendC::MatmulType<AscendC::TPosition::GM, CubeFormat::ND, Bias>, kConfig>;
};

// Element (row, column) of a matrix of `lines` × `columns` in Nz.
template <class T>
std::size_t nz_at(int row, int column, int lines) {
  const int c0 = static_cast<int>(twin::elements_in<T>(32));
  return (static_cast<std::size_t>(column / c0) * ((lines + 15) / 16 * 16) + row) * c0 + column % c0;
}
// C in Nz: float and int32 have fractals of 16 columns too.
template <class T>
std::size_t nz_c_at(int row, int column, int lines) {
  const int c0 = sizeof(T) == 1 ? 32 : 16;
  return (static_cast<std::size_t>(column / c0) * ((lines + 15) / 16 * 16) + row) * c0 + column % c0;
}

struct Options {
  Way way = Way::All;
  bool bias = false, cube_only = false;
  std::uint64_t scale = 0;
  int atomic = 0;
};

template <class K>
void product(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR work, TCubeTiling t, Options o) {
  using namespace AscendC;
  using T = typename K::In;
  using C = typename K::Out;
  TPipe pipe;
  typename K::Object mm;
  if (o.cube_only) {
    mm.Init(&t, &pipe);
  } else {
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  }
  const int index = static_cast<int>(GetBlockIdx());
  if (index >= t.usedCoreNum) return;
  const int down = (t.M + t.singleCoreM - 1) / t.singleCoreM;
  const int row = index % down * t.singleCoreM, column = index / down * t.singleCoreN;
  const int m = std::min(t.singleCoreM, t.M - row), n = std::min(t.singleCoreN, t.N - column);
  GlobalTensor<T> ga, gb;
  GlobalTensor<C> gc, space;
  GlobalTensor<typename K::BiasType> gbias;
  ga.SetGlobalBuffer((__gm__ T*)a);
  gb.SetGlobalBuffer((__gm__ T*)b);
  gc.SetGlobalBuffer((__gm__ C*)c);
  gbias.SetGlobalBuffer((__gm__ typename K::BiasType*)bias);
  const int wide = K::c == CubeFormat::ND_ALIGN ? (t.N * (int)sizeof(C) + 31) / 32 * 32 / (int)sizeof(C) : t.N;
  const auto a_at = K::a == CubeFormat::NZ ? (K::trans_a ? nz_at<T>(0, row, t.Ka) : nz_at<T>(row, 0, t.M))
                                           : (K::trans_a ? std::size_t(row) : std::size_t(row) * t.Ka);
  const auto b_at = K::b == CubeFormat::NZ ? (K::trans_b ? nz_at<T>(column, 0, t.N) : nz_at<T>(0, column, t.Kb))
                                           : (K::trans_b ? std::size_t(column) * t.Kb : std::size_t(column));
  const auto c_at = K::c == CubeFormat::NZ ? nz_c_at<C>(row, column, t.M) : std::size_t(row) * wide + column;
  mm.SetTensorA(ga[a_at], K::trans_a);
  mm.SetTensorB(gb[b_at], K::trans_b);
  if (o.bias) mm.SetBias(gbias[column]);
  if (o.scale) mm.SetQuantScalar(o.scale);
  mm.SetTail(m, n);
  const GlobalTensor<C> mine = gc[c_at];
  const auto atomic = static_cast<std::uint8_t>(o.atomic);
  if (o.way == Way::All) mm.IterateAll(mine, atomic);
  if (o.way == Way::Standing) {  // the pipe that it needs first gets going behind the call
    if ASCEND_IS_AIC {
      WaitFlag<HardEvent::MTE3_MTE1>(EVENT_ID6);
      mm.IterateAll(mine, atomic);
      SetFlag<HardEvent::MTE3_MTE1>(EVENT_ID6);
    } else if constexpr (!K::to_ub) {
      WaitFlag<HardEvent::S_MTE3>(EVENT_ID6);
      mm.template IterateAll<false>(mine, atomic, false, true);
      SetFlag<HardEvent::S_MTE3>(EVENT_ID6);
      mm.WaitIterateAll();
    }
  }
  if constexpr (!K::to_ub) {
    if (o.way == Way::Async) {
      mm.template IterateAll<false>(mine, atomic, false, true);
      mm.WaitIterateAll();
    }
  }
  if (o.way == Way::BlocksToGm) {
    while (mm.Iterate()) mm.GetTensorC(mine, atomic);
  }
  if constexpr (K::to_ub) {
    const int blocks_down = (m + t.baseM - 1) / t.baseM;
    const bool in_place = o.way == Way::BlocksInPlace;
    const int c0 = 32 / static_cast<int>(sizeof(C));
    TQue<TPosition::VECOUT, 2> out;
    TBuf<TPosition::VECCALC> whole;
    if (in_place) {
      pipe.InitBuffer(whole, m * ((n + c0 - 1) / c0 * c0) * sizeof(C));
      LocalTensor<C> all = whole.template Get<C>();
      while (mm.Iterate()) mm.GetTensorC(all);
      SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
      WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
      DataCopyPad(mine, all, DataCopyExtParams(m, n * sizeof(C), 0, (t.N - n) * sizeof(C), 0));
    } else if (o.way == Way::BlocksToUb || o.way == Way::Ahead) {
      pipe.InitBuffer(out, 2, t.baseM * t.baseN * sizeof(C));
      const auto use = [&](int block, bool ahead) {
        const int r = block % blocks_down * t.baseM, q = block / blocks_down * t.baseN;
        const int bm = std::min(t.baseM, m - r), bn = std::min(t.baseN, n - q);
        LocalTensor<C> tile = out.template AllocTensor<C>();
        if (ahead) {
          mm.template GetTensorC<false>(tile, 0, true);
          mm.WaitGetTensorC();
        } else {
          mm.template GetTensorC<true>(tile, 0, true);
        }
        Adds(tile, tile, C(1), bm * ((bn + c0 - 1) / c0 * c0));
        out.EnQue(tile);
        tile = out.template DeQue<C>();
        DataCopyPad(mine[std::size_t(r) * t.N + q], tile,
                    DataCopyExtParams(bm, bn * sizeof(C), 0, (t.N - bn) * sizeof(C), 0));
        out.FreeTensor(tile);
      };
      if (o.way == Way::Ahead) {
        space.SetGlobalBuffer((__gm__ C*)work + std::size_t(index) * 256 * 256, 256 * 256);
        mm.SetWorkspace(space);
        int blocks = 0;
        mm.template Iterate<false>();
        while (mm.template Iterate<false>()) ++blocks;
        for (int block = 0; block <= blocks; ++block) use(block, true);
      } else {
        for (int block = 0; mm.Iterate(); ++block) use(block, false);
      }
    }
  }
  mm.End();
}

struct Shape {
  int m, n, k, cores = 1;
  int base_m = -1, base_n = -1, base_k = -1;
};

template <class K>
TCubeTiling tiling_of(const Shape& s, bool bias) {
  using matmul_tiling::DataType;
  matmul_tiling::MultiCoreMatmulTiling choice;
  choice.SetDim(s.cores);
  using T = typename K::In;
  constexpr bool kPairs = twin::DTypeOf<T>::kValue == twin::DType::I4;
  const DataType type = kPairs           ? DataType::DT_INT4
                        : sizeof(T) == 4 ? DataType::DT_FLOAT
                        : sizeof(T) == 1 ? DataType::DT_INT8
                                         : DataType::DT_FLOAT16;
  using P = matmul_tiling::TPosition;
  using F = matmul_tiling::CubeFormat;
  choice.SetAType(P::GM, F::ND, type, K::trans_a);
  choice.SetBType(P::GM, F::ND, type, K::trans_b);
  choice.SetCType(K::to_ub ? P::VECIN : P::GM, F::ND,
                  sizeof(typename K::Out) == 2 ? DataType::DT_FLOAT16 : DataType::DT_FLOAT);
  choice.SetShape(s.m, s.n, s.k);
  choice.SetAlignSplit(32, kPairs ? 64 : 32, 32);
  choice.EnableBias(bias);
  if (s.base_m > 0) choice.SetFixSplit(s.base_m, s.base_n, s.base_k);
  TCubeTiling t;
  EXPECT_EQ(choice.GetTiling(t), 0);
  return t;
}

// A matrix as it lies in GM: int4b_t two to a byte.
template <class T>
auto packed(const std::vector<T>& values) {
  if constexpr (twin::DTypeOf<T>::kValue == twin::DType::I4) {
    std::vector<std::uint8_t> out((values.size() + 1) / 2);
    for (std::size_t k = 0; k < values.size(); ++k)
      out[k / 2] |= static_cast<std::uint8_t>((std::int8_t(values[k]) & 15) << (k % 2 * 4));
    return out;
  } else {
    return values;
  }
}
template <class T>
T element(int value) {
  if constexpr (twin::DTypeOf<T>::kValue == twin::DType::I4) return T(value);
  return T(float(value));
}

inline int value_a(int row, int k) { return (row * 7 + k * 3) % 11 - 5; }
inline int value_b(int k, int column) { return (k * 5 + column * 2) % 9 - 4; }

// Runs it and compares all of C; silent.
template <class K>
void expect_product(const Shape& s, Options o, TCubeTiling t) {
  using T = typename K::In;
  using C = typename K::Out;
  const auto up = [](int v, int to) { return (v + to - 1) / to * to; };
  std::vector<T> a(std::size_t(up(s.m, 64)) * up(s.k, 64), T(0)), b(std::size_t(up(s.k, 64)) * up(s.n, 64), T(0));
  for (int r = 0; r < s.m; ++r) {
    for (int k = 0; k < s.k; ++k) {
      const int line = K::trans_a ? k : r, at = K::trans_a ? r : k, lines = K::trans_a ? s.k : s.m,
                wide = K::trans_a ? s.m : s.k;
      a[K::a == CubeFormat::NZ ? nz_at<T>(line, at, lines) : std::size_t(line) * wide + at] = element<T>(value_a(r, k));
    }
  }
  for (int k = 0; k < s.k; ++k) {
    for (int q = 0; q < s.n; ++q) {
      const int line = K::trans_b ? q : k, at = K::trans_b ? k : q, lines = K::trans_b ? s.n : s.k,
                wide = K::trans_b ? s.k : s.n;
      b[K::b == CubeFormat::NZ ? nz_at<T>(line, at, lines) : std::size_t(line) * wide + at] = element<T>(value_b(k, q));
    }
  }
  std::vector<typename K::BiasType> bias(up(s.n, 32));
  for (int q = 0; q < s.n; ++q) bias[q] = typename K::BiasType(float(q % 5 - 2));
  const int wide = K::c == CubeFormat::ND_ALIGN ? up(s.n * int(sizeof(C)), 32) / int(sizeof(C)) : s.n;
  const std::size_t count = K::c == CubeFormat::NZ ? std::size_t(up(s.m, 16)) * up(s.n, 32) : std::size_t(s.m) * wide;
  Device da(packed(a)), db(packed(b));
  Device<typename K::BiasType> dbias(bias);
  Device<C> dc(std::vector<C>(count, C(float(o.atomic ? 3 : 77)))), work(std::size_t(t.usedCoreNum) * 256 * 256);
  twin::take_findings();
  using Kernel = void(GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR, TCubeTiling, Options);
  const auto run = twin::launcher<Kernel, product<K>>(o.cube_only ? t.usedCoreNum : (t.usedCoreNum + 1) / 2)
                       .auto_sync(false)
                       .as(o.cube_only ? twin::KernelType::AicOnly : twin::KernelType::MixAic12);
  run(da, db, dbias, dc, work, t, o);
  EXPECT_SILENT();
  const std::vector<C> c = dc.values();
  int wrong = 0;
  for (int r = 0; r < s.m; ++r) {
    for (int q = 0; q < s.n; ++q) {
      long sum = o.bias ? q % 5 - 2 : 0;
      for (int k = 0; k < s.k; ++k) sum += value_a(r, k) * value_b(k, q);
      float expected = static_cast<float>(sum);
      if (o.scale) expected *= 0.25f;
      if (o.way == Way::BlocksToUb || o.way == Way::Ahead) expected += 1;
      if (o.atomic == 1) expected += 3;
      if (o.atomic == 2) expected = std::max(expected, 3.0f);
      if (sizeof(C) == 1) expected = std::min(127.0f, std::max(-128.0f, std::nearbyint(expected)));
      const C got = c[K::c == CubeFormat::NZ ? nz_c_at<C>(r, q, s.m) : std::size_t(r) * wide + q];
      if (static_cast<float>(got) == static_cast<float>(C(expected))) continue;
      if (++wrong <= 3)
        ADD_FAILURE() << "C(" << r << ", " << q << ") is " << static_cast<float>(got) << ", not " << expected;
    }
  }
  EXPECT_EQ(wrong, 0) << s.m << " x " << s.n << " x " << s.k << " on " << t.usedCoreNum << " cores, base " << t.baseM
                      << " x " << t.baseN << " x " << t.baseK << ", way " << int(o.way) << (o.bias ? ", bias" : "")
                      << (o.cube_only ? ", cube only" : "");
}
template <class K>
void expect_product(const Shape& s, const Options& o = {}) {
  expect_product<K>(s, o, tiling_of<K>(s, o.bias));
}

}  // namespace twin_test
