// SPDX-License-Identifier: Apache-2.0
// What the cube's instructions share. Layouts:
//   L0A  Zz: fractals of 16 × C0 row-major, in rows       L0B  Zn: fractals of C0 × 16 column-major, in rows
//   L0C  Nz: fractals of 16 × 16 row-major, in columns    C0: 32 bytes of elements
#pragma once

#include <cstring>

#include "lanes.hpp"
#include "twin/calls_cube.hpp"

namespace twin {

inline constexpr std::uint64_t kFractalBytes = 512;

inline std::uint32_t up(std::uint32_t value, std::uint32_t to) { return (value + to - 1) / to * to; }

inline Path path_into(Space to, Space from) {
  if (from == Space::GM) return to == Space::L1 ? Path::GmToL1 : Path::GmToL0;
  return to == Space::L0A ? Path::L1ToL0a : Path::L1ToL0b;
}

// Unit flags (unit_flag.cpp): before issue().
void unit_flag_of_mmad(Instruction& i, const MmadCall& call, std::uint64_t c_bytes);
void unit_flag_of_fixpipe(Instruction& i, const FixpipeCall& call);

}  // namespace twin
