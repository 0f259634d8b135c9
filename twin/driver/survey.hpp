// SPDX-License-Identifier: Apache-2.0
// What a source uses and includes, as far as its words alone say.
#pragma once

#include "rewrite.hpp"
#include "words.hpp"

namespace twincc {

void survey(const Words& words, Source* out);

}  // namespace twincc
