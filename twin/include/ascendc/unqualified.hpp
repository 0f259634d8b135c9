// SPDX-License-Identifier: Apache-2.0
// ReduceSum<float>(dst, ...) without AscendC:: before it: the device compiler finds the function through its arguments, as
// C++20 does. In C++17 a compiler does so only if some template of that name is in sight. These are never the better match:
// they take nothing.
#pragma once

#if defined(__GNUC__) && __cplusplus < 202002L
#define TWIN_IN_SIGHT(name) \
  template <class>          \
  void name();
TWIN_IN_SIGHT(ReduceSum)
TWIN_IN_SIGHT(ReduceMax)
TWIN_IN_SIGHT(ReduceMin)
TWIN_IN_SIGHT(WholeReduceSum)
TWIN_IN_SIGHT(WholeReduceMax)
TWIN_IN_SIGHT(WholeReduceMin)
TWIN_IN_SIGHT(BlockReduceSum)
TWIN_IN_SIGHT(BlockReduceMax)
TWIN_IN_SIGHT(BlockReduceMin)
TWIN_IN_SIGHT(PairReduceSum)
TWIN_IN_SIGHT(Cast)
TWIN_IN_SIGHT(Duplicate)
TWIN_IN_SIGHT(Compare)
TWIN_IN_SIGHT(CompareScalar)
TWIN_IN_SIGHT(Gather)
TWIN_IN_SIGHT(GatherMask)
TWIN_IN_SIGHT(DataCopy)
TWIN_IN_SIGHT(DataCopyPad)
TWIN_IN_SIGHT(CreateVecIndex)
#undef TWIN_IN_SIGHT
#endif

using AscendC::GetTPipePtr;  // takes no argument that would lead to it; the device's headers declare it outside of AscendC
