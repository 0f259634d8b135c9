// SPDX-License-Identifier: Apache-2.0
// The stretch of addresses that GM is given out of, so that one comparison says whether a pointer points there. A program
// that is built with a sanitizer has none, nor one that may not reserve so much: GM lies anywhere then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace twin {

struct GmBounds {
  std::uintptr_t begin = 0, bytes = 0;
  bool contain(std::uintptr_t address) const { return address - begin < bytes; }
};
extern GmBounds gm_bounds __attribute__((visibility("hidden")));  // none before the first allocation

class GmRange {
 public:
  static GmRange& get();
  void* take(std::size_t bytes);                     // zeroed; null if there is no memory
  void give_back(void* pointer, std::size_t bytes);  // of take
  // What a kernel touches by mistake must not end the program: the page is there from now on.
  void make_accessible(std::uintptr_t address, std::size_t bytes);

 private:
  void reserve();
  std::uintptr_t place(std::size_t room);  // 0: none left

  bool reserved_ = false;
  std::uintptr_t fresh_ = 0;                      // nothing from here on was given out yet
  std::map<std::uintptr_t, std::size_t> vacant_;  // given back
};

}  // namespace twin
