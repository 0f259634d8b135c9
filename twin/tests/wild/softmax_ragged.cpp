// SPDX-License-Identifier: Apache-2.0
// Row softmax over rows of any length, in float on half data: explicit masks for the tail, repeats with strides, the core
// kind asked of the preprocessor, kernels in a namespace, and a struct passed by value.
#include <kernel_operator.h>

#include "host.h"

#if __CCE_AICORE__ != 220
#error "made for the 910B"
#endif

struct SoftmaxArgs {
  uint32_t rows;
  uint32_t cols;
  float scale;
};

namespace ops {
namespace ascend {

class Softmax {
 public:
  __aicore__ inline Softmax(const SoftmaxArgs& args) : args_(args) {}
  __aicore__ void Init(GM_ADDR x, GM_ADDR y);
  __aicore__ void Run() {
    for (uint32_t row = AscendC::GetBlockIdx(); row < args_.rows; row += AscendC::GetBlockNum()) Row(row);
  }

 private:
  __aicore__ void Row(uint32_t row);
  static constexpr uint32_t kLanes = 256 / sizeof(float);
  SoftmaxArgs args_;
  uint32_t padded_ = 0;
  AscendC::TPipe pipe_;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> in_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> out_;
  AscendC::TBuf<> buf_, lanes_;
  AscendC::GlobalTensor<half> x_, y_;
};

__aicore__ void Softmax::Init(GM_ADDR x, GM_ADDR y) {
  const uint64_t total = static_cast<uint64_t>(args_.rows) * args_.cols;
  x_.SetGlobalBuffer((__gm__ half*)x, total);
  y_.SetGlobalBuffer((__gm__ half*)y, total);
  padded_ = AscendC::AlignUp(args_.cols, kLanes);
  pipe_.InitBuffer(in_, 1, padded_ * sizeof(half));
  pipe_.InitBuffer(out_, 1, padded_ * sizeof(half));
  pipe_.InitBuffer(buf_, padded_ * sizeof(float));
  pipe_.InitBuffer(lanes_, kLanes * sizeof(float));
}

__aicore__ void Softmax::Row(uint32_t row) {
  using namespace AscendC;
  auto x = in_.AllocTensor<half>();
  DataCopyExtParams in_shape{1, static_cast<uint32_t>(args_.cols * sizeof(half)), 0, 0, 0};
  DataCopyPadExtParams<half> no_pad{false, 0, 0, 0};
  DataCopyPad(x, x_[static_cast<uint64_t>(row) * args_.cols], in_shape, no_pad);
  in_.EnQue(x);
  x = in_.DeQue<half>();

  LocalTensor<float> p = buf_.Get<float>(), lane = lanes_.Get<float>();
  const uint32_t whole = args_.cols / kLanes, tail = args_.cols % kLanes;
  Duplicate(p, -3.0e38f, padded_);
  PipeBarrier<PIPE_V>();
  if (whole) Cast(p, x, RoundMode::CAST_NONE, kLanes, whole, {1, 1, 8, 4});
  if (tail) {
    uint64_t mask[2] = {(1ULL << tail) - 1, 0};
    Cast(p[whole * kLanes], x[whole * kLanes], RoundMode::CAST_NONE, mask, 1, {1, 1, 8, 4});
  }
  in_.FreeTensor(x);
  PipeBarrier<PIPE_V>();
  Muls(p, p, args_.scale, args_.cols);
  PipeBarrier<PIPE_V>();
  // The maximum over repeats: a stride of 0 holds the destination still, which may then be the second source.
  Duplicate(lane, -3.0e38f, kLanes);
  PipeBarrier<PIPE_V>();
  Max(lane, p, lane, kLanes, padded_ / kLanes, {1, 1, 1, 0, 8, 0});
  PipeBarrier<PIPE_V>();
  WholeReduceMax<float>(lane, lane, kLanes, 1, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
  int32_t id = static_cast<int32_t>(pipe_.FetchEventID(HardEvent::V_S));
  SetFlag<HardEvent::V_S>(id);
  WaitFlag<HardEvent::V_S>(id);
  const float top = lane.GetValue(0);
  id = static_cast<int32_t>(pipe_.FetchEventID(HardEvent::S_V));
  SetFlag<HardEvent::S_V>(id);
  WaitFlag<HardEvent::S_V>(id);
  Adds(p, p, -top, args_.cols);
  PipeBarrier<PIPE_V>();
  Exp(p, p, args_.cols);
  PipeBarrier<PIPE_V>();
  ReduceSum(lane, p, lane, args_.cols);
  id = static_cast<int32_t>(pipe_.FetchEventID(HardEvent::V_S));
  SetFlag<HardEvent::V_S>(id);
  WaitFlag<HardEvent::V_S>(id);
  const float inverse = 1.0f / lane.GetValue(0);
  id = static_cast<int32_t>(pipe_.FetchEventID(HardEvent::S_V));
  SetFlag<HardEvent::S_V>(id);
  WaitFlag<HardEvent::S_V>(id);
  Muls(p, p, inverse, args_.cols);
  PipeBarrier<PIPE_V>();
  auto y = out_.AllocTensor<half>();
  Cast(y, p, RoundMode::CAST_ROUND, args_.cols);
  out_.EnQue(y);
  y = out_.DeQue<half>();
  DataCopyPad(y_[static_cast<uint64_t>(row) * args_.cols], y, in_shape);
  out_.FreeTensor(y);
}

__global__ __aicore__ void softmax_kernel(GM_ADDR x, GM_ADDR y, SoftmaxArgs args) {
  Softmax op(args);
  op.Init(x, y);
  op.Run();
}

}  // namespace ascend
}  // namespace ops

static double run(uint32_t rows, uint32_t cols) {
  Values values;
  std::vector<half> x(rows * cols);
  for (half& v : x) v = half(values.next() * 4);
  DeviceArray<half> dx(x), dy(x.size());
  const SoftmaxArgs args{rows, cols, 0.5f};
  ops::ascend::softmax_kernel<<<3, nullptr, nullptr>>>(dx.get(), dy.get(), args);
  CHECK_ACL(aclrtSynchronizeDevice());
  const std::vector<half> y = dy.read();
  double worst = 0;
  for (uint32_t r = 0; r < rows; ++r) {
    double top = -1e30, sum = 0;
    for (uint32_t c = 0; c < cols; ++c) top = std::max(top, 0.5 * double(float(x[r * cols + c])));
    for (uint32_t c = 0; c < cols; ++c) sum += std::exp(0.5 * double(float(x[r * cols + c])) - top);
    for (uint32_t c = 0; c < cols; ++c) {
      const double want = std::exp(0.5 * double(float(x[r * cols + c])) - top) / sum;
      worst = larger(worst, std::fabs(double(float(y[r * cols + c])) - want));
    }
  }
  return worst;
}

int main() { return verdict("softmax", std::max({run(5, 7), run(7, 64), run(4, 333), run(3, 1001)}), 2e-4); }
