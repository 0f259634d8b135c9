// SPDX-License-Identifier: Apache-2.0
// Kernels by macro for each type and order, and the function that host files call.
#include <stdio.h>
#include "../rope/rope_kernel.h"
#include "kernel_operator.h"
#include "rope_host.h"

#define ROPE_KERNEL(TYPE, NEOX)                                                                                             \
  extern "C" __global__ __aicore__ void rope_##NEOX##_##TYPE(__gm__ int64_t* positions, __gm__ void* x, __gm__ TYPE* cache, \
                                                             __gm__ void* y, const int heads, const int dim,                \
                                                             const int64_t tokens, const int cores) {                       \
    AscendC::TPipe pipe;                                                                                                    \
    rotary::Rope<TYPE, NEOX> op{};                                                                                          \
    op.Init(positions, x, cache, y, heads, dim, &pipe);                                                                     \
    for (int64_t i = AscendC::GetBlockIdx(); i < tokens; i += cores) op.Token(i);                                           \
  }

#define ROPE_KERNELS(TYPE) \
  ROPE_KERNEL(TYPE, true)  \
  ROPE_KERNEL(TYPE, false)

ROPE_KERNELS(half)
#if (__CCE_AICORE__ >= 220)
ROPE_KERNELS(bfloat16_t)
#endif
ROPE_KERNELS(float)

namespace rotary {

#define ROPE_CALL(TYPE)                                                                                                 \
  if (neox)                                                                                                             \
    rope_true_##TYPE<<<blocks, nullptr, stream>>>(positions, x, reinterpret_cast<TYPE*>(cache), y, heads, dim, tokens,  \
                                                  cores);                                                               \
  else                                                                                                                  \
    rope_false_##TYPE<<<blocks, nullptr, stream>>>(positions, x, reinterpret_cast<TYPE*>(cache), y, heads, dim, tokens, \
                                                   cores);

extern void rope_impl(Type type, bool neox, void* stream, int64_t* positions, void* x, void* cache, void* y, int heads,
                      int dim, int64_t tokens, uint32_t cores) {
  uint32_t blocks = tokens < cores ? static_cast<uint32_t>(tokens) : cores;
  if (type == Type::FP16) {
    ROPE_CALL(half);
  } else if (type == Type::BF16) {
    ROPE_CALL(bfloat16_t);
  } else if (type == Type::FP32) {
    ROPE_CALL(float);
  } else {
    return;
  }
}

}  // namespace rotary
