// SPDX-License-Identifier: Apache-2.0
// y = relu(a · b + bias) in half on cube and vector cores: the core kind asked of the preprocessor, the compiler's own
// names, raw pointers with a memory each, buffers at addresses made by hand, one file of both kinds.
#include "kernel_operator.h"

#include "host.h"

#ifdef __DAV_C220_CUBE__
#define IS_CUBE 1
#else
#define IS_CUBE 0
#endif

constexpr uint32_t M = 64, N = 64, K = 96, C0 = 16;

#if defined(__DAV_C220_CUBE__)
__aicore__ inline void product(__gm__ half* a, __gm__ half* b, __gm__ float* c) {
  AscendC::GlobalTensor<half> ga, gb;
  AscendC::GlobalTensor<float> gc;
  ga.SetGlobalBuffer(a, M * K);
  gb.SetGlobalBuffer(b, K * N);
  gc.SetGlobalBuffer(c, M * N);
  AscendC::LocalTensor<half> l1a(AscendC::TPosition::A1, 0, M * K), l1b(AscendC::TPosition::B1, M * K * sizeof(half), K * N);
  AscendC::LocalTensor<half> l0a(AscendC::TPosition::A2, 0, M * K), l0b(AscendC::TPosition::B2, 0, K * N);
  AscendC::LocalTensor<float> l0c(AscendC::TPosition::CO1, 0, M * N);
  AscendC::Nd2NzParams nd;
  nd.ndNum = 1;
  nd.nValue = M;
  nd.dValue = K;
  nd.srcDValue = K;
  nd.dstNzC0Stride = M;
  nd.dstNzNStride = 1;
  AscendC::DataCopy(l1a, ga, nd);
  nd.nValue = K;
  nd.dValue = N;
  nd.srcDValue = N;
  nd.dstNzC0Stride = K;
  AscendC::DataCopy(l1b, gb, nd);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  for (uint32_t i = 0; i < M / C0; ++i) {
    AscendC::LoadData2DParams p;
    p.startIndex = i;
    p.repeatTimes = K / C0;
    p.srcStride = M / C0;
    AscendC::LoadData(l0a[i * K * C0], l1a, p);
  }
  for (uint32_t i = 0; i < K / C0; ++i) {
    AscendC::LoadData2DParams p;
    p.startIndex = i;
    p.repeatTimes = N / C0;
    p.srcStride = K / C0;
    p.ifTranspose = true;
    AscendC::LoadData(l0b[i * N * C0], l1b, p);
  }
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  AscendC::MmadParams mm(M, N, K, 0, false, true);
  AscendC::Mmad(l0c, l0a, l0b, mm);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  AscendC::FixpipeParamsV220 fix;
  fix.nSize = N;
  fix.mSize = M;
  fix.srcStride = M;
  fix.dstStride = N;
  fix.ndNum = 1;
  AscendC::Fixpipe<float, float, AscendC::CFG_ROW_MAJOR>(gc, l0c, fix);
  pipe_barrier(PIPE_ALL);
}
#elif defined(__DAV_C220_VEC__)
__aicore__ inline void epilogue(__gm__ float* c, __gm__ half* bias, __gm__ half* y) {
  constexpr uint32_t rows = M / 2;
  const uint32_t first = AscendC::GetSubBlockIdx() * rows;
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::QuePosition::VECCALC> buf;
  pipe.InitBuffer(buf, rows * N * 6 + N * 6);
  AscendC::LocalTensor<float> acc = buf.GetWithOffset<float>(rows * N, 0);
  AscendC::LocalTensor<half> out = buf.GetWithOffset<half>(rows * N, rows * N * 4);
  AscendC::LocalTensor<half> b16 = buf.GetWithOffset<half>(N, rows * N * 6);
  AscendC::LocalTensor<float> b32 = buf.GetWithOffset<float>(N, rows * N * 6 + N * 2);
  AscendC::GlobalTensor<float> gc;
  AscendC::GlobalTensor<half> gb, gy;
  gc.SetGlobalBuffer(c + first * N, rows * N);
  gb.SetGlobalBuffer(bias, N);
  gy.SetGlobalBuffer(y + first * N, rows * N);
  AscendC::DataCopy(acc, gc, rows * N);
  AscendC::DataCopy(b16, gb, N);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
  AscendC::Cast(b32, b16, AscendC::RoundMode::CAST_NONE, N);
  pipe_barrier(PIPE_V);
  AscendC::Add(acc, acc, b32, (uint64_t)64, rows, {1, 1, 1, 8, 8, 0});  // the same 64 of the bias for each row
  pipe_barrier(PIPE_V);
  AscendC::Relu(acc, acc, rows * N);
  pipe_barrier(PIPE_V);
  AscendC::Cast(out, acc, AscendC::RoundMode::CAST_RINT, rows * N);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
  AscendC::DataCopy(gy, out, rows * N);
  pipe_barrier(PIPE_ALL);
}
#endif

extern "C" __global__ __aicore__ void matmul_epilogue(__gm__ uint8_t* __restrict__ a, __gm__ uint8_t* __restrict__ b,
                                                      __gm__ uint8_t* __restrict__ bias, __gm__ uint8_t* __restrict__ y,
                                                      __gm__ uint8_t* __restrict__ work) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
#if defined(__DAV_C220_CUBE__)
  static_assert(IS_CUBE == 1, "one kind of core at a time");
  product((__gm__ half*)a, (__gm__ half*)b, (__gm__ float*)work);
  AscendC::CrossCoreSetFlag<2, PIPE_FIX>(3);
  (void)bias;
  (void)y;
#elif defined(__DAV_C220_VEC__)
  AscendC::CrossCoreWaitFlag(3);
  epilogue((__gm__ float*)work, (__gm__ half*)bias, (__gm__ half*)y);
  (void)a;
  (void)b;
#else
  (void)a, (void)b, (void)bias, (void)y, (void)work;
#endif
}

int main() {
  Values values;
  std::vector<half> a(M * K), b(K * N), bias(N);
  for (half& v : a) v = half(values.next());
  for (half& v : b) v = half(values.next());
  for (half& v : bias) v = half(values.next());
  DeviceArray<half> da(a), db(b), dbias(bias), dy(M * N);
  DeviceArray<float> dw(M * N);
  matmul_epilogue<<<1, nullptr, nullptr>>>(da.get(), db.get(), dbias.get(), dy.get(), dw.get());
  const std::vector<half> y = dy.read();
  double worst = 0;
  for (uint32_t i = 0; i < M; ++i) {
    for (uint32_t j = 0; j < N; ++j) {
      double sum = float(bias[j]);
      for (uint32_t k = 0; k < K; ++k) sum += double(float(a[i * K + k])) * float(b[k * N + j]);
      worst = larger(worst, std::fabs(std::max(sum, 0.0) - float(y[i * N + j])));
    }
  }
  return verdict("matmul with epilogue", worst, 0.01);
}
