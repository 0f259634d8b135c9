// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include "tikicpulib.h"
extern "C" __global__ __aicore__ void twice(GM_ADDR x, GM_ADDR y, GM_ADDR tiling);
int main() {
  uint8_t* x = (uint8_t*)AscendC::GmAlloc(512);
  uint8_t* y = (uint8_t*)AscendC::GmAlloc(512);
  uint8_t* t = (uint8_t*)AscendC::GmAlloc(4);
  *(uint32_t*)t = 256;
  for (int i = 0; i < 512; ++i) x[i] = i;
  AscendC::SetKernelMode(AscendC::KernelMode::AIV_MODE);
  ICPU_RUN_KF(twice, 1, x, y, t);
  bool ok = true;
  for (int i = 0; i < 512; ++i) ok &= x[i] == y[i];
  printf("%d\n", ok);
  AscendC::GmFree(x);
  AscendC::GmFree(y);
  AscendC::GmFree(t);
  return ok ? 0 : 1;
}
