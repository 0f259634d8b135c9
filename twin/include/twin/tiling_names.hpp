// SPDX-License-Identifier: Apache-2.0
// The vendor's build makes the kernel's tiling struct, outside of every namespace, of the one that the host describes in
// optiling; kernels name it so. twincc puts this behind a header of the host that `-include` brings before the kernel.
#pragma once

namespace optiling {}
using namespace optiling;
