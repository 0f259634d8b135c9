// SPDX-License-Identifier: Apache-2.0
// The forms of instructions that take whole tensors: dst = a + b, and with - * / & | and comparisons. dst's length says how
// much is computed; of a comparison, whose dst has a bit an element, the length of a.
#pragma once

#include "ascendc/compare.hpp"

namespace AscendC {

namespace detail {
#define TWIN_WHOLE(name)                                                                            \
  template <class D, class T>                                                                       \
  void whole(const Whole<T, WholeOp::name>& e, const LocalTensor<D>& dst) {                         \
    static_assert(std::is_same<D, T>::value, #name " of whole tensors: the result has their type"); \
    AscendC::name(dst, e.a, e.b, static_cast<std::int32_t>(dst.GetSize()), e.site);                 \
  }
TWIN_WHOLE(Add)
TWIN_WHOLE(Sub)
TWIN_WHOLE(Mul)
TWIN_WHOLE(Div)
TWIN_WHOLE(And)
TWIN_WHOLE(Or)
#undef TWIN_WHOLE
#define TWIN_WHOLE(mode)                                                    \
  template <class D, class T>                                               \
  void whole(const Whole<T, WholeOp::mode>& e, const LocalTensor<D>& dst) { \
    AscendC::Compare(dst, e.a, e.b, CMPMODE::mode, e.a.GetSize(), e.site);  \
  }
TWIN_WHOLE(LT)
TWIN_WHOLE(GT)
TWIN_WHOLE(EQ)
TWIN_WHOLE(LE)
TWIN_WHOLE(GE)
TWIN_WHOLE(NE)
#undef TWIN_WHOLE
}  // namespace detail

}  // namespace AscendC
