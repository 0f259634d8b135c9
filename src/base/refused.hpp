// SPDX-License-Identifier: Apache-2.0
// What to say when memory is refused, where perhaps there is none left to say it with.
#pragma once

#include <new>
#include <string>

#include "tessera/types.hpp"

namespace tessera::base {

/// The message that text() makes; "out of memory", which fits a string's own buffer, when that is refused as well.
template <class Text>
Status refused(Text text) noexcept try {
  return Status::out_of_memory(text());
} catch (const std::bad_alloc&) {
  return Status::out_of_memory("out of memory");
}

inline Status refused(const char* what) noexcept {
  return refused([what] { return std::string(what) + ": memory was refused"; });
}

}  // namespace tessera::base
