// SPDX-License-Identifier: Apache-2.0
// Rotary embedding of a head, the two halves of a head rotated (neox) or its neighbours (interleaved). Kernel code of
// rope.cpp.
#pragma once

#include <type_traits>
#include "kernel_operator.h"
#include "kernel_type.h"

#define HOST_DEVICE __aicore__ inline

namespace rotary {

template <typename scalar_t>
struct Accumulate {
  using type = scalar_t;
};
template <>
struct Accumulate<bfloat16_t> {
  using type = float;
};

template <typename scalar_t, bool isNeox>
class Rope {
  using acc_t = typename Accumulate<scalar_t>::type;
  using Local = AscendC::LocalTensor<scalar_t>;
  using LocalAcc = AscendC::LocalTensor<acc_t>;

 public:
  HOST_DEVICE Rope() {}
  HOST_DEVICE void Init(__gm__ int64_t* positions, __gm__ void* x, __gm__ scalar_t* cache, __gm__ void* y, const int heads,
                        const int dim, AscendC::TPipe* pipe) {
    positions_ = positions;
    x_ = reinterpret_cast<__gm__ scalar_t*>(x);
    y_ = reinterpret_cast<__gm__ scalar_t*>(y);
    cache_ = cache;
    heads_ = heads;
    dim_ = dim;
    pipe_ = pipe;
    pipe_->InitBuffer(in_, 1, heads * dim * sizeof(scalar_t));
    pipe_->InitBuffer(inCache_, 1, dim * sizeof(scalar_t));
    pipe_->InitBuffer(out_, 1, heads * dim * sizeof(scalar_t));
    pipe_->InitBuffer(buf_, 6 * dim * sizeof(float));
    if constexpr (!isNeox) pipe_->InitBuffer(offsets_, 2 * dim * sizeof(uint32_t));
  }
  HOST_DEVICE void Token(int64_t token) {
    const int64_t position = positions_[token];
    cosSin_.SetGlobalBuffer(cache_ + position * dim_, dim_);
    src_.SetGlobalBuffer(x_ + token * heads_ * dim_, heads_ * dim_);
    dst_.SetGlobalBuffer(y_ + token * heads_ * dim_, heads_ * dim_);
    Local cs = inCache_.template AllocTensor<scalar_t>(), x = in_.template AllocTensor<scalar_t>();
    AscendC::DataCopy(cs, cosSin_, dim_);
    AscendC::DataCopy(x, src_, heads_ * dim_);
    inCache_.EnQue(cs);
    in_.EnQue(x);
    cs = inCache_.template DeQue<scalar_t>();
    x = in_.template DeQue<scalar_t>();
    Local y = out_.template AllocTensor<scalar_t>();
    LocalAcc trig = buf_.template GetWithOffset<acc_t>(dim_, 0);
    widen(trig, cs, dim_);
    for (int head = 0; head < heads_; ++head) Head<acc_t>(y[head * dim_], x[head * dim_], trig[0], trig[dim_ / 2]);
    inCache_.FreeTensor(cs);
    in_.FreeTensor(x);
    out_.EnQue(y);
    y = out_.template DeQue<scalar_t>();
    AscendC::DataCopy(dst_, y, heads_ * dim_);
    out_.FreeTensor(y);
  }

 private:
  template <typename T, typename std::enable_if<!std::is_same_v<T, scalar_t>, void>::type* = nullptr>
  HOST_DEVICE void widen(AscendC::LocalTensor<T> dst, Local src, int n) {
    Cast(dst, src, AscendC::RoundMode::CAST_NONE, n);
  }
  template <typename T, typename std::enable_if<std::is_same_v<T, scalar_t>, void>::type* = nullptr>
  HOST_DEVICE void widen(AscendC::LocalTensor<T> dst, Local src, int n) {
    Adds(dst, src, static_cast<T>(0), n);
  }
  template <typename T>
  HOST_DEVICE void narrow(Local dst, AscendC::LocalTensor<T> src, int n) {
    if constexpr (std::is_same_v<T, scalar_t>) {
      Adds(dst, src, static_cast<T>(0), n);
    } else {
      Cast(dst, src, AscendC::RoundMode::CAST_RINT, n);
    }
  }
  template <typename T>
  HOST_DEVICE void Head(Local dst, Local src, AscendC::LocalTensor<T> cosine, AscendC::LocalTensor<T> sine) {
    const int half_dim = dim_ / 2;
    LocalAcc x = buf_.template GetWithOffset<acc_t>(dim_, dim_ * sizeof(float));
    LocalAcc a = buf_.template GetWithOffset<acc_t>(dim_, 2 * dim_ * sizeof(float));
    LocalAcc b = buf_.template GetWithOffset<acc_t>(dim_, 3 * dim_ * sizeof(float));
    LocalAcc r = buf_.template GetWithOffset<acc_t>(dim_, 4 * dim_ * sizeof(float));
    widen(x, src, dim_);
    LocalAcc x0 = x, x1 = x[half_dim];
    if constexpr (!isNeox) {
      // Even lanes first, odd lanes behind them.
      LocalAcc even = buf_.template GetWithOffset<acc_t>(dim_, 5 * dim_ * sizeof(float));
      uint64_t kept = 0;
      const AscendC::GatherMaskParams shape{1, 1, 8, 8};
      AscendC::GatherMask(even, x, 1, true, dim_, shape, kept);
      AscendC::GatherMask(even[half_dim], x, 2, true, dim_, shape, kept);
      x0 = even;
      x1 = even[half_dim];
    }
    Mul(a, x0, cosine, half_dim);
    Mul(b, x1, sine, half_dim);
    Sub(r, a, b, half_dim);
    Mul(a, x1, cosine, half_dim);
    Mul(b, x0, sine, half_dim);
    Add(r[half_dim], a, b, half_dim);
    if constexpr (!isNeox) {
      // Back between each other: by offsets in bytes, which the scalar unit makes once a head.
      AscendC::LocalTensor<uint32_t> offsets = offsets_.template Get<uint32_t>();
      for (int i = 0; i < dim_; ++i) offsets.SetValue(i, ((i & 1) * half_dim + i / 2) * sizeof(acc_t));
      AscendC::TEventID id = pipe_->FetchEventID<AscendC::HardEvent::S_V>();
      AscendC::SetFlag<AscendC::HardEvent::S_V>(id);
      AscendC::WaitFlag<AscendC::HardEvent::S_V>(id);
      AscendC::Gather(a, r, offsets, 0, dim_);
      narrow(dst, a, dim_);
    } else {
      narrow(dst, r, dim_);
    }
  }

  AscendC::TPipe* pipe_;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> in_, inCache_;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> out_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buf_, offsets_;
  AscendC::GlobalTensor<scalar_t> src_, dst_, cosSin_;
  __gm__ int64_t* positions_;
  __gm__ scalar_t *x_, *y_, *cache_;
  int heads_, dim_;
};

}  // namespace rotary
