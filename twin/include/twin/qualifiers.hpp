// SPDX-License-Identifier: Apache-2.0
// The device compiler's keywords. twincc puts this header before every file, since a file may use them before it includes
// anything.
#pragma once

#if defined(TWIN_DEVICE_CHECK)
// For `twincc --device-check`: the check finds kernels and their functions by these marks, in declarations and definitions.
// Attributes that every clang has, puts into LLVM's text, and that host code does not use. The ones made for such marks
// (assume, later omp::assume) have changed their name and where they may stand.
#define __aicore__ __attribute__((convergent))
#define __global__ __attribute__((disable_tail_calls, used))
#else
#define __aicore__
#define __global__
#endif

#if defined(TWIN_DEVICE_CHECK) && TWIN_DEVICE_CHECK == 2
// Its pass over pointers: each memory is another one to the compiler.
#define __gm__ __attribute__((address_space(1)))
#define __ubuf__ __attribute__((address_space(2)))
#define __cbuf__ __attribute__((address_space(3)))
#define __ca__ __attribute__((address_space(4)))
#define __cb__ __attribute__((address_space(5)))
#define __cc__ __attribute__((address_space(6)))
#define __fbuf__ __attribute__((address_space(7)))
#else
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#endif

#define __inout__
#define __in__
#define __out__
#define __vector__
#define __cube__
#define __mix__(cube, vector)
#ifndef __force_inline__
#define __force_inline__ inline __attribute__((always_inline))
#endif
#ifndef __forceinline__
#define __forceinline__ __force_inline__
#endif
#ifndef __CCE_AICORE__
#define __CCE_AICORE__ 220
#endif
#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif
