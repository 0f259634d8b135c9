// SPDX-License-Identifier: Apache-2.0
// Every row of vector.inc, in every element type and form, with random masks and strides, against one scalar model a row.
// Lanes that a mask leaves out must keep their bits.
#include <cmath>
#include <cstring>
#include <random>

#include "support.hpp"

using namespace AscendC;
using twin::DType;
using twin::VecOp;

namespace {

constexpr int kBytes = 48 * 1024;  // of each operand

struct Job {
  VecOp op;
  int form;  // 0 count, 1 bits, 2 first n
  int count, repeats;
  std::uint64_t mask[2];
  BinaryRepeatParams strides;
  float scalar;
} job;

template <class T>
LocalTensor<T> operand(int which) {
  return LocalTensor<T>(TPosition::VECCALC, which * kBytes, kBytes / sizeof(T));
}

template <class T>
void call() {
  const LocalTensor<T> d = operand<T>(0), a = operand<T>(1), b = operand<T>(2);
  const T s = T(job.scalar);
  const auto& p = job.strides;
  const UnaryRepeatParams u(p.dstBlkStride, p.src0BlkStride, p.dstRepStride, p.src0RepStride);
  const std::uint8_t repeats = static_cast<std::uint8_t>(job.repeats);
  switch (job.op) {
#define TWIN_BINARY(name, ...)                                                                      \
  case VecOp::name:                                                                                 \
    if constexpr (AscendC::detail::name##Takes<T, T>::kValue) {                                     \
      if (job.form == 0) AscendC::name(d, a, b, job.count);                                         \
      if (job.form == 1) AscendC::name(d, a, b, job.mask, repeats, p);                              \
      if (job.form == 2) AscendC::name(d, a, b, static_cast<std::uint64_t>(job.count), repeats, p); \
    }                                                                                               \
    break;
#define TWIN_BINARY_DST(name, ...) TWIN_BINARY(name)
#define TWIN_SCALAR(name, ...)                                                                      \
  case VecOp::name:                                                                                 \
    if constexpr (AscendC::detail::name##Takes<T, T>::kValue) {                                     \
      if (job.form == 0) AscendC::name(d, a, s, job.count);                                         \
      if (job.form == 1) AscendC::name(d, a, s, job.mask, repeats, u);                              \
      if (job.form == 2) AscendC::name(d, a, s, static_cast<std::uint64_t>(job.count), repeats, u); \
    }                                                                                               \
    break;
#define TWIN_SCALAR_DST(name, ...) TWIN_SCALAR(name)
#define TWIN_UNARY(name, ...)                                                                    \
  case VecOp::name:                                                                              \
    if constexpr (AscendC::detail::name##Takes<T, T>::kValue) {                                  \
      if (job.form == 0) AscendC::name(d, a, job.count);                                         \
      if (job.form == 1) AscendC::name(d, a, job.mask, repeats, u);                              \
      if (job.form == 2) AscendC::name(d, a, static_cast<std::uint64_t>(job.count), repeats, u); \
    }                                                                                            \
    break;
#include "twin/vector.inc"
    default:
      break;
  }
}

template <class T>
bool takes(VecOp op) {
  switch (op) {
#define TWIN_BINARY(name, ...) \
  case VecOp::name:            \
    return AscendC::detail::name##Takes<T, T>::kValue;
#define TWIN_BINARY_DST(name, ...) TWIN_BINARY(name)
#define TWIN_SCALAR(name, ...) TWIN_BINARY(name)
#define TWIN_SCALAR_DST(name, ...) TWIN_BINARY(name)
#define TWIN_UNARY(name, ...) TWIN_BINARY(name)
#include "twin/vector.inc"
    default:
      return false;
  }
}

const char* const kNames[] = {
#define TWIN_BINARY(name, ...) #name,
#define TWIN_BINARY_DST(name, ...) #name,
#define TWIN_SCALAR(name, ...) #name,
#define TWIN_SCALAR_DST(name, ...) #name,
#define TWIN_UNARY(name, ...) #name,
#include "twin/vector.inc"
};

template <class T>
void kernel(GM_ADDR image, GM_ADDR out) {
  GlobalTensor<T> in, result;
  in.SetGlobalBuffer((__gm__ T*)image, 3 * kBytes / sizeof(T));
  result.SetGlobalBuffer((__gm__ T*)out, kBytes / sizeof(T));
  for (int o = 0; o < 3; ++o) DataCopy(operand<T>(o), in[o * kBytes / sizeof(T)], kBytes / sizeof(T));
  SetFlag<HardEvent::MTE2_V>(0);
  WaitFlag<HardEvent::MTE2_V>(0);
  call<T>();
  SetFlag<HardEvent::V_MTE3>(0);
  WaitFlag<HardEvent::V_MTE3>(0);
  DataCopy(result, operand<T>(0), kBytes / sizeof(T));
}

// The model of a row: floats in float, integers wrapping.
template <class T, class C>
T model(const std::string& op, C a, C b, C d) {
  const auto relu = [](C x) { return x > 0 ? x : C(0); };
  C r = 0;
  if (op == "Add" || op == "Adds") r = a + b;
  if (op == "Sub") r = a - b;
  if (op == "Mul" || op == "Muls") r = a * b;
  if (op == "Max" || op == "Maxs") r = std::max(a, b);
  if (op == "Min" || op == "Mins") r = std::min(a, b);
  if (op == "AddRelu") r = relu(a + b);
  if (op == "SubRelu") r = relu(a - b);
  if (op == "Relu") r = relu(a);
  if (op == "MulAddDst" || op == "Axpy") r = a * b + d;
  if (op == "FusedMulAdd") r = a * d + b;
  if (op == "FusedMulAddRelu") r = relu(a * d + b);
  if (op == "LeakyRelu") r = a >= 0 ? a : a * b;
  if constexpr (std::is_integral<C>::value) {
    if (op == "And") r = a & b;
    if (op == "Or") r = a | b;
    if (op == "Not") r = ~a;
    if (op == "ShiftLeft") r = a * (C(1) << b);
    if (op == "ShiftRight")
      r = std::is_signed<T>::value ? C(std::floor(double(a) / double(C(1) << b))) : C(std::uint64_t(a) >> b);
    if (op == "ShiftRightRounded") r = C(std::floor((double(a) + (b ? double(C(1) << (b - 1)) : 0)) / double(C(1) << b)));
    return static_cast<T>(static_cast<std::uint64_t>(r));
  } else {
    if (op == "Div") r = a / b;
    if (op == "Abs") r = std::fabs(a);
    if (op == "Exp") r = static_cast<float>(std::exp(static_cast<double>(a)));
    if (op == "Ln") r = static_cast<float>(std::log(static_cast<double>(a)));
    if (op == "Sqrt") r = std::sqrt(a);
    if (op == "Rsqrt") r = 1 / std::sqrt(a);
    if (op == "Reciprocal") r = 1 / a;
    return T(r);
  }
}

template <class T>
void check(VecOp op, unsigned seed) {
  using C = std::conditional_t<std::is_integral<T>::value, std::int64_t, float>;
  constexpr int kLanes = 256 / sizeof(T), kBlock = 32 / sizeof(T);
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const std::string name = kNames[int(op)];
  std::vector<T> image(3 * kBytes / sizeof(T));
  const bool positive = name == "Ln" || name == "Sqrt" || name == "Rsqrt" || name == "Reciprocal" || name == "Div";
  for (T& v : image)
    v = std::is_integral<T>::value ? T(random()) : T((positive ? 0.125f : -8.0f) + static_cast<float>(pick(4096)) / 256);
  job.op = op;
  job.form = pick(3);
  job.repeats = 1 + pick(6);
  job.count = job.form == 0 ? 1 + pick(kBytes / int(sizeof(T))) : 1 + pick(kLanes);
  job.scalar = name.compare(0, 5, "Shift") == 0 ? static_cast<float>(pick(15)) : static_cast<float>(pick(64)) / 8;
  job.mask[0] = (std::uint64_t{random()} << 32) | random();
  job.mask[1] = sizeof(T) == 2 ? (std::uint64_t{random()} << 32) | random() : 0;
  const auto stride = [&](int low, int high) { return static_cast<std::uint8_t>(low + pick(high - low + 1)); };
  job.strides = BinaryRepeatParams(stride(1, 3), stride(0, 3), stride(0, 3), stride(24, 30), stride(0, 30), stride(0, 30));
  twin_test::Device<T> in(image), out(kBytes / sizeof(T));
  RUN(kernel<T>, 1).auto_sync(false)(in, out);
  const auto found = twin::take_findings();
  ASSERT_TRUE(found.empty()) << name << " seed " << seed << twin_test::text(found);
  std::vector<T> expected(image.begin(), image.begin() + kBytes / sizeof(T));
  const auto at = [&](int o, int repeat, int lane, int block_stride, int repeat_stride) -> T {
    return image[static_cast<std::size_t>(o * kBytes / int(sizeof(T)) +
                                          (repeat * repeat_stride + lane / kBlock * block_stride) * kBlock + lane % kBlock)];
  };
  const bool scalar = name.back() == 's' || name.compare(0, 5, "Shift") == 0 || name == "LeakyRelu" || name == "Axpy";
  const bool is_scalar = scalar && name != "Abs";
  const auto& p = job.strides;
  for (int r = 0; r < (job.form == 0 ? 1 : job.repeats); ++r) {
    for (int lane = 0; lane < (job.form == 0 ? job.count : kLanes); ++lane) {
      if (job.form == 1 && !(job.mask[lane / 64] >> (lane % 64) & 1)) continue;
      if (job.form == 2 && lane >= job.count) continue;
      const bool plain = job.form == 0;
      const int to = plain ? lane : (r * p.dstRepStride + lane / kBlock * p.dstBlkStride) * kBlock + lane % kBlock;
      const T a = plain ? image[kBytes / sizeof(T) + lane] : at(1, r, lane, p.src0BlkStride, p.src0RepStride);
      const T b = is_scalar ? T(job.scalar)
                  : plain   ? image[2 * kBytes / sizeof(T) + lane]
                            : at(2, r, lane, p.src1BlkStride, p.src1RepStride);
      expected[to] = model<T, C>(name, C(a), C(b), C(image[to]));
    }
  }
  const std::vector<T> got = out.values();
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(std::memcmp(&got[i], &expected[i], sizeof(T)), 0)
        << name << " " << twin::name(twin::DTypeOf<T>::kValue) << " seed " << seed << " form " << job.form << " element "
        << i << ": " << +static_cast<C>(got[i]) << ", expected " << +static_cast<C>(expected[i]);
  }
}

class EachRow : public testing::TestWithParam<int> {};

TEST_P(EachRow, MatchesItsModelInEveryTypeAndForm) {
  twin::settings().timing = false;
  const VecOp op = static_cast<VecOp>(GetParam());
  for (unsigned seed = 1; seed <= 12; ++seed) {
    if (takes<float>(op)) check<float>(op, seed);
    if (takes<half>(op)) check<half>(op, seed);
    if (takes<std::int16_t>(op)) check<std::int16_t>(op, seed);
    if (takes<std::uint16_t>(op)) check<std::uint16_t>(op, seed);
    if (takes<std::int32_t>(op)) check<std::int32_t>(op, seed);
    if (takes<std::uint32_t>(op)) check<std::uint32_t>(op, seed);
  }
  twin::settings().timing = true;
}

INSTANTIATE_TEST_SUITE_P(Vector, EachRow, testing::Range(0, int(VecOp::kCount)),
                         [](const auto& info) { return std::string(kNames[info.param]); });

}  // namespace
