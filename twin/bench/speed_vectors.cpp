// SPDX-License-Identifier: Apache-2.0
// The vector instructions of twin_speed: every row of vector.inc in each of its element types, then the others.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "kernel_operator.h"
#include "speed.hpp"

using namespace AscendC;

namespace {

constexpr double kSeconds = 0.012;  // of each measurement; a launch alone takes half a millisecond
constexpr int kCounts[] = {128, 1024, 8192};
using Call = void (*)(int n);

struct Row {
  const char* name;
  const char* types;
  Call call;
  int least = 0, most = 8192;  // elements a call: what cannot have more, or fewer, is counted with what it has
};

// Where operands lie in UB: sources before 64 KB, results behind, and what chooses or points at the end.
template <class T>
LocalTensor<T> at(int kilobytes) {
  return LocalTensor<T>(TPosition::VECCALC, kilobytes * 1024, 32768 / sizeof(T));
}
template <class T>
LocalTensor<T> a() {
  return at<T>(0);
}
template <class T>
LocalTensor<T> b() {
  return at<T>(32);
}
template <class T>
LocalTensor<T> d() {
  return at<T>(64);
}
template <class T = std::uint32_t>
LocalTensor<T> offsets() {
  return at<T>(128);
}
LocalTensor<std::uint8_t> bits() { return at<std::uint8_t>(160); }  // a choice in every other lane

template <class T>
constexpr int lanes = 256 / sizeof(T);  // of a repeat
template <class T>
std::uint8_t repeats(int n) {
  return static_cast<std::uint8_t>(std::min(n / lanes<T>, 255));
}

template <class T>
constexpr const char* type_name() {
  using twin::DType;
  constexpr DType kType = twin::DTypeOf<T>::kValue;
  return kType == DType::F32   ? "float"
         : kType == DType::F16 ? "half"
         : kType == DType::I32 ? "int32"
         : kType == DType::I16 ? "int16"
         : kType == DType::U16 ? "uint16"
                               : "uint32";
}

std::vector<Row> elementwise() {
  using namespace twin;
  std::vector<Row> rows;
#define TWIN_ROWS(name, types, call)                                                                                    \
  const auto name##_rows = [&](auto element) {                                                                          \
    using T = decltype(element);                                                                                        \
    if constexpr (((types)&bit(DTypeOf<T>::kValue)) != 0) rows.push_back({#name, type_name<T>(), [](int n) { call; }}); \
  };                                                                                                                    \
  name##_rows(float{}), name##_rows(half{}), name##_rows(std::int32_t{}), name##_rows(std::int16_t{}),                  \
      name##_rows(std::uint16_t{}), name##_rows(std::uint32_t{});
#define TWIN_BINARY(name, types, ...) TWIN_ROWS(name, types, name(d<T>(), a<T>(), b<T>(), n))
#define TWIN_BINARY_DST(name, types, ...) TWIN_ROWS(name, types, name(d<T>(), a<T>(), b<T>(), n))
#define TWIN_SCALAR(name, types, ...) TWIN_ROWS(name, types, name(d<T>(), a<T>(), T(2), n))
#define TWIN_SCALAR_DST(name, types, ...) TWIN_ROWS(name, types, name(d<T>(), a<T>(), T(2), n))
#define TWIN_UNARY(name, types, ...) TWIN_ROWS(name, types, name(d<T>(), a<T>(), n))
#include "twin/vector.inc"
#undef TWIN_ROWS
  return rows;
}

template <class D, class S, RoundMode kMode>
void cast(int n) {
  Cast(d<D>(), a<S>(), kMode, static_cast<std::uint32_t>(n));
}

template <class T>
void broadcast_add(int n) {  // a block of b for each repeat, as a softmax takes its row's maximum off
  const std::uint64_t mask = lanes<T>;
  Add(d<T>(), a<T>(), b<T>(), mask, repeats<T>(n), BinaryRepeatParams(1, 1, 0, 8, 8, 1));
}
template <class T>
void masked_add(int n) {
  std::uint64_t mask[2] = {0x5555555555555555ull, 0x5555555555555555ull};
  Add(d<T>(), a<T>(), b<T>(), mask, repeats<T>(n), BinaryRepeatParams(1, 1, 1, 8, 8, 8));
}
template <class T>
void gather_mask(int n) {
  std::uint64_t kept = 0;
  GatherMask(d<T>(), a<T>(), 1, false, 0, GatherMaskParams(1, repeats<T>(n), 8, 0), kept);
}
template <class T>
void gather_mask_tensor(int n) {
  std::uint64_t kept = 0;
  const auto choice = bits().template ReinterpretCast<std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>>();
  GatherMask(d<T>(), a<T>(), choice, true, static_cast<std::uint32_t>(n), GatherMaskParams(1, 1, 8, 8), kept);
}
template <class T>
void transpose(int n) {
  LocalTensor<T> to[16], from[16];
  for (int k = 0; k < 16; ++k) to[k] = d<T>()[k * 512], from[k] = a<T>()[k * 512];
  const auto r = static_cast<std::uint8_t>(std::max(n * int(sizeof(T)) / 512, 1));
  TransDataTo5HD(to, from, TransDataTo5HDParams(false, false, r, 1, 1));
}
template <class T>
void merge(int n) {
  const std::uint16_t length = static_cast<std::uint16_t>(n / 4);
  const std::uint16_t lengths[4] = {length, length, length, length};
  const auto list = [&](int k) { return a<T>()[k * length * (8 / sizeof(T))]; };
  MrgSort(d<T>(), MrgSortSrcList<T>(list(0), list(1), list(2), list(3)), MrgSort4Info(lengths, false, 15, 1));
}

template <class T>
void sort(int n) {
  auto work = at<T>(96);
  Sort<T, true>(d<T>(), a<T>(), offsets(), work, n / 32);
}

template <class T>
void add_of_type(std::vector<Row>* rows) {
  const char* const t = type_name<T>();
  rows->insert(
      rows->end(),
      {{"Add, blocks", t, &broadcast_add<T>},
       {"Add, half the lanes", t, &masked_add<T>},
       {"Duplicate", t, [](int n) { Duplicate(d<T>(), T(1), n); }},
       {"Copy", t, [](int n) { Copy(d<T>(), a<T>(), lanes<T>, repeats<T>(n), CopyRepeatParams(1, 1, 8, 8)); }},
       {"Compare", t, [](int n) { Compare(d<std::uint8_t>(), a<T>(), b<T>(), CMPMODE::LT, n); }},
       {"CompareScalar", t, [](int n) { CompareScalar(d<std::uint8_t>(), a<T>(), T(1), CMPMODE::GE, n); }},
       {"Select", t, [](int n) { Select(d<T>(), bits(), a<T>(), b<T>(), SELMODE::VSEL_TENSOR_TENSOR_MODE, n); }},
       {"Select, scalar", t, [](int n) { Select(d<T>(), bits(), a<T>(), T(0), SELMODE::VSEL_TENSOR_SCALAR_MODE, n); }},
       {"WholeReduceSum", t, [](int n) { WholeReduceSum(d<T>(), a<T>(), lanes<T>, repeats<T>(n), 1, 1, 8); }},
       {"WholeReduceMax", t, [](int n) { WholeReduceMax(d<T>(), a<T>(), lanes<T>, repeats<T>(n), 1, 1, 8); }},
       {"BlockReduceSum", t, [](int n) { BlockReduceSum(d<T>(), a<T>(), repeats<T>(n), lanes<T>, 1, 1, 8); }},
       {"BlockReduceMax", t, [](int n) { BlockReduceMax(d<T>(), a<T>(), repeats<T>(n), lanes<T>, 1, 1, 8); }},
       {"PairReduceSum", t, [](int n) { PairReduceSum(d<T>(), a<T>(), repeats<T>(n), lanes<T>, 1, 1, 8); }},
       {"ReduceSum", t, [](int n) { ReduceSum(d<T>(), a<T>(), b<T>(), n); }},
       {"ReduceMax", t, [](int n) { ReduceMax(d<T>(), a<T>(), b<T>(), n, true); }},
       {"Brcb", t, [](int n) { Brcb(d<T>(), a<T>(), std::min(n / (256 / int(sizeof(T))), 255), BrcbRepeatParams(1, 8)); }},
       {"Gather", t, [](int n) { Gather(d<T>(), a<T>(), offsets(), 0, n); }},
       {"Gatherb", t,
        [](int n) { Gatherb(d<T>(), a<T>(), at<std::uint32_t>(164), repeats<T>(n), GatherRepeatParams(1, 8)); }},
       {"GatherMask", t, &gather_mask<T>},
       {"GatherMask, tensor", t, &gather_mask_tensor<T>},
       {"CreateVecIndex", t, [](int n) { CreateVecIndex(d<T>(), T(0), n); }},
       {"TransDataTo5HD", t, &transpose<T>},
       {"Sort32", t, [](int n) { Sort32(d<T>(), a<T>(), offsets(), n / 32); }, 0, 4096},
       {"Sort, full", t, &sort<T>, 0, 2048},
       {"MrgSort", t, &merge<T>, 0, 4096},
       {"Extract", t, [](int n) { Extract(d<T>(), at<std::uint32_t>(96), a<T>(), n / 32); }, 0, 4096}});
}

std::vector<Row> others() {
  using R = RoundMode;
  std::vector<Row> rows = {
      {"Cast", "half to float", &cast<float, half, R::CAST_NONE>},
      {"Cast", "float to half, none", &cast<half, float, R::CAST_NONE>},
      {"Cast", "float to half, rint", &cast<half, float, R::CAST_RINT>},
      {"Cast", "float to half, round", &cast<half, float, R::CAST_ROUND>},
      {"Cast", "float to half, odd", &cast<half, float, R::CAST_ODD>},
      {"Cast", "bfloat16 to float", &cast<float, bfloat16_t, R::CAST_NONE>},
      {"Cast", "float to bfloat16, rint", &cast<bfloat16_t, float, R::CAST_RINT>},
      {"Cast", "float to bfloat16, round", &cast<bfloat16_t, float, R::CAST_ROUND>},
      {"Cast", "float to float, floor", &cast<float, float, R::CAST_FLOOR>},
      {"Cast", "float to int32, rint", &cast<std::int32_t, float, R::CAST_RINT>},
      {"Cast", "float to int32, trunc", &cast<std::int32_t, float, R::CAST_TRUNC>},
      {"Cast", "float to int16, rint", &cast<std::int16_t, float, R::CAST_RINT>},
      {"Cast", "float to int64, rint", &cast<std::int64_t, float, R::CAST_RINT>, 0, 4096},
      {"Cast", "int32 to float", &cast<float, std::int32_t, R::CAST_NONE>},
      {"Cast", "int32 to int16", &cast<std::int16_t, std::int32_t, R::CAST_NONE>},
      {"Cast", "int32 to half", &cast<half, std::int32_t, R::CAST_NONE>},
      {"Cast", "int32 to int64", &cast<std::int64_t, std::int32_t, R::CAST_NONE>, 0, 4096},
      {"Cast", "int64 to int32", &cast<std::int32_t, std::int64_t, R::CAST_NONE>, 0, 4096},
      {"Cast", "int16 to half", &cast<half, std::int16_t, R::CAST_NONE>},
      {"Cast", "int16 to float", &cast<float, std::int16_t, R::CAST_NONE>},
      {"Cast", "half to int32, rint", &cast<std::int32_t, half, R::CAST_RINT>},
      {"Cast", "half to int16, rint", &cast<std::int16_t, half, R::CAST_RINT>},
      {"Cast", "half to int8, rint", &cast<std::int8_t, half, R::CAST_RINT>},
      {"Cast", "half to uint8, rint", &cast<std::uint8_t, half, R::CAST_RINT>},
      {"Cast", "int8 to half", &cast<half, std::int8_t, R::CAST_NONE>},
      {"Cast", "uint8 to half", &cast<half, std::uint8_t, R::CAST_NONE>},
      {"Cast", "half to int4, rint", &cast<int4b_t, half, R::CAST_RINT>},
      {"Cast", "int4 to half", &cast<half, int4b_t, R::CAST_NONE>},
      {"Axpy", "half to float", [](int n) { Axpy(d<float>(), a<half>(), half(2), n); }},
      {"AddReluCast", "float to half", [](int n) { AddReluCast(d<half>(), a<float>(), b<float>(), n); }},
      {"AddReluCast", "half to int8", [](int n) { AddReluCast(d<std::int8_t>(), a<half>(), b<half>(), n); }},
      {"AddReluCast", "int16 to int8",
       [](int n) { AddReluCast(d<std::int8_t>(), a<std::int16_t>(), b<std::int16_t>(), n); }},
      {"MulCast", "half to int8", [](int n) { MulCast(d<std::int8_t>(), a<half>(), b<half>(), n); }},
      {"AddDeqRelu", "int32 to half", [](int n) { AddDeqRelu(d<half>(), a<std::int32_t>(), b<std::int32_t>(), n); }},
      {"CastDeq", "int16 to int8",
       [](int n) { CastDeq<std::int8_t, std::int16_t, false, false>(d<std::int8_t>(), a<std::int16_t>(), n); }},
      {"Transpose", "half, 256 at once", [](int) { Transpose(d<half>(), a<half>()); }, 256, 256},
  };
  add_of_type<float>(&rows);
  add_of_type<half>(&rows);
  return rows;
}

Call call = nullptr;
int count = 0, calls = 0, element_bytes = 4;  // the last: from one offset of a Gather to the next

// One kind of instruction, over and over, as kernels use it: a barrier between dependent ones.
void vectors(GM_ADDR) {
  for (const int k : {0, 64, 96}) Duplicate(at<half>(k), half(1.0f), 16384);
  Duplicate(at<half>(32), half(0.5f), 16384);
  Duplicate(bits().ReinterpretCast<std::uint16_t>(), std::uint16_t(0x5555), 2048);
  Duplicate(at<std::uint32_t>(164), std::uint32_t(64), 2048);
  CreateVecIndex(offsets<std::int32_t>(), 0, 8192);
  PipeBarrier<PIPE_V>();
  Muls(offsets<std::int32_t>(), offsets<std::int32_t>(), element_bytes, 8192);
  SetDeqScale(0.5f, 0, true);
  for (int i = 0; i < calls; ++i) {
    PipeBarrier<PIPE_V>();
    call(count);
  }
}

}  // namespace

// Elements a second.
static double rate(const Row& row, int asked) {
  const int n = std::clamp(asked, row.least, row.most);
  const auto launch = [](int times) {
    calls = times;
    return seconds(
        [] { twin::launcher<void(GM_ADDR), vectors>(1).as(twin::KernelType::AivOnly).auto_sync(false)(nullptr); });
  };
  call = row.call;
  count = n;
  element_bytes = std::strcmp(row.types, "half") == 0 ? 2 : 4;
  const int first = 500 + 500000 / n;
  const int times = first + static_cast<int>(kSeconds / launch(first) * first);
  double least = launch(times);
  for (int i = 1; i < 3; ++i) least = std::min(least, launch(times));
  return double(n) * times / least;
}

int report_vectors(const char* only) {
  std::vector<Row> rows = elementwise();
  const std::vector<Row> more = others();
  rows.insert(rows.end(), more.begin(), more.end());
  std::printf("  million elements/s, instructions of%*s", 24, "");
  for (const int n : kCounts) std::printf("%8d", n);
  int slow = 0;
  for (const Row& row : rows) {
    if (!std::strstr(row.name, only)) continue;
    std::printf("\n  %-22s %-34s", row.name, row.types);
    for (const int n : kCounts) {
      const double millions = rate(row, n) / 1e6;
      std::printf("%8.0f", millions);
      if (n == 128 && millions < 300) ++slow;
    }
  }
  std::printf("\n  below 300 million elements/s at 128: %d of %zu\n", slow, rows.size());
  return slow;
}
