// SPDX-License-Identifier: Apache-2.0
// The device compiler's keywords. twincc puts this header before every file, since a file may use them before it includes
// anything.
#pragma once

#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __inout__
#define __in__
#define __out__
#define __vector__
#define __cube__
#define __mix__(cube, vector)
#ifndef __force_inline__
#define __force_inline__ inline __attribute__((always_inline))
#endif
#ifndef __CCE_AICORE__
#define __CCE_AICORE__ 220
#endif
#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif
