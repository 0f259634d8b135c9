// SPDX-License-Identifier: Apache-2.0
#include "base/convert.hpp"
#include "tessera/attention.hpp"
#include "tessera/implementations.hpp"
#include "tessera/merge.hpp"
#include "tessera/roofline.hpp"
#include "tessera/trace.hpp"
