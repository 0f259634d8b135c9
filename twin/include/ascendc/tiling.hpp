// SPDX-License-Identifier: Apache-2.0
// Tiling data, kernel types, and a message for what is missing.
#pragma once

#include "ascendc/tensor.hpp"

// twincc reads the kernel's type from the source: a launch must know it before the kernel begins.
#define KERNEL_TASK_TYPE_DEFAULT(type)
#define KERNEL_TASK_TYPE(key, type)

#define REGISTER_TILING_DEFAULT(Struct) using TwinTilingData [[maybe_unused]] = Struct
#define REGISTER_TILING_FOR_TILINGKEY(condition, Struct)
#define GET_TILING_DATA(name, address) \
  TwinTilingData name;                 \
  std::memcpy(static_cast<void*>(&name), address, sizeof name)
#define GET_TILING_DATA_WITH_STRUCT(Struct, name, address) \
  Struct name;                                             \
  std::memcpy(static_cast<void*>(&name), address, sizeof name)
#define TILING_KEY_IS(key) (::twin::tiling_key() == (key))

#define ASCENDC_ASSERT(condition, action) \
  do {                                    \
    if (!(condition)) {                   \
      action;                             \
    }                                     \
  } while (false)
#define PRINTF printf

namespace AscendC {

TWIN_API std::uint8_t* GetUserWorkspace(std::uint8_t* workspace) { return workspace; }

namespace detail {
template <class...>
inline constexpr bool kNever = false;
}
#define TWIN_MISSING(name)                                                                                          \
  template <class... A>                                                                                             \
  void name(A&&...) {                                                                                               \
    static_assert(detail::kNever<A...>, "AscendC::" #name " is not covered by the twin yet, see docs/twin_api.md"); \
  }
#include "ascendc/missing.inc"
#undef TWIN_MISSING

}  // namespace AscendC
