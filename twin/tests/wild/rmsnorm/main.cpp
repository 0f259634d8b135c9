// SPDX-License-Identifier: Apache-2.0
// The vendor's CPU mode as a host: memory of GmAlloc, the tiling key set by hand, the platform asked for cores.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "op_host/rms_norm_tiling.h"
#include "tikicpulib.h"
#include "tiling/platform/platform_ascendc.h"

extern "C" __global__ __aicore__ void rms_norm(GM_ADDR x, GM_ADDR residual, GM_ADDR gamma, GM_ADDR y, GM_ADDR workspace,
                                               GM_ADDR tiling);
extern "C" __global__ __aicore__ void epsilon_of(GM_ADDR y, GM_ADDR tiling);

int main() {
  const uint32_t rows = 11, cols = 128;
  auto* platform = platform_ascendc::PlatformAscendCManager::GetInstance();
  const uint32_t cores = std::min<uint32_t>(platform->GetCoreNumAiv(), 4);
  optiling::RmsNormTilingData tiling;
  uint32_t first[48] = {};
  for (uint32_t c = 0; c < cores; ++c) first[c] = rows * c / cores;
  tiling.set_rows(rows);
  tiling.set_cols(cols);
  tiling.set_firstRow(first);
  tiling.basics.set_epsilon(1e-5f);
  tiling.basics.set_usedCores(cores);

  const size_t bytes = rows * cols * sizeof(half);
  auto* x = (uint8_t*)AscendC::GmAlloc(bytes);
  auto* r = (uint8_t*)AscendC::GmAlloc(bytes);
  auto* g = (uint8_t*)AscendC::GmAlloc(cols * sizeof(half));
  auto* y = (uint8_t*)AscendC::GmAlloc(bytes);
  auto* w = (uint8_t*)AscendC::GmAlloc(1024);
  auto* t = (uint8_t*)AscendC::GmAlloc(tiling.GetDataSize());
  tiling.SaveToBuffer(t, tiling.GetDataSize());
  half *hx = (half*)x, *hr = (half*)r, *hg = (half*)g, *hy = (half*)y;
  for (uint32_t i = 0; i < rows * cols; ++i) {
    hx[i] = std::sin(0.37 * i);
    hr[i] = std::cos(0.11 * i);
  }
  for (uint32_t i = 0; i < cols; ++i) hg[i] = 1 + 0.01 * i;

  double worst = 0;
  for (const bool residual : {false, true}) {
    AscendC::SetKernelMode(AscendC::KernelMode::AIV_MODE);
    ICPU_SET_TILING_KEY(residual ? 11 : 10);
    ICPU_RUN_KF(rms_norm, cores, x, r, g, y, w, t);
    for (uint32_t row = 0; row < rows; ++row) {
      double sum = 0;
      const auto value = [&](uint32_t c) {
        return double(float(hx[row * cols + c])) + (residual ? float(hr[row * cols + c]) : 0);
      };
      for (uint32_t c = 0; c < cols; ++c) sum += value(c) * value(c);
      for (uint32_t c = 0; c < cols; ++c) {
        const double want = value(c) / std::sqrt(sum / cols + 1e-5) * float(hg[c]);
        {
          const double off = std::fabs(want - float(hy[row * cols + c]));
          if (!(off <= worst)) worst = off;
        }
      }
    }
  }
  ICPU_SET_TILING_KEY(0);
  std::memcpy(t, &tiling.basics, sizeof tiling.basics);
  ICPU_RUN_KF(epsilon_of, 1, y, t);
  float epsilon;
  std::memcpy(&epsilon, y, sizeof epsilon);
  for (uint8_t* p : {x, r, g, y, w, t}) AscendC::GmFree(p);
  std::printf("rmsnorm: largest difference %.3g (bound 0.004), epsilon %g\n", worst, epsilon);
  return worst < 0.004 && epsilon == 1e-5f ? 0 : 1;
}
