// SPDX-License-Identifier: Apache-2.0
// SetPadValue, ListTensorDesc and the older FixpipeParams.
#include <cstring>

#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

// ---- SetPadValue ----
template <class T>
void pad_value_kernel(GM_ADDR in, GM_ADDR out, int way) {
  constexpr int kRow = 32 / sizeof(T);
  const auto a = ub<T>(0, 2 * kRow);
  DataCopyPadExtParams<T> pad(way == 2, 1, 2, T(9));
  if (way != 1) SetPadValue(T(-37));
  if (way == 3) DataCopyPad(ub<T>(1024, kRow), gm<T>(in, 4), DataCopyExtParams(1, sizeof(T), 0, 0, 0), {true, 0, 1, T(5)});
  DataCopyPad(a, gm<T>(in, 2 * (kRow - 3)), DataCopyExtParams(2, (kRow - 3) * sizeof(T), 0, 0, 0), pad);
  order<HardEvent::MTE2_MTE3>();
  DataCopy(gm<T>(out, 2 * kRow), a, 2 * kRow);
}
template <class T>
void check_pad_value() {
  constexpr int kRow = 32 / sizeof(T), kGiven = kRow - 3;
  std::vector<T> in(2 * kGiven);
  for (int k = 0; k < 2 * kGiven; ++k) in[k] = T(k + 1);
  twin_test::Device<T> x(in), y(2 * kRow);
  for (const int way : {0, 2}) {
    RUN(pad_value_kernel<T>, 1)(x, y, way);
    EXPECT_SILENT();
    const auto out = y.values();
    for (int k = 0; k < 2 * kRow; ++k) {
      const int c = k % kRow;
      const T want = c == 0 || c > kGiven ? (way == 2 ? T(9) : T(-37)) : in[k / kRow * kGiven + c - 1];
      EXPECT_EQ(float(out[k]), float(want)) << way << " " << k;
    }
  }
  for (const int way : {1, 3}) {  // nothing gave a value; a copy with its own came in between
    RUN(pad_value_kernel<T>, 1)(x, y, way);
    EXPECT_NE(twin_test::find(twin::take_findings(), twin::Kind::Uninitialised), nullptr) << way;
  }
}
TEST(SetPadValue, FillsWhereTheCopyHasNoValueOfItsOwn) {
  check_pad_value<float>();
  check_pad_value<half>();
  check_pad_value<bfloat16_t>();
  check_pad_value<std::int8_t>();
  check_pad_value<std::int32_t>();
}
void pad_type_kernel(GM_ADDR in) {
  SetPadValue(half(1));
  DataCopyPad(ub<float>(0, 8), gm<float>(in, 8), DataCopyExtParams(1, 28, 0, 0, 0),
              DataCopyPadExtParams<float>(false, 0, 1, 0));
}
TEST(SetPadValue, HasTheTypeOfTheCopy) {
  twin_test::Device<float> x(std::vector<float>(8, 1));
  RUN(pad_type_kernel, 1)(x);
  twin_test::expect_found(twin::Kind::Limit, "DataCopyPad of float pads with what SetPadValue gave as half");
}

// ---- ListTensorDesc ----
void list_kernel(GM_ADDR list, GM_ADDR out, int misuse) {
  ListTensorDesc tensors((__gm__ void*)list, misuse == 1 ? 16 : 0xffffffff, misuse == 2 ? 3 : 0xffffffff);
  TensorDesc<float> desc;
  std::uint64_t shape[8] = {};
  if (misuse != 3) desc.SetShapeAddr(shape);
  const std::uint32_t index = misuse == 4 ? 2 : 1;
  tensors.GetDesc(desc, index);
  if (misuse == 5) (void)desc.GetShape(3);
  if (misuse) return;
  ASSERT_EQ(tensors.GetSize(), 2u);
  ASSERT_EQ(desc.GetDim(), 3u);
  ASSERT_EQ(desc.GetIndex(), 1u);
  ASSERT_EQ(desc.GetShape(0) * 100 + desc.GetShape(1) * 10 + desc.GetShape(2), 248u);
  ASSERT_EQ(desc.GetDataPtr(), tensors.GetDataPtr<float>(1));
  GlobalTensor<float> second = desc.GetDataObj(), first;
  first.SetGlobalBuffer(tensors.GetDataPtr<float>(0), 64);
  const auto a = ub<float>(0, 64), b = ub<float>(1024, 64);
  DataCopy(a, first, 64);
  DataCopy(b, second, 64);
  order<HardEvent::MTE2_V>();
  Add(a, a, b, 64);
  order<HardEvent::V_MTE3>();
  DataCopy(gm<float>(out, 64), a, 64);
}
TEST(ListTensorDesc, FindsShapesAndPointers) {
  std::vector<float> one(64, 1.5f), two(64);
  for (int k = 0; k < 64; ++k) two[k] = static_cast<float>(k);
  twin_test::Device<float> x(one), y(two), z(64);
  const auto address = [](GM_ADDR p) { return reinterpret_cast<std::uint64_t>(p); };
  const std::vector<std::uint64_t> words = {64, 2, 8, 8, 3 | std::uint64_t{1} << 32, 2, 4, 8, address(x), address(y)};
  twin_test::Device<std::uint64_t> list(words);
  RUN(list_kernel, 1)(list, z, 0);
  EXPECT_SILENT();
  const auto sum = z.values();
  for (int k = 0; k < 64; ++k) EXPECT_EQ(sum[k], 1.5f + static_cast<float>(k));
  const struct {
    twin::Kind kind;
    const char* what;
  } cases[] = {{twin::Kind::OutOfBounds, "a tensor of 16 bytes"},
               {twin::Kind::Limit, "does not hold shapeSize tensors"},
               {twin::Kind::Limit, "without room for the shape"},
               {twin::Kind::Limit, "an index past the tensors"},
               {twin::Kind::Limit, "a dimension that the tensor does not have"}};
  int misuse = 1;
  for (const auto& c : cases) {
    RUN(list_kernel, 1)(list, z, misuse);
    twin_test::expect_found(c.kind, c.what);
    ++misuse;
  }
}

// ---- FixpipeParams: the 20 × 40 values of L0C as rows, or as columns of 16 in the place of 32 rows ----
constexpr int kM = 20, kRows = 32, kN = 40, kWide = 48;
template <class D>
void older_fixpipe_kernel(GM_ADDR in, GM_ADDR identity, GM_ADDR out, int way) {
  LocalTensor<half> a1(TPosition::A1, 0, kRows * kWide), b1(TPosition::B1, 65536, kWide * kWide);
  LocalTensor<half> a2(TPosition::A2, 0, kRows * kWide), b2(TPosition::B2, 0, kWide * kWide);
  LocalTensor<float> c(TPosition::CO1, 0, kRows * kWide);
  DataCopy(a1, gm<half>(in, kRows * kWide), Nd2NzParams(1, kRows, kWide, 0, kWide, kRows, 1, 0));
  DataCopy(b1, gm<half>(identity, kWide * kWide), Nd2NzParams(1, kWide, kWide, 0, kWide, kWide, 1, 0));
  order<HardEvent::MTE2_MTE1>();
  for (int r = 0; r < kRows / 16; ++r)
    LoadData(a2[r * kWide * 16], a1,
             LoadData2DParams(static_cast<std::uint16_t>(r), kWide / 16, kRows / 16, 0, 0, false, 0));
  LoadData(b2, b1, LoadData2DParams(0, kWide / 16 * kWide / 16, 1, 0, 0, false, 0));
  order<HardEvent::MTE1_M>();
  Mmad(c, a2, b2, MmadParams(kRows, kWide, kWide, false));
  order<HardEvent::M_FIX>();
  FixpipeParams<float> p(kWide / 16, kM * 16 * sizeof(float) / 32, 0, 0);
  if (sizeof(D) == 2) p.quantParams = {QuantMode_t::F322F16};
  p.reluEn = true;
  if (way == 0) {
    p.dstStride = kWide;
    p.nz2ndParams.nz2ndEn = true;
    p.nz2ndParams.ndNum = 1;
    p.nz2ndParams.originalNSize = kN;
  } else {
    p.dstStride = (kRows - kM) * 16 * sizeof(D) / 32;
  }
  if (way == 2) p.srcStride = 1;
  if (way == 3) p.burstLen = 41;
  Fixpipe(gm<D>(out, kRows * kWide), c, p);
}
template <class D>
void check_older_fixpipe() {
  std::vector<half> in(kRows * kWide), identity(kWide * kWide, half(0));
  for (int k = 0; k < kRows * kWide; ++k) in[k] = half(k % 401 - 150);
  for (int k = 0; k < kWide; ++k) identity[k * kWide + k] = half(1);
  twin_test::Device<half> x(in), e(identity);
  for (const int way : {0, 1}) {
    twin_test::Device<D> y(std::vector<D>(kRows * kWide, D(-1)));
    RUN(older_fixpipe_kernel<D>, 1).as(twin::KernelType::AicOnly)(x, e, y, way);
    EXPECT_SILENT();
    const auto out = y.values();
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kWide; ++c) {
        const bool there = r < kM && (way == 1 || c < kN);
        const int at = way == 0 ? r * kWide + c : (c / 16 * kRows + r) * 16 + c % 16;
        ASSERT_EQ(float(out[at]), there ? std::max(0.0f, float(in[r * kWide + c])) : -1.0f) << way << " " << r << " " << c;
      }
    }
  }
  for (const int way : {2, 3}) {
    twin_test::Device<D> y(kRows * kWide);
    RUN(older_fixpipe_kernel<D>, 1).as(twin::KernelType::AicOnly)(x, e, y, way);
    twin_test::expect_found(twin::Kind::Limit, way == 2 ? "srcStride" : "burstLen");
  }
}
TEST(FixpipeParams, TakesBurstsOfColumns) {
  check_older_fixpipe<float>();
  check_older_fixpipe<half>();
}

}  // namespace
