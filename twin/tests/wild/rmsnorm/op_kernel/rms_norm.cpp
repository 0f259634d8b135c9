// SPDX-License-Identifier: Apache-2.0
// RMSNorm as an operator project writes it: the kernel takes tensors, workspace and tiling, and branches on the tiling key.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"  // included from habit, nothing of it is used

using namespace AscendC;

template <typename T, bool kResidual>
class RmsNorm {
 public:
  __aicore__ inline RmsNorm() = default;
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR residual, GM_ADDR gamma, GM_ADDR y, uint32_t cols, float epsilon) {
    cols_ = cols;
    epsilon_ = epsilon;
    x_.SetGlobalBuffer((__gm__ T*)x);
    residual_.SetGlobalBuffer((__gm__ T*)residual);
    gamma_.SetGlobalBuffer((__gm__ T*)gamma, cols);
    y_.SetGlobalBuffer((__gm__ T*)y);
    pipe.InitBuffer(in_, 2, cols * sizeof(T));
    pipe.InitBuffer(in2_, 1, cols * sizeof(T));
    pipe.InitBuffer(weight_, 1, cols * sizeof(T));
    pipe.InitBuffer(out_, 2, cols * sizeof(T));
    pipe.InitBuffer(a_, cols * sizeof(float));
    pipe.InitBuffer(b_, cols * sizeof(float));
    pipe.InitBuffer(g_, cols * sizeof(float));
    pipe.InitBuffer(sum_, 32);
  }
  __aicore__ inline void Process(uint64_t first, uint64_t last) {
    LocalTensor<T> w = weight_.template AllocTensor<T>();
    DataCopy(w, gamma_, cols_);
    weight_.EnQue(w);
    w = weight_.template DeQue<T>();
    Cast(g_.Get<float>(), w, RoundMode::CAST_NONE, cols_);
    weight_.FreeTensor(w);
    for (uint64_t row = first; row < last; ++row) {
      CopyIn(row);
      Compute();
      CopyOut(row);
    }
  }

 private:
  __aicore__ inline void CopyIn(uint64_t row) {
    LocalTensor<T> x = in_.template AllocTensor<T>();
    DataCopy(x, x_[row * cols_], cols_);
    in_.EnQue(x);
    if constexpr (kResidual) {
      LocalTensor<T> r = in2_.template AllocTensor<T>();
      DataCopy(r, residual_[row * cols_], cols_);
      in2_.EnQue(r);
    }
  }
  __aicore__ inline void Compute() {
    LocalTensor<T> x = in_.template DeQue<T>();
    LocalTensor<float> a = a_.Get<float>(), b = b_.Get<float>(), sum = sum_.Get<float>();
    Cast(a, x, RoundMode::CAST_NONE, cols_);
    in_.FreeTensor(x);
    if constexpr (kResidual) {
      LocalTensor<T> r = in2_.template DeQue<T>();
      Cast(b, r, RoundMode::CAST_NONE, cols_);
      in2_.FreeTensor(r);
      PipeBarrier<PIPE_V>();
      Add(a, a, b, cols_);
    }
    PipeBarrier<PIPE_V>();
    Mul(b, a, a, cols_);
    PipeBarrier<PIPE_V>();
    ReduceSum(sum, b, b, cols_);
    PipeBarrier<PIPE_V>();
    Muls(sum, sum, 1.0f / cols_, 1);
    PipeBarrier<PIPE_V>();
    Adds(sum, sum, epsilon_, 1);
    PipeBarrier<PIPE_V>();
    Sqrt(sum, sum, 1);
    event_t event = static_cast<event_t>(pipe.FetchEventID(HardEvent::V_S));
    set_flag(PIPE_V, PIPE_S, event);
    wait_flag(PIPE_V, PIPE_S, event);
    float inverse = 1 / sum.GetValue(0);
    event = static_cast<event_t>(pipe.FetchEventID(HardEvent::S_V));
    set_flag(PIPE_S, PIPE_V, event);
    wait_flag(PIPE_S, PIPE_V, event);
    Muls(a, a, inverse, cols_);
    pipe_barrier(PIPE_V);
    Mul(a, a, g_.Get<float>(), cols_);
    pipe_barrier(PIPE_V);
    LocalTensor<T> y = out_.template AllocTensor<T>();
    Cast(y, a, RoundMode::CAST_RINT, cols_);
    out_.template EnQue<T>(y);
  }
  __aicore__ inline void CopyOut(uint64_t row) {
    LocalTensor<T> y = out_.template DeQue<T>();
    DataCopy(y_[row * cols_], y, cols_);
    out_.FreeTensor(y);
  }

  TPipe pipe;
  TQue<QuePosition::VECIN, 2> in_;
  TQue<QuePosition::VECIN, 1> in2_, weight_;
  TQue<QuePosition::VECOUT, 2> out_;
  TBuf<QuePosition::VECCALC> a_, b_, g_, sum_;
  GlobalTensor<T> x_, residual_, gamma_, y_;
  uint32_t cols_ = 0;
  float epsilon_ = 0;
};

// The struct of the host by the name that the vendor's build gives it, which is in no namespace.
__aicore__ inline uint64_t last_row(const RmsNormTilingData& data, uint32_t core) {
  return core + 1 < data.basics.usedCores ? data.firstRow[core + 1] : data.rows;
}

extern "C" __global__ __aicore__ void rms_norm(GM_ADDR x, GM_ADDR residual, GM_ADDR gamma, GM_ADDR y, GM_ADDR workspace,
                                               GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  if (workspace == nullptr || GetUserWorkspace(workspace) == nullptr) return;
  const auto core = GetBlockIdx();
  const uint64_t first = data.firstRow[core];
  const uint64_t last = last_row(data, core);
  if (TILING_KEY_IS(10)) {
    RmsNorm<half, false> op;
    op.Init(x, residual, gamma, y, data.cols, data.basics.epsilon);
    op.Process(first, last);
  } else if (TILING_KEY_IS(11)) {
    RmsNorm<half, true> op;
    op.Init(x, residual, gamma, y, data.cols, data.basics.epsilon);
    op.Process(first, last);
  }
}

// A struct that the kernel names, and a member of another.
extern "C" __global__ __aicore__ void epsilon_of(GM_ADDR y, GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(optiling::RmsNormBasics);
  GET_TILING_DATA(data, tiling);
  GET_TILING_DATA_MEMBER(optiling::RmsNormBasics, usedCores, cores, tiling);
  if (cores == 0) return;
  GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)y, 8);
  LocalTensor<float> t(TPosition::VECCALC, 0, 8);
  Duplicate(t, data.epsilon, 8);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, t, 8);
}
