// SPDX-License-Identifier: Apache-2.0
// Vector instructions: `times` of them in a chain, each after the one before.
#include "micro.hpp"

namespace twin_calibration {
namespace {

std::function<void()> instruction;
bool dependent = true;
LocalTensor<float> f(int offset) { return at<float>(TPosition::VECCALC, offset, 32768); }
LocalTensor<half> h(int offset) { return at<half>(TPosition::VECCALC, offset, 32768); }
void vectors(GM_ADDR) {
  Duplicate(at<std::int32_t>(TPosition::VECCALC, 0, 180 * 1024), 0, 180 * 256);  // integers: Gather takes its offsets there
  PipeBarrier<PIPE_ALL>();
  for (int i = 0; i < times; ++i) {
    instruction();
    if (dependent) PipeBarrier<PIPE_V>();
  }
}

}  // namespace

void vector_costs(std::vector<Row>* rows) {
  GM_ADDR p = static_cast<GM_ADDR>(device_memory(4096));
  const auto cycles_each = [&] { return each([&] { LAUNCH(vectors, 1, KernelType::AivOnly)(p); }, 20, 60); };
  // Cycles a repeat from two lengths; fixed cycles of a single repeat in a chain.
  const auto cost = [&](const char* name, double repeat, double fixed, const std::function<void(int)>& one) {
    const auto chain = [&](int repeats) {
      instruction = [&, repeats] { one(repeats); };
      return cycles_each();
    };
    const double few = chain(20), many = chain(100);
    rows->push_back({std::string(name) + ", a repeat", "cycles", repeat, (many - few) / 80, kTable});
    if (fixed > 0) rows->push_back({std::string(name) + ", fixed", "cycles", fixed, few - 20 * (many - few) / 80, kTable});
  };
  cost("Adds", 1, 24.5, [&](int r) { Adds(f(0), f(0), 1.0f, 64 * r); });
  cost("Muls", 1, 24.5, [&](int r) { Muls(f(0), f(0), 1.0f, 64 * r); });
  cost("Maxs", 1, 24.5, [&](int r) { Maxs(f(0), f(0), 1.0f, 64 * r); });
  cost("Mins", 1, 24.5, [&](int r) { Mins(f(0), f(0), 1.0f, 64 * r); });
  cost("Abs", 1, 24.5, [&](int r) { Abs(f(0), f(0), 64 * r); });
  cost("Relu", 1, 24.5, [&](int r) { Relu(f(0), f(0), 64 * r); });
  cost("Duplicate", 1, 24.5, [&](int r) { Duplicate(f(0), 1.0f, 64 * r); });
  cost("Rsqrt", 1, 24.5, [&](int r) { Rsqrt(f(0), f(0), 64 * r); });
  cost("Reciprocal", 1, 24.5, [&](int r) { Reciprocal(f(0), f(0), 64 * r); });
  cost("Add without bank conflicts", 1, 24, [&](int r) { Add(f(0), f(32768), f(65536 + 256), 64 * r); });
  cost("Add with bank conflicts", 2, 0, [&](int r) { Add(f(0), f(32768), f(65536), 64 * r); });
  cost("Sub without bank conflicts", 1, 24, [&](int r) { Sub(f(0), f(32768), f(65536 + 256), 64 * r); });
  cost("Mul without bank conflicts", 1, 24, [&](int r) { Mul(f(0), f(32768), f(65536 + 256), 64 * r); });
  cost("Max without bank conflicts", 1, 24, [&](int r) { Max(f(0), f(32768), f(65536 + 256), 64 * r); });
  cost("Min without bank conflicts", 1, 24, [&](int r) { Min(f(0), f(32768), f(65536 + 256), 64 * r); });
  cost("Axpy", 2, 14, [&](int r) { Axpy(f(0), f(32768), 1.0f, 64 * r); });
  cost("Compare", 2, 14,
       [&](int r) { Compare(at<std::uint8_t>(TPosition::VECCALC, 0, 4096), f(32768), f(65536), CMPMODE::GT, 64 * r); });
  cost("Compares", 1, 14,
       [&](int r) { Compares(at<std::uint8_t>(TPosition::VECCALC, 0, 4096), f(32768), 0.0f, CMPMODE::GT, 64 * r); });
  cost("Select", 2, 14, [&](int r) {
    Select(f(0), at<std::uint8_t>(TPosition::VECCALC, 98304, 4096), f(32768), f(65536), SELMODE::VSEL_TENSOR_TENSOR_MODE,
           64 * r);
  });
  cost("Exp, float", 2, 32, [&](int r) { Exp(f(0), f(32768), 64 * r); });
  cost("Exp, half", 4, 32, [&](int r) { Exp(h(0), h(32768), 128 * r); });
  cost("Ln, float", 2, 32, [&](int r) { Ln(f(0), f(32768), 64 * r); });
  cost("Ln, half", 4, 32, [&](int r) { Ln(h(0), h(32768), 128 * r); });
  cost("Sqrt, float", 2, 32, [&](int r) { Sqrt(f(0), f(32768), 64 * r); });
  cost("Sqrt, half", 4, 32, [&](int r) { Sqrt(h(0), h(32768), 128 * r); });
  cost("Div", 4, 31, [&](int r) { Div(f(0), f(32768), f(65536), 64 * r); });
  cost("MulAddDst", 6, 0, [&](int r) { MulAddDst(f(0), f(32768), f(65536), 64 * r); });
  cost("BlockReduceSum, float", 1, 35, [&](int r) { BlockReduceSum(f(0), f(32768), r, 64, 1, 1, 8); });
  cost("BlockReduceSum, half", 7, 35, [&](int r) { BlockReduceSum(h(0), h(32768), r, 128, 1, 1, 8); });
  cost("WholeReduceMax", 7, 46, [&](int r) { WholeReduceMax(f(0), f(32768), 64, r, 1, 1, 8); });
  cost("WholeReduceSum", 7, 46, [&](int r) { WholeReduceSum(f(0), f(32768), 64, r, 1, 1, 8); });
  cost("Cast half to float", 1, 32, [&](int r) { Cast(f(0), h(32768), RoundMode::CAST_NONE, 64 * r); });
  cost("Cast float to half", 1, 32, [&](int r) { Cast(h(0), f(32768), RoundMode::CAST_NONE, 64 * r); });
  cost("Cast float to int32", 1, 32,
       [&](int r) { Cast(at<std::int32_t>(TPosition::VECCALC, 0, 32768), f(32768), RoundMode::CAST_RINT, 64 * r); });
  cost("Brcb", 1, 18, [&](int r) { Brcb(f(0), f(65536), static_cast<std::uint8_t>(r), BrcbRepeatParams(1, 8)); });
  cost("Gather, 64 elements", 12.8, 26,
       [&](int r) { Gather(f(0), f(32768), at<std::uint32_t>(TPosition::VECCALC, 65536, 32768), 0, 64 * r); });
  cost("Sort32, 32 elements", 16, 0,
       [&](int r) { Sort32(f(0), f(65536), at<std::uint32_t>(TPosition::VECCALC, 98304, 32768), r); });
  cost("MrgSort, 4 elements", 2, 0, [&](int r) {
    const std::uint16_t lengths[4] = {std::uint16_t(r), std::uint16_t(r), std::uint16_t(r), std::uint16_t(r)};
    MrgSort(f(0), MrgSortSrcList<float>(f(32768), f(65536), f(98304), f(131072)), MrgSort4Info(lengths, false, 15, 1));
  });
  cost("TransDataTo5HD, 16 x 16 halves", 2, 0, [&](int r) {
    LocalTensor<half> to[16], from[16];
    for (int i = 0; i < 16; ++i) to[i] = h(i * 4096), from[i] = h(65536 + i * 4096);
    TransDataTo5HD<half>(to, from, TransDataTo5HDParams(false, false, static_cast<std::uint8_t>(r), 1, 1));
  });
  instruction = [] { Transpose(h(0), h(32768)); };
  rows->push_back({"Transpose, 16 x 16 halves, dependent", "cycles", 2 + 25, cycles_each(), kTable});
  dependent = false;
  instruction = [n = 0]() mutable { Adds(f(4096 + n++ % 100 * 256), f(0), 1.0f, 64); };
  rows->push_back({"Independent instructions of one repeat", "cycles", 3.5, cycles_each(), kTable});
  dependent = true;
  aclrtFree(p);
}

}  // namespace twin_calibration
