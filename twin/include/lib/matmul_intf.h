// SPDX-License-Identifier: Apache-2.0
// Matmul, the high-level matrix product, as kernels include it. In a mix kernel the vector cores call it and the cube core
// serves them: from REGIST_MATMUL_OBJ on it does nothing else, and then leaves the function. With ASCENDC_CUBE_ONLY defined
// before this header the cube core calls it itself.
#pragma once

#include "ascendc/matmul.hpp"
#include "kernel_operator.h"
#include "kernel_tiling/kernel_tiling.h"

#if defined(ASCENDC_CUBE_ONLY)
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...) \
  ((void)::AscendC::detail::register_matmul(false, ::twin::Site::here(), tpipe, workspace, __VA_ARGS__))
#else
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...) \
  while (::AscendC::detail::register_matmul(true, ::twin::Site::here(), tpipe, workspace, __VA_ARGS__)) return
#endif
#define REGIST_CUBE_OBJ REGIST_MATMUL_OBJ

using AscendC::GetSysWorkSpacePtr;  // kernels name it so in REGIST_MATMUL_OBJ

namespace matmul {
using AscendC::GetMatmulApiTiling;
using AscendC::Matmul;
using AscendC::MatmulApiStaticTiling;
using AscendC::MatmulCallBackFunc;
using AscendC::MatmulImpl;
using AscendC::MatmulPolicy;
using AscendC::MatmulType;
}  // namespace matmul
