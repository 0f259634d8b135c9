// SPDX-License-Identifier: Apache-2.0
// The tiling of the high-level libraries on the host.
#pragma once

#include "tiling/hccl_tiling.hpp"
#include "tiling/library_tiling.hpp"
#include "tiling/math_tiling.hpp"
#include "tiling/matmul_tiling.hpp"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/quant_tiling.hpp"
#include "tiling/transpose_tiling.hpp"
