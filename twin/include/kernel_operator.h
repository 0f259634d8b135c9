// SPDX-License-Identifier: Apache-2.0
// The one header of an Ascend C kernel, as the twin has it.
#pragma once

#define TWIN_KERNEL_HEADERS 1  // for twin_hint.h

#include "ascendc/compare.hpp"
#include "ascendc/constants.hpp"
#include "ascendc/debug.hpp"
#include "ascendc/fill.hpp"
#include "ascendc/filter.hpp"
#include "ascendc/fixpipe_params.hpp"
#include "ascendc/fused.hpp"
#include "ascendc/language.hpp"
#include "ascendc/matrices.hpp"
#include "ascendc/norm.hpp"
#include "ascendc/norm_grad.hpp"
#include "ascendc/operators.hpp"
#include "ascendc/pad.hpp"
#include "ascendc/pool.hpp"
#include "ascendc/quant.hpp"
#include "ascendc/raw.hpp"
#include "ascendc/raw_cube.hpp"
#include "ascendc/rearrange.hpp"
#include "ascendc/reduce.hpp"
#include "ascendc/slices.hpp"
#include "ascendc/softmax.hpp"
#include "ascendc/softmax_steps.hpp"
#include "ascendc/sort.hpp"
#include "ascendc/system.hpp"
#include "ascendc/tensor_list.hpp"
#include "ascendc/tiling.hpp"
#include "ascendc/transpose.hpp"
#include "ascendc/unqualified.hpp"
