// SPDX-License-Identifier: Apache-2.0
// The choice of Matmul's tiling: it fits the memories, covers C, and heeds what was fixed.
#include <random>

#include "matmul_cases.hpp"

namespace twin_test {
namespace {

using matmul_tiling::DataType;
using P = matmul_tiling::TPosition;
using F = matmul_tiling::CubeFormat;

int parts(int value, int of) { return (value + of - 1) / of; }

TEST(MatmulTiling, FitsTheMemoriesAndCoversC) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto size = [&](int most) { return 1 + static_cast<int>(random() % most); };
    const int m = size(3000), n = size(3000), k = size(3000), dim = size(48), bytes = 1 << random() % 3;
    const bool bias = random() % 2, to_ub = random() % 2;
    matmul_tiling::MultiCoreMatmulTiling choice;
    const DataType type = bytes == 1 ? DataType::DT_INT8 : bytes == 2 ? DataType::DT_FLOAT16 : DataType::DT_FLOAT;
    choice.SetDim(dim);
    choice.SetAType(P::GM, F::ND, type, random() % 2);
    choice.SetBType(P::GM, F::ND, type, random() % 2);
    choice.SetCType(to_ub ? P::VECIN : P::GM, F::ND, DataType::DT_FLOAT);
    choice.SetShape(m, n, k);
    choice.EnableBias(bias);
    TCubeTiling t;
    ASSERT_EQ(choice.GetTiling(t), 0) << m << " x " << n << " x " << k << " on " << dim;
    const std::string problem = std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) + " on " +
                                std::to_string(dim) + ", " + std::to_string(bytes) + " bytes: " + std::to_string(t.baseM) +
                                " x " + std::to_string(t.baseN) + " x " + std::to_string(t.baseK);
    EXPECT_EQ(t.usedCoreNum, parts(m, t.singleCoreM) * parts(n, t.singleCoreN)) << problem;
    EXPECT_LE(t.usedCoreNum, dim) << problem;
    EXPECT_EQ(t.singleCoreK, k) << problem;
    EXPECT_EQ(t.baseM % 16 + t.baseN % 16 + t.baseK % (32 / bytes), 0) << problem;
    EXPECT_LE(t.baseM * t.baseK * bytes, 64 * 1024) << problem;
    EXPECT_LE(t.baseN * t.baseK * bytes, 64 * 1024) << problem;
    EXPECT_LE(t.baseM * t.baseN * 4, to_ub ? 64 * 1024 : 128 * 1024) << problem;
    EXPECT_LE((t.depthA1 * t.baseM + t.depthB1 * t.baseN) * t.baseK * bytes, 512 * 1024) << problem;
    EXPECT_LE(t.baseN, bias ? 256 : 4096) << problem;
    int used = 0, down = 0, across = 0, sm = 0, sn = 0, sk = 0;
    choice.GetCoreNum(used, down, across);
    choice.GetSingleShape(sm, sn, sk);
    EXPECT_EQ(used, down * across) << problem;
    EXPECT_EQ(sm, t.singleCoreM) << problem;
    EXPECT_EQ(sn, t.singleCoreN) << problem;
  }
}

TEST(MatmulTiling, HeedsWhatIsFixed) {
  matmul_tiling::MultiCoreMatmulTiling choice;
  choice.SetDim(4);
  choice.SetShape(512, 512, 512);
  choice.SetFixSplit(64, 128, -1);
  choice.SetSingleShape(256, 256, -1);
  choice.SetTraverse(matmul_tiling::MatrixTraverse::FIRSTN);
  TCubeTiling t;
  ASSERT_EQ(choice.GetTiling(t), 0);
  EXPECT_EQ(t.baseM, 64);
  EXPECT_EQ(t.baseN, 128);
  EXPECT_EQ(t.singleCoreM, 256);
  EXPECT_EQ(t.singleCoreN, 256);
  EXPECT_EQ(t.usedCoreNum, 4);
  EXPECT_EQ(t.iterateOrder, 1);
  EXPECT_EQ(t.Ka, 512);
}

TEST(MatmulTiling, SaysWhenThereIsNone) {
  matmul_tiling::MatmulApiTiling choice;
  TCubeTiling t;
  EXPECT_EQ(choice.GetTiling(t), -1) << "no shape";
  choice.SetShape(64, 64, 64);
  EXPECT_EQ(choice.SetFixSplit(24, 64), -1) << "no whole fractals";
  EXPECT_EQ(choice.SetAType(P::GM, F::ND, DataType::DT_INT16), -1) << "no product of that type";
  choice.SetFixSplit(256, 256);
  EXPECT_EQ(choice.GetTiling(t), -1) << "256 KB of L0C";
  choice.SetFixSplit(64, 64);
  EXPECT_EQ(choice.GetTiling(t), 0);
  matmul_tiling::MultiCoreMatmulTiling few;
  few.SetDim(2);
  few.SetShape(512, 512, 64);
  few.SetSingleShape(128, 128, -1);
  EXPECT_EQ(few.GetTiling(t), -1) << "16 shares for 2 cores";
}

}  // namespace
}  // namespace twin_test
