// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;
struct Tiling {
  uint32_t n;
};
extern "C" __global__ __aicore__ void twice(GM_ADDR x, GM_ADDR y, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  REGISTER_TILING_DEFAULT(Tiling);
  GET_TILING_DATA(t, tiling);
  GlobalTensor<half> gx, gy;
  gx.SetGlobalBuffer((__gm__ half*)x, t.n);
  gy.SetGlobalBuffer((__gm__ half*)y, t.n);
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> q;
  pipe.InitBuffer(q, 1, t.n * 2);
  auto a = q.AllocTensor<half>();
  DataCopy(a, gx, t.n);
  q.EnQue(a);
  a = q.DeQue<half>();
  DataCopy(gy, a, t.n);
  q.FreeTensor(a);
}
