// SPDX-License-Identifier: Apache-2.0
// A part of kernel_operator.h that some kernels include by itself.
#pragma once

#include "kernel_operator.h"
