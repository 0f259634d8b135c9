// SPDX-License-Identifier: Apache-2.0
// In the style of an operator project for point clouds: tiling data without semicolons, no kernel type although the cores
// meet, whole tensors by operators, constants of the device's headers, a kernel named as a function of C, the TPipe as an
// argument, a tensor that goes through a queue of two positions in place.
#include "kernel_operator.h"
#include "register/tilingdata_base.h"

#include "host.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(BoxesTilingData)
TILING_DATA_FIELD_DEF(uint32_t, boxNum)
TILING_DATA_FIELD_DEF(uint32_t, blockNum)
TILING_DATA_FIELD_DEF(float, shrink)
END_TILING_DATA_DEF

REGISTER_TILING_DATA_CLASS(Boxes, BoxesTilingData)
}  // namespace optiling

using namespace AscendC;
using namespace optiling;

constexpr uint32_t TILE = 4 * B32_DATA_NUM_PER_REPEAT;

class KernelBoxes {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR out, GM_ADDR workspace, const BoxesTilingData* tiling,
                              TPipe* pipe) {
    pipe_ = pipe;
    tiles_ = Ceil(tiling->boxNum, TILE);
    shrink_ = tiling->shrink;
    xGm_.SetGlobalBuffer((__gm__ float*)x, tiling->boxNum);
    yGm_.SetGlobalBuffer((__gm__ float*)y, tiling->boxNum);
    outGm_.SetGlobalBuffer((__gm__ float*)out, tiling->boxNum);
    sumGm_.SetGlobalBuffer((__gm__ float*)workspace, tiling->blockNum * B32_DATA_NUM_PER_BLOCK);
    pipe_->InitBuffer(xQue_, 2, TILE * B32_BYTE_SIZE);
    pipe_->InitBuffer(yQue_, 2, TILE * B32_BYTE_SIZE);
    pipe_->InitBuffer(workBuf_, TILE * B32_BYTE_SIZE);
    pipe_->InitBuffer(sumBuf_, GetBlockNum() * ONE_BLK_SIZE);
  }
  __aicore__ inline void Process() {
    LocalTensor<float> sum = sumBuf_.AllocTensor<float>();
    Duplicate(sum, 0.0f, B32_DATA_NUM_PER_BLOCK);
    PipeBarrier<PIPE_ALL>();
    for (uint32_t i = GetBlockIdx(); i < tiles_; i += GetBlockNum()) Tile(i, sum);
    PipeBarrier<PIPE_ALL>();
    DataCopy(sumGm_[GetBlockIdx() * B32_DATA_NUM_PER_BLOCK], sum, B32_DATA_NUM_PER_BLOCK);
    PipeBarrier<PIPE_ALL>();
    SyncAll();
    DataCopy(sum, sumGm_, GetBlockNum() * B32_DATA_NUM_PER_BLOCK);
    PipeBarrier<PIPE_ALL>();
    float total = 0;
    for (uint32_t b = 0; b < GetBlockNum(); ++b) total += sum(b * B32_DATA_NUM_PER_BLOCK);
    for (uint32_t i = GetBlockIdx(); i < tiles_; i += GetBlockNum()) Shift(i, total);
  }

 private:
  // out = sqrt(x² + y²) · shrink, and the sum of a core's tiles.
  __aicore__ inline void Tile(uint32_t i, LocalTensor<float>& sum) {
    LocalTensor<float> x = xQue_.AllocTensor<float>(), y = yQue_.AllocTensor<float>(), work = workBuf_.Get<float>();
    DataCopy(x, xGm_[i * TILE], {1, TILE / B32_DATA_NUM_PER_BLOCK, 0, 0}, {});
    DataCopy(y, yGm_[i * TILE], TILE);
    xQue_.EnQue<TPosition::GM, TPosition::VECIN, float>(x);
    yQue_.EnQue(y);
    x = xQue_.DeQue<TPosition::GM, TPosition::VECIN, float>();
    y = yQue_.DeQue<float>();
    x = x * x;
    y = y * y;
    PipeBarrier<PIPE_V>();
    x = x + y;
    PipeBarrier<PIPE_V>();
    Sqrt(x, x, TILE);
    PipeBarrier<PIPE_V>();
    Muls(x, x, shrink_, TILE);
    PipeBarrier<PIPE_V>();
    ReduceSum(work, x, work, TILE);
    SetFlag<HardEvent::V_S>(EVENT_ID0);
    WaitFlag<HardEvent::V_S>(EVENT_ID0);
    sum(0) += work(0);
    yQue_.FreeTensor(y);
    xQue_.EnQue<TPosition::VECOUT, TPosition::GM, float>(x);
    x = xQue_.DeQue<TPosition::VECOUT, TPosition::GM, float>();
    DataCopy(outGm_[i * TILE], x, TILE);
    xQue_.FreeTensor(x);
    PipeBarrier<PIPE_ALL>();
  }
  __aicore__ inline void Shift(uint32_t i, float by) {
    LocalTensor<float> x = yQue_.AllocTensor<float>(), work = workBuf_.Get<float>();
    DataCopy(x, outGm_[i * TILE], TILE);
    yQue_.EnQue(x);
    x = yQue_.DeQue<float>();
    Duplicate(work, by, TILE);
    PipeBarrier<PIPE_V>();
    work = x - work;
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(outGm_[i * TILE], work, TILE);
    yQue_.FreeTensor(x);
    PipeBarrier<PIPE_ALL>();
  }
  TPipe* pipe_;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> xQue_;
  TQue<TPosition::VECIN, 1> yQue_;
  TBuf<TPosition::VECCALC> workBuf_, sumBuf_;
  GlobalTensor<float> xGm_, yGm_, outGm_, sumGm_;
  uint32_t tiles_;
  float shrink_;
};

extern "C" __global__ __aicore__ void hypot(GM_ADDR x, GM_ADDR y, GM_ADDR out, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(tilingData, tiling);
  TPipe pipe;
  KernelBoxes op;
  op.Init(x, y, out, GetUserWorkspace(workspace), &tilingData, &pipe);
  op.Process();
}

int main() {
  constexpr uint32_t kBoxes = 16 * 256, kBlocks = 6;
  Values random;
  std::vector<float> x(kBoxes), y(kBoxes);
  for (uint32_t i = 0; i < kBoxes; ++i) x[i] = random.next(), y[i] = random.next();
  optiling::BoxesTilingData t;
  t.set_boxNum(kBoxes);
  t.set_blockNum(kBlocks);
  t.set_shrink(1.0f / 4096);
  std::vector<uint8_t> raw(t.GetDataSize());
  t.SaveToBuffer(raw.data(), raw.size());
  DeviceArray<float> dx(x), dy(y), out(kBoxes), workspace(kBlocks * 8);
  DeviceArray<uint8_t> tiling(raw);
  hypot<<<kBlocks, nullptr, nullptr>>>(dx.get(), dy.get(), out.get(), workspace.get(), tiling.get());
  CHECK_ACL(aclrtSynchronizeStream(nullptr));
  double total = 0, worst = 0;
  for (uint32_t i = 0; i < kBoxes; ++i) total += std::hypot(x[i], y[i]) / 4096;
  const std::vector<float> got = out.read();
  for (uint32_t i = 0; i < kBoxes; ++i) worst = larger(worst, std::fabs(got[i] - (std::hypot(x[i], y[i]) / 4096 - total)));
  return verdict("boxes", worst, 1e-5);
}
