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
namespace detail {
// An integer of any type, so that a kernel's own CeilDiv is always the better match beside `using namespace matmul`.
struct AnyInteger {
  template <class N, class = std::enable_if_t<std::is_integral<N>::value>>
  constexpr AnyInteger(N n) : value(static_cast<std::int64_t>(n)) {}  // NOLINT: implicit is the point
  std::int64_t value;
};
}  // namespace detail
// a / b rounded up; no page of the reference has it, but kernels use it.
TWIN_API constexpr std::int32_t CeilDiv(detail::AnyInteger a, detail::AnyInteger b) {
  return static_cast<std::int32_t>((a.value + b.value - 1) / b.value);
}
using AscendC::GetMatmulApiTiling;
using AscendC::Matmul;
using AscendC::MatmulApiStaticTiling;
using AscendC::MatmulCallBackFunc;
using AscendC::MatmulImpl;
using AscendC::MatmulPolicy;
using AscendC::MatmulType;
}  // namespace matmul
