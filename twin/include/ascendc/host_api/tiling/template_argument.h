// SPDX-License-Identifier: Apache-2.0
// Tiling templates: an operator project's list of the template arguments that its kernel may be compiled for. The vendor's
// build makes one kernel of each; on the twin a template kernel is launched with its arguments, kernel<0><<<…>>>(…), so the
// list itself is not needed. What turns arguments into a tiling key on the host (GET_TPL_TILING_KEY) is not here.
#pragma once

#define ASCENDC_TPL_ARGS_DECL(op, ...) static_assert(true, "tiling template")
#define ASCENDC_TPL_SEL(...) static_assert(true, "tiling template")

#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8
#define ASCENDC_TPL_UI_RANGE 0
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2
