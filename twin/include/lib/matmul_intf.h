// SPDX-License-Identifier: Apache-2.0
// The high-level matrix product, which the twin does not have: a kernel that includes this header compiles until it uses
// one.
#pragma once

#include "kernel_operator.h"
#include "kernel_tiling/kernel_tiling.h"

enum class CubeFormat : std::uint8_t { ND, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR };

namespace matmul {

template <AscendC::TPosition kPosition, CubeFormat kFormat, class T, bool kTranspose = false>
struct MatmulType {
  constexpr static AscendC::TPosition pos = kPosition;
  constexpr static CubeFormat format = kFormat;
  using TRANS_T = T;
  using T_ = T;
};

template <class A, class...>
class Matmul {
  static_assert(
      AscendC::detail::kNever<A>,
      "matmul::Matmul (lib/matmul_intf.h) is not covered by the twin: write the product with DataCopy, LoadData, Mmad and "
      "Fixpipe, as twin/examples/matmul.asc does");
};

}  // namespace matmul
namespace AscendC {
using matmul::Matmul;
using matmul::MatmulType;
}  // namespace AscendC
