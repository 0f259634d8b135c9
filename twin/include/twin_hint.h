// SPDX-License-Identifier: Apache-2.0
// TWIN_HINT(value, assumed): the value; in the twin's timing-only mode `assumed`, if the value depends on data that was
// not computed. A loop of unknown length or a branch then goes the way it would usually go:
//
//   const float largest = TWIN_HINT(statistics.GetValue(0), 1.0f);
//   if (largest > threshold) Rescale();
//
// On the device, and in every other mode, it is its first argument. Copy this file beside a kernel that is built for both.
#pragma once

#if defined(TWIN_KERNEL_HEADERS)
#include "twin/engine.hpp"
#define TWIN_HINT(value, assumed) (::twin::hinted([&] { return (value); }, (assumed)))
#else
#define TWIN_HINT(value, assumed) (value)
#endif
