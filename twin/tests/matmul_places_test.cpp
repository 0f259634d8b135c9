// SPDX-License-Identifier: Apache-2.0
// Matmul whose matrices lie on the chip: C in CO1, operands, bias and C in TSCM, also of vector cores.
#include "matmul_cases.hpp"

namespace twin_test {
namespace {

using namespace AscendC;
using F = CubeFormat;
template <class T, bool kTrans = false>
using Gm = MatmulType<TPosition::GM, F::ND, T, kTrans>;
template <class T, bool kTrans = false>
using Tscm = MatmulType<TPosition::TSCM, F::NZ, T, kTrans>;

using Kernel = void(GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR, TCubeTiling);
template <class T>
GlobalTensor<T> global(GM_ADDR p) {
  GlobalTensor<T> t;
  t.SetGlobalBuffer((__gm__ T*)p);
  return t;
}
template <class T>
std::vector<T> numbers(std::size_t n, int seed) {
  std::vector<T> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = T(static_cast<float>(static_cast<int>((i * 7 + seed) % 11) - 5));
  return out;
}
TCubeTiling tiling(int m, int n, int k, int base, int base_k = -1, bool bias = false,
                   matmul_tiling::DataType type = matmul_tiling::DataType::DT_FLOAT16) {
  matmul_tiling::MatmulApiTiling choice;
  choice.SetAType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, type);
  choice.SetBType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, type);
  choice.SetShape(m, n, k);
  choice.EnableBias(bias);
  choice.SetFixSplit(base, base, base_k);
  TCubeTiling t;
  EXPECT_EQ(choice.GetTiling(t), 0);
  return t;
}
struct Sizes {
  int m, n, k;
};
// a (m, k) · b (k, n) + bias, in float.
template <class T>
std::vector<float> product_of(const Sizes& s, const std::vector<T>& a, const std::vector<T>& b,
                              const std::vector<float>& bias = {}) {
  std::vector<float> out(std::size_t(s.m) * s.n);
  for (int r = 0; r < s.m; ++r) {
    for (int j = 0; j < s.n; ++j) {
      float sum = bias.empty() ? 0 : bias[j];
      for (int i = 0; i < s.k; ++i) sum += float(a[r * s.k + i]) * float(b[i * s.n + j]);
      out[r * s.n + j] = sum;
    }
  }
  return out;
}
template <class T>
void expect_same(const std::vector<T>& got, const std::vector<float>& expected, const char* what) {
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(float(got[i]), expected[i]) << what << ", element " << i;
}

// ---- C in CO1 ----
enum class Order { Queue, None, Small };
template <class T, bool kBias, Order kOrder = Order::Queue>
void into_l0c(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, TCubeTiling t) {
  using C = std::conditional_t<sizeof(T) == 1, std::int32_t, float>;
  TPipe pipe;
  Matmul<Gm<T>, Gm<T>, MatmulType<TPosition::CO1, F::NZ, C>, Gm<C>> mm;
  mm.Init(&t, &pipe);
  TQue<TPosition::CO1, 2> tiles;
  pipe.InitBuffer(tiles, 2, (kOrder == Order::Small ? t.baseM - 16 : t.baseM) * t.baseN * sizeof(C));
  mm.SetTensorA(global<T>(a));
  mm.SetTensorB(global<T>(b));
  if (kBias) mm.SetBias(global<C>(bias));
  const int down = (t.M + t.baseM - 1) / t.baseM, blocks = down * ((t.N + t.baseN - 1) / t.baseN);
  for (int block = 0; block < blocks; ++block) {
    LocalTensor<C> tile = tiles.AllocTensor<C>();
    if (!mm.Iterate(false, tile)) return;
    if (kOrder != Order::None) {
      tiles.EnQue(tile);
      tile = tiles.DeQue<C>();
    }
    const int row = block % down * t.baseM, column = block / down * t.baseN;
    const int m = std::min(t.baseM, t.M - row), n = std::min(t.baseN, t.N - column);
    FixpipeParamsV220 p;
    p.mSize = static_cast<std::uint16_t>(m);
    p.nSize = static_cast<std::uint16_t>(n);
    p.srcStride = static_cast<std::uint16_t>((m + 15) / 16 * 16);
    p.dstStride = t.N;
    Fixpipe(global<C>(c)[row * t.N + column], tile, p);
    tiles.FreeTensor(tile);
  }
}
template <class T, bool kBias>
void check_into_l0c() {
  constexpr Sizes s{40, 80, 96};
  using C = std::conditional_t<sizeof(T) == 1, std::int32_t, float>;
  const auto a = numbers<T>(s.m * s.k, 1), b = numbers<T>(s.k * s.n, 2);
  std::vector<float> bias(s.n);
  for (int j = 0; j < s.n; ++j) bias[j] = static_cast<float>(j % 5);
  Device<T> da(a), db(b);
  Device<C> dbias(std::vector<C>(bias.begin(), bias.end())), c(s.m * s.n);
  using matmul_tiling::DataType;
  twin::take_findings();
  twin::launcher<Kernel, into_l0c<T, kBias>>(1).auto_sync(false).as(twin::KernelType::AicOnly)(
      da, db, dbias, c, tiling(s.m, s.n, s.k, 32, 32, kBias, sizeof(T) == 1 ? DataType::DT_INT8 : DataType::DT_FLOAT16));
  EXPECT_SILENT();
  expect_same(c.values(), product_of(s, a, b, kBias ? bias : std::vector<float>{}), "CO1");
}
TEST(MatmulPlaces, CInCo1) {
  check_into_l0c<half, false>();
  check_into_l0c<half, true>();
  check_into_l0c<bfloat16_t, true>();
  check_into_l0c<std::int8_t, false>();
  check_into_l0c<std::int8_t, true>();
}
// Two slices of K into one tile, and another object with tiles of its own behind the kernel's.
void adds_in_l0c(GM_ADDR a, GM_ADDR b, GM_ADDR c_of_other, GM_ADDR c, TCubeTiling t) {
  TPipe pipe;
  TBuf<TPosition::CO1> buffer;
  pipe.InitBuffer(buffer, 64 * 1024);
  Matmul<Gm<half>, Gm<half>, MatmulType<TPosition::CO1, F::NZ, float>> mm;
  Matmul<Gm<half>, Gm<half>, Gm<float>> other;
  mm.Init(&t, &pipe);
  other.Init(&t, &pipe);
  LocalTensor<float> tile = buffer.Get<float>();
  for (int part = 0; part < 2; ++part) {
    mm.SetTensorA(global<half>(a)[part * 32]);
    mm.SetTensorB(global<half>(b)[part * 32 * 32]);
    mm.SetSingleShape(32, 32, 32);
    mm.Iterate(part > 0, tile);
    other.SetTensorA(global<half>(a)[part * 32]);
    other.SetTensorB(global<half>(b)[part * 32 * 32]);
    other.SetSingleShape(32, 32, 32);
    other.IterateAll(global<float>(c_of_other)[part * 32 * 32]);
  }
  SetFlag<HardEvent::M_FIX>(EVENT_ID5);
  WaitFlag<HardEvent::M_FIX>(EVENT_ID5);
  FixpipeParamsV220 p;
  p.mSize = p.nSize = p.srcStride = 32;
  p.dstStride = 32;
  Fixpipe(global<float>(c), tile, p);
}
TEST(MatmulPlaces, AddsInCo1BesideAnotherObject) {
  const auto a = numbers<half>(32 * 64, 1), b = numbers<half>(64 * 32, 2);
  Device<half> da(a), db(b);
  Device<float> halves(2 * 32 * 32), c(32 * 32);
  twin::take_findings();
  twin::launcher<Kernel, adds_in_l0c>(1).auto_sync(false).as(twin::KernelType::AicOnly)(da, db, halves, c,
                                                                                        tiling(32, 32, 64, 32));
  EXPECT_SILENT();
  const auto sum = product_of({32, 32, 64}, a, b);
  expect_same(c.values(), sum, "both slices");
  const auto parts = halves.values();
  for (int i = 0; i < 32 * 32; ++i) ASSERT_EQ(parts[i] + parts[32 * 32 + i], sum[i]) << i;
}
TEST(MatmulPlaces, SaysWhatIsWrongWithCo1) {
  constexpr Sizes s{32, 32, 32};
  Device<half> a(numbers<half>(s.m * s.k, 1)), b(numbers<half>(s.k * s.n, 2));
  Device<float> c(2 * s.m * s.n);
  const auto run = [&](auto launcher, twin::KernelType type) {
    twin::take_findings();
    launcher.auto_sync(false).as(type)(a, b, a, c, tiling(s.m, s.n, s.k, 32));
  };
  run(twin::launcher<Kernel, into_l0c<half, false, Order::None>>(1), twin::KernelType::AicOnly);
  expect_found(twin::Kind::ReadAfterWrite, "Fixpipe reads what M");
  run(twin::launcher<Kernel, into_l0c<half, false, Order::Small>>(1), twin::KernelType::AicOnly);
  expect_found(twin::Kind::OutOfBounds, "of a tensor of 2048 bytes");
  run(twin::launcher<Kernel, into_l0c<half, false>>(1), twin::KernelType::MixAic12);
  expect_found(twin::Kind::KernelType, "CO1 on a vector core");
}
void adds_over_blocks(GM_ADDR a, GM_ADDR b, GM_ADDR, GM_ADDR c, TCubeTiling t) {
  TPipe pipe;
  Matmul<Gm<half>, Gm<half>, Gm<float>> mm;
  mm.Init(&t, &pipe);
  mm.SetTensorA(global<half>(a));
  mm.SetTensorB(global<half>(b));
  mm.Iterate(true);
  (void)c;
}
TEST(MatmulPlaces, PartialSumsAreOfOneBlock) {
  Device<half> a(numbers<half>(64 * 32, 1)), b(numbers<half>(32 * 32, 2));
  Device<float> c(64 * 32);
  twin::take_findings();
  twin::launcher<Kernel, adds_over_blocks>(1).as(twin::KernelType::AicOnly)(a, b, a, c, tiling(64, 32, 32, 32));
  expect_found(twin::Kind::Limit, "enPartialSum over more than one base block");
}

// ---- C and bias in TSCM: (A B + bias) C, the first product never leaves the core ----
template <class T>
void chain(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR out, TCubeTiling t) {
  TPipe pipe;
  Matmul<Gm<T>, Gm<T>, Tscm<T>, Tscm<float>> first;
  Matmul<Tscm<T>, Gm<T>, Gm<float>> second;
  first.Init(&t, &pipe);
  second.Init(&t, &pipe);
  TBuf<TPosition::TSCM> middle, bias;
  pipe.InitBuffer(middle, (t.M + 15) / 16 * 16 * t.N * sizeof(T));
  pipe.InitBuffer(bias, t.N * sizeof(float));
  LocalTensor<T> product = middle.Get<T>();
  LocalTensor<float> row = bias.Get<float>();
  DataCopy(row, global<float>(c)[1024], t.N);
  SetFlag<HardEvent::MTE2_MTE1>(EVENT_ID5);
  WaitFlag<HardEvent::MTE2_MTE1>(EVENT_ID5);
  for (int half_of_b = 0; half_of_b < 2; ++half_of_b) {  // the second time over what was read the first time
    first.SetTensorA(global<T>(a));
    first.SetTensorB(global<T>(b)[half_of_b * t.Kb * t.N]);
    first.SetBias(row);
    if (half_of_b == 0) {
      first.IterateAll(product);
    } else {
      while (first.Iterate()) first.GetTensorC(product);
    }
    second.SetTensorA(product);
    second.SetTensorB(global<T>(c)[half_of_b * 0]);
    second.IterateAll(global<float>(out)[half_of_b * t.M * t.N]);
  }
}
template <class T>
void check_chain(matmul_tiling::DataType type) {
  constexpr int kM = 40, kN = 32;  // C is kN × kN, its bias behind it
  const auto a = numbers<T>(kM * kN, 1), b = numbers<T>(2 * kN * kN, 2), c = numbers<T>(kN * kN, 3);
  std::vector<float> bias(kN), both(1024 + kN);
  for (int j = 0; j < kN; ++j) bias[j] = static_cast<float>(j % 3);
  std::memcpy(both.data(), c.data(), c.size() * sizeof(T));
  std::copy(bias.begin(), bias.end(), both.begin() + 1024);
  Device<T> da(a), db(b);
  Device<float> dc(both), out(2 * kM * kN);
  twin::take_findings();
  twin::launcher<Kernel, chain<T>>(1).auto_sync(false).as(twin::KernelType::AicOnly)(da, db, dc, out,
                                                                                     tiling(kM, kN, kN, 16, 16, true, type));
  EXPECT_SILENT();
  const auto got = out.values();
  for (int h = 0; h < 2; ++h) {
    const std::vector<T> part(b.begin() + h * kN * kN, b.begin() + (h + 1) * kN * kN);
    const auto first = product_of({kM, kN, kN}, a, part, bias);
    std::vector<T> rounded(first.size());
    for (std::size_t i = 0; i < first.size(); ++i) rounded[i] = T(first[i]);
    expect_same(std::vector<float>(got.begin() + h * kM * kN, got.begin() + (h + 1) * kM * kN),
                product_of({kM, kN, kN}, rounded, c), "chain");
  }
}
TEST(MatmulPlaces, CAndBiasInTscm) {
  check_chain<half>(matmul_tiling::DataType::DT_FLOAT16);
  check_chain<bfloat16_t>(matmul_tiling::DataType::DT_BF16);
  check_chain<float>(matmul_tiling::DataType::DT_FLOAT);
}

// ---- TSCM of vector cores ----
enum class From { Nd, Nz, UbNd, UbNz };
// Each vector core its product, twice: A in one of two buffers, filled anew while the cube core may still read the other.
template <From kFrom, int kMask>
void of_vector_cores(GM_ADDR a, GM_ADDR b, GM_ADDR, GM_ADDR c, TCubeTiling t) {
  constexpr bool kUb = kFrom == From::UbNd || kFrom == From::UbNz;
  TPipe pipe;
  Matmul<Tscm<half>, Gm<half>, Gm<float>, Tscm<half>> mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  TSCM<kUb ? TPosition::VECIN : TPosition::GM, 1, kMask> l1;
  TQue<TPosition::VECIN, 1> ub;
  const int count = t.M * t.Ka, sub = static_cast<int>(GetSubBlockIdx());
  pipe.InitBuffer(l1, 2, count * sizeof(half));
  if (kUb) pipe.InitBuffer(ub, 1, count * sizeof(half));
  for (int round = 0; round < 3; ++round) {
    const GlobalTensor<half> from = global<half>(a)[(kMask == 4 ? round : round * 2 + sub) * count];
    LocalTensor<half> in_l1 = l1.template AllocTensor<half>();
    LocalTensor<half> tile;
    if (kUb) {
      tile = ub.AllocTensor<half>();
      DataCopy(tile, from, count);
      ub.EnQue(tile);
      tile = ub.DeQue<half>();
      SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID4);
      WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID4);
    }
    const Nd2NzParams nz(1, static_cast<std::uint16_t>(t.M), static_cast<std::uint16_t>(t.Ka), 0,
                         static_cast<std::uint16_t>(t.Ka), static_cast<std::uint16_t>(t.M), 1, 0);
    if (kFrom == From::Nd) {
      DataCopy(in_l1, from, nz);
    } else if (kFrom == From::Nz) {  // in two pieces
      DataCopy(in_l1, from, count / 2);
      DataCopy(in_l1[count / 2], from[count / 2], count / 2);
    } else if (kFrom == From::UbNd) {
      DataCopy(in_l1, tile, nz);
    } else {
      DataCopy(in_l1, tile, count);
    }
    if (kUb) {
      SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID4);
      WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID4);
      ub.FreeTensor(tile);
    }
    l1.EnQue(in_l1);
    in_l1 = l1.template DeQue<half>();
    mm.SetTensorA(in_l1);
    mm.SetTensorB(global<half>(b));
    mm.template IterateAll<false>(global<float>(c)[(round * 2 + sub) * t.M * t.N], 0, false, round == 2);
    l1.FreeTensor(in_l1);
  }
  mm.WaitIterateAll();
  mm.End();
}
template <From kFrom, int kMask = 0>
void check_of_vector_cores() {
  constexpr Sizes s{48, 32, 64};
  constexpr int kCount = s.m * s.k;
  const auto a = numbers<half>(6 * kCount, 1), b = numbers<half>(s.k * s.n, 2);
  std::vector<half> given = a;
  if (kFrom == From::Nz || kFrom == From::UbNz) {
    for (int q = 0; q < 6; ++q) {
      for (int r = 0; r < s.m; ++r) {
        for (int k = 0; k < s.k; ++k) given[q * kCount + nz_at<half>(r, k, s.m)] = a[q * kCount + r * s.k + k];
      }
    }
  }
  Device<half> da(given), db(b);
  Device<float> c(6 * s.m * s.n);
  twin::take_findings();
  twin::launcher<Kernel, of_vector_cores<kFrom, kMask>>(1).auto_sync(false).as(twin::KernelType::MixAic12)(
      da, db, da, c, tiling(s.m, s.n, s.k, 32));
  EXPECT_SILENT();
  const auto got = c.values();
  for (int q = 0; q < 6; ++q) {
    const int which = kMask == 4 ? q / 2 : q;
    const std::vector<half> one(a.begin() + which * kCount, a.begin() + (which + 1) * kCount);
    expect_same(std::vector<float>(got.begin() + q * s.m * s.n, got.begin() + (q + 1) * s.m * s.n), product_of(s, one, b),
                "a product of a vector core");
  }
}
TEST(MatmulPlaces, TscmOfVectorCores) {
  check_of_vector_cores<From::Nd>();
  check_of_vector_cores<From::Nz>();
  check_of_vector_cores<From::UbNd>();
  check_of_vector_cores<From::UbNz>();
}
TEST(MatmulPlaces, TscmThatBothVectorCoresHave) { check_of_vector_cores<From::Nd, 4>(); }

// C of one product is A of the next, both asked for by a vector core; bias in TSCM.
void vector_chain(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR out, TCubeTiling t) {
  TPipe pipe;
  Matmul<Gm<half>, Gm<half>, Tscm<half>, Tscm<half>> first;
  Matmul<Tscm<half>, Gm<half>, Gm<float>> second;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), first, &t, second, &t);
  if (GetSubBlockIdx() != 0) return;
  TSCM<TPosition::GM, 1> middle, row;
  pipe.InitBuffer(middle, 1, t.M * t.N * sizeof(half));
  pipe.InitBuffer(row, 1, t.N * sizeof(half));
  LocalTensor<half> product = middle.AllocTensor<half>(), numbers = row.AllocTensor<half>();
  DataCopy(numbers, global<half>(bias), t.N);
  first.SetTensorA(global<half>(a));
  first.SetTensorB(global<half>(b));
  first.SetBias(numbers);
  first.IterateAll(product);
  second.SetTensorA(product);
  second.SetTensorB(global<half>(b));
  second.IterateAll(global<float>(out));
  middle.FreeTensor(product);
  row.FreeTensor(numbers);
}
TEST(MatmulPlaces, AChainOfAVectorCoreStaysInL1) {
  constexpr Sizes s{32, 32, 32};
  const auto a = numbers<half>(s.m * s.k, 1), b = numbers<half>(s.k * s.n, 2), bias = numbers<half>(s.n, 4);
  Device<half> da(a), db(b), dbias(bias);
  Device<float> out(s.m * s.n);
  twin::take_findings();
  twin::launcher<Kernel, vector_chain>(1).auto_sync(false).as(twin::KernelType::MixAic12)(
      da, db, dbias, out, tiling(s.m, s.n, s.k, 16, 16, true));
  EXPECT_SILENT();
  const auto first = product_of(s, a, b, std::vector<float>(bias.begin(), bias.end()));
  std::vector<half> rounded(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) rounded[i] = half(first[i]);
  expect_same(out.values(), product_of(s, rounded, b), "chain");
}

enum class Wrong { Freed, Elsewhere, TooLarge };
template <Wrong kWrong>
void misuse(GM_ADDR a, GM_ADDR b, GM_ADDR, GM_ADDR c, TCubeTiling t) {
  TPipe pipe;
  Matmul<Tscm<half>, Gm<half>, Gm<float>> mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  if (GetSubBlockIdx() != 0) return;
  TSCM<TPosition::GM, 1> l1;
  pipe.InitBuffer(l1, kWrong == Wrong::TooLarge ? 3 : 1, kWrong == Wrong::TooLarge ? 200 * 1024 : 2048);
  LocalTensor<half> tile = l1.AllocTensor<half>();
  if (kWrong == Wrong::TooLarge) {
    l1.AllocTensor<half>();
    l1.AllocTensor<half>();
  }
  if (kWrong == Wrong::Elsewhere) tile = LocalTensor<half>(TPosition::TSCM, 0, 1024);
  if (kWrong != Wrong::Elsewhere) DataCopy(tile, global<half>(a), 1024);
  if (kWrong == Wrong::Freed) l1.FreeTensor(tile);
  mm.SetTensorA(tile);
  mm.SetTensorB(global<half>(b));
  mm.IterateAll(global<float>(c));
}
TEST(MatmulPlaces, SaysWhatIsWrongWithTscm) {
  Device<half> a(numbers<half>(32 * 32, 1)), b(numbers<half>(32 * 32, 2));
  Device<float> c(32 * 32);
  const auto run = [&](auto launcher) {
    twin::take_findings();
    launcher.auto_sync(false).as(twin::KernelType::MixAic12)(a, b, a, c, tiling(32, 32, 32, 32));
  };
  run(twin::launcher<Kernel, misuse<Wrong::Freed>>(1));
  expect_found(twin::Kind::UseAfterFree, "TSCM that FreeTensor has given back");
  run(twin::launcher<Kernel, misuse<Wrong::Elsewhere>>(1));
  expect_found(twin::Kind::KernelType, "not from a TSCM queue");
  run(twin::launcher<Kernel, misuse<Wrong::TooLarge>>(1));
  expect_found(twin::Kind::Capacity, "TSCM queues of the vector cores would hold 614400 bytes");
}

// ---- flags of the kernel's own beside Matmul's ----
template <bool kCubeOnly>
void with_flags(GM_ADDR a, GM_ADDR b, GM_ADDR, GM_ADDR c, TCubeTiling t) {
  TPipe pipe;
  Matmul<Gm<half>, Gm<half>, Gm<float>> mm;
  if (kCubeOnly) {
    if ASCEND_IS_AIC {
      mm.Init(&t, &pipe);
      mm.SetTensorA(global<half>(a));
      mm.SetTensorB(global<half>(b));
      mm.IterateAll(global<float>(c));
      CrossCoreSetFlag<2, PIPE_FIX>(3);
    } else {
      CrossCoreWaitFlag(3);
    }
    return;
  }
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);
  CrossCoreSetFlag<1, PIPE_MTE3>(3);
  CrossCoreWaitFlag(3);
  if (GetSubBlockIdx() != 0) return;
  mm.SetTensorA(global<half>(a));
  mm.SetTensorB(global<half>(b));
  mm.IterateAll(global<float>(c));
}
TEST(MatmulPlaces, FlagsBesideThoseOfMatmulAreReported) {
  Device<half> a(numbers<half>(32 * 32, 1)), b(numbers<half>(32 * 32, 2));
  Device<float> c(32 * 32);
  twin::take_findings();
  twin::launcher<Kernel, with_flags<false>>(1).auto_sync(false).as(twin::KernelType::MixAic12)(a, b, a, c,
                                                                                               tiling(32, 32, 32, 32));
  const auto all = twin::take_findings();
  ASSERT_EQ(all.size(), 2u) << text(all);
  EXPECT_EQ(all[0].kind, twin::Kind::MatmulFlag);
  EXPECT_NE(all[0].what.find("CrossCoreSetFlag(3)"), std::string::npos) << text(all);
  EXPECT_NE(all[0].line_b.find("matmul_places_test.cpp:"), std::string::npos) << text(all);
  twin::launcher<Kernel, with_flags<true>>(1).auto_sync(false).as(twin::KernelType::MixAic12)(a, b, a, c,
                                                                                              tiling(32, 32, 32, 32));
  EXPECT_SILENT();
}

}  // namespace
}  // namespace twin_test
