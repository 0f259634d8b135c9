// SPDX-License-Identifier: Apache-2.0
// The mode that times a kernel without computing its values. What works on floating-point values, or in the cube's
// memories, is entered, checked and timed but not executed; what it would have written is marked as skipped. Integers,
// addresses, flags and scalar code go on as always. A value that the scalar unit needs although it was skipped gets a
// stand-in; if it got one, the launch is run again with others (stand_ins.hpp), and must issue the same instructions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "twin/types.hpp"

namespace twin {

class Core;
struct Launched;
struct Finding;
struct Record;

bool is_skipped(std::uint8_t state);
bool any_skipped(const std::uint8_t* state, std::uint64_t bytes);
// Of what this instruction would have written, in elements of that type.
std::uint8_t skipped_state(std::uint32_t site, const char* instruction, DType dtype = DType::U8);
DType skipped_dtype(std::uint8_t state);
std::string skipped_by(std::uint8_t state);  // "ReduceMax at softmax.asc:30"
// What the scalar unit gets instead of a skipped value: zero if the kernel gives a hint.
void stand_in(Core& core, DType dtype, std::uint8_t state, std::uint32_t site, void* value, std::uint32_t size_bytes);
// A later run: does the core still do what it did in the first one? If not, the whole launch stops.
void compare_with_first(Core& core, const Record& record);
void compare_end_with_first(Core& core);
// site: the line whose value made the difference; Rerun::kNoSite if several together did, kNobody if none.
Finding divergence(const Launched& first, const Launched& later, std::uint32_t site);
std::string hint_for_skipped();  // what to do about it
// Runs the launch again with other stand-ins, if the first run got any, and reports if it does something else.
using RunAgain = std::function<void(Launched& later)>;
void try_other_values(Launched& first, const RunAgain& run);
// GM as it was before the launch's first round.
void restore_gm(Launched& launched);
// At the end of a round: the bytes that stand-ins have taken the place of.
void take_stand_ins_away(Launched& launched);

}  // namespace twin
