// SPDX-License-Identifier: Apache-2.0
// An instruction: what it touches and costs, from its issue to the record that the timing model replays.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "memory.hpp"
#include "twin/engine.hpp"
#include "twin/report.hpp"

namespace twin {

class Core;

// ---- what the timing model replays ----
enum class Step : std::uint8_t { Execute, Set, Wait, Barrier, CrossSet, CrossWait };
struct GmSpan {
  std::uint64_t address;  // device address
  std::uint32_t bytes;    // a row
  std::uint32_t rows;
  std::uint64_t stride;
};
struct Record {
  Step step = Step::Execute;
  Pipe pipe = Pipe::S;     // Set: the setter's pipe; Wait: the pipe that waits
  Path path = Path::None;  // a move
  bool gm_write = false;
  bool no_cache = false;
  bool narrow = false;     // 16-bit elements
  std::uint16_t cost = 0;  // row of the device's cost table
  const char* name = "";
  std::uint32_t site = 0;
  std::uint32_t token = 0;  // Set, Wait, CrossSet, CrossWait: what they hand over
  std::uint64_t units = 0;  // repeats, bytes or cycles, as the cost says
  std::uint32_t span_first = 0, span_count = 0;
  double conflict = 1;  // factor on the repeats, from bank conflicts
};
static_assert(sizeof(Record) == 48, "a launch has millions of them");

// ---- an instruction ----
struct Access {
  Memory* memory;
  std::uint64_t begin, end;
  std::uint32_t tensor;
  bool write;
};

class Instruction {
 public:
  Instruction(Pipe pipe, const char* name, Site site);

  // Declare what it touches. Neighbours are joined; an access outside of its tensor or memory is reported, and stops it.
  void read(const View& view, std::uint64_t offset, std::uint64_t bytes) { touch(view, offset, bytes, false); }
  void write(const View& view, std::uint64_t offset, std::uint64_t bytes) { touch(view, offset, bytes, true); }
  // Whether all of the first `bytes` of a tensor in local memory are there: any access inside of them is accepted.
  bool reaches(const View& view, std::uint64_t bytes) const;
  // As read and write, of a view that reaches: nothing is to be reported.
  void touch_inside(const View& view, std::uint64_t offset, std::uint64_t bytes, bool write) {
    if (skipped_operand_) return;
    if (view.dtype == DType::I4) check_int4(view);
    values_ |= (bit(view.dtype) & kFloats) != 0;
    note(inside(view.space), view.addr + offset, view.addr + offset + bytes, view.tensor, write);
  }
  void require_aligned(const View& view, std::uint32_t alignment, const char* operand);
  // Reports, and the instruction is not executed. Behind an `if`, so that its text is made only when it is needed: texts
  // cost more than a short instruction.
  void refuse(Kind kind, const std::string& what, const std::string& fix, const View* about = nullptr) {
    if (skipped_operand_) return;  // what follows from a skipped value is no finding of its own
    refused_ = true;
    complain(kind, what, fix, about);
  }
  void require(bool holds, Kind kind, const char* what, const char* fix, const View* about = nullptr) {
    if (!holds) refuse(kind, what, fix, about);
  }
  void require(bool holds, Kind kind, const std::string& what, const std::string& fix, const View* about = nullptr) {
    if (!holds) refuse(kind, what, fix, about);
  }
  // Reports like refuse, but lets the instruction go on as the hardware would.
  void complain(Kind kind, const std::string& what, const std::string& fix, const View* about = nullptr);
  bool refused() const { return refused_; }
  bool skipped() const { return skipped_; }  // issued, but not to be executed
  void take_int4() { takes_int4_ = true; }   // before its accesses: it knows that a byte holds two; the others refuse them
  void tag(Tag tag) { tag_ = tag; }
  void cost(const char* cost_row, std::uint64_t units, DType dtype = DType::U8);
  void move(Path path, std::uint64_t bytes);
  void conflict(double factor) { record_.conflict = std::max(record_.conflict, factor); }

  // Checks order and enters the instruction into its pipe. False: it was refused, or is skipped, and must not be executed.
  bool issue();

  Pipe pipe() const { return pipe_; }
  const char* name() const { return name_; }
  const Site& site() const { return site_; }
  std::uint8_t* bytes(const View& view) const;
  std::uint8_t* state(const View& view) const;
  std::uint8_t origin(const View& view, std::uint64_t offset);  // of a value that comes from memory nothing wrote
  // Undefined bytes are about to be used up. Reports the first, once.
  void use(const View& view, std::uint64_t offset, std::uint64_t bytes, const char* how);

 private:
  static constexpr std::uint32_t kFloats = bit(DType::F16) | bit(DType::BF16) | bit(DType::F32);
  Memory* inside(Space space) const;
  void note(Memory* memory, std::uint64_t begin, std::uint64_t end, std::uint32_t tensor, bool write) {
    if (!accesses_.empty()) {
      Access& last = accesses_.back();
      if (last.memory == memory && last.write == write && last.tensor == tensor && begin >= last.begin &&
          begin <= last.end) {
        last.end = std::max(last.end, end);
        return;
      }
    }
    accesses_.push_back({memory, begin, end, tensor, write});
  }
  bool executes();
  void meet_watches();
  void use_skipped(const View& view, std::uint8_t state, const char* how);
  void check_int4(const View& view);
  void touch(const View& view, std::uint64_t offset, std::uint64_t bytes, bool write);
  Memory* memory(const View& view, std::uint64_t offset, std::uint64_t bytes, bool write);
  bool given_back(const View& view) const;  // by FreeTensor

  Core& core_;
  Pipe pipe_;
  const char* name_;
  Site site_ = Site::none();
  bool refused_ = false;
  bool takes_int4_ = false;
  bool values_ = false;  // it reads or writes floating-point values
  bool skipped_ = false;
  DType written_ = DType::U8;     // of the last tensor in GM that it writes
  bool skipped_operand_ = false;  // it was refused for that
  Tag tag_ = kPlain;
  Record record_;
  std::vector<Access>& accesses_;
};

bool all_defined(const std::uint8_t* state, std::uint64_t bytes);
std::uint8_t new_origin(const std::string& text);  // the state of values that come undefined from there

}  // namespace twin
