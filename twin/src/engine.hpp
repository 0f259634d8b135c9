// SPDX-License-Identifier: Apache-2.0
// The engine's inside. A launch makes Cores; each runs its kernel as a fiber. An instruction is one Instruction record: the
// checker reads its accesses, the clock reads its cost, and the executor that made it does the arithmetic in between.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "clock.hpp"
#include "device.hpp"
#include "history.hpp"
#include "standing.hpp"
#include "timing_only.hpp"
#include "twin/calls_cube.hpp"
#include "twin/engine.hpp"
#include "twin/report.hpp"

namespace twin {

class Core;

// State of a byte. Values from kFirstOrigin on: undefined, and where that came from (Launch::origins).
inline constexpr std::uint8_t kUnwritten = 0;
inline constexpr std::uint8_t kDefined = 1;
inline constexpr std::uint8_t kFirstSkipped = 2;  // to kFirstOrigin: what the timing-only mode has not computed
inline constexpr std::uint8_t kFirstOrigin = 64;

// ---- the scalar unit's data cache ----
inline constexpr std::uint64_t kCacheLineBytes = 64;
// What one core has, or had, of one line of GM. Lines are never evicted here: a real cache may keep them, so a kernel must
// not count on the contrary.
struct CachedLine {
  std::uint16_t core = 0;
  bool present = false, invalidated = false;  // invalidated: by DataCacheCleanAndInvalid, since the last load
  std::uint64_t dirty = 0, cleaned = 0;       // bytes, one bit each: stored and not written back; written back in the past
  std::uint32_t load_site = 0, store_site = 0, store_time = 0, store_tensor = 0, clean_time = 0;
  Clock loaded;    // what the scalar unit knew to be complete when it loaded the line
  Clock released;  // what other cores learn from reading what was written back
};

// ---- atomic sums whose order decides the result ----
// Of the values added to one element of GM: with few bits each, every partial sum in any order is exact.
struct AtomicSum {
  float magnitude = 0;       // sum of |value|, rounded up
  std::int16_t lowest = 0;   // all values are multiples of 2^lowest
  std::uint8_t addends = 0;  // that are not zero; saturates
};
class AtomicSums {
 public:
  // Adds a value to the sum at this byte; `base`: what the element held before the first. True if the order of the addends
  // decides how the sum is rounded.
  bool add(std::uint64_t at, DType dtype, float base, float value);
  void forget(std::uint64_t begin, std::uint64_t end);  // somebody stored plain values there
  bool empty() const { return pages_.empty(); }
  void clear() { pages_.clear(); }

 private:
  static constexpr std::uint64_t kPage = 2048;
  std::map<std::uint64_t, std::vector<AtomicSum>> pages_;  // an entry each two bytes
};

// ---- memories ----
struct Memory {
  Space space = Space::UB;
  std::uint8_t* data = nullptr;
  std::uint8_t* state = nullptr;  // one a byte
  std::uint64_t bytes = 0;
  std::uint64_t device_bytes = 0;   // a core's: what the device has, which is less once a TPipe that took more was reported
  std::vector<std::uint8_t> grown;  // holds the larger one
  // GM: where the L2 model sees it. Given at the first touch in a launch, so that it depends on nothing that was before.
  std::uint64_t device_address = 0;
  std::uint64_t touched_in = 0;  // Launched::serial
  bool of_each_launch = false;   // GM of the library's own, which the device gives to each launch anew
  std::string name;
  History history{4096};
  AtomicSums sums;                                          // GM
  std::map<std::uint64_t, std::vector<CachedLine>> cached;  // GM: by line, one a core that has had it
  std::vector<std::uint8_t>
      fractal;  // L1, L0A, L0B: for each 32 bytes, 1 if they hold a row of a fractal made from a matrix
};

// Global memory: what aclrtMalloc and GmAlloc gave out.
class GlobalMemory {
 public:
  static GlobalMemory& get();
  void* allocate(std::size_t bytes, const char* by, bool of_each_launch = false);
  template <class F>
  void each_touched(std::uint64_t serial, F&& f) const {  // by the launch of that number, of what the program allocated
    for (const auto& [address, block] : blocks_) {
      if (block->live && !block->memory.of_each_launch && block->memory.touched_in == serial) f(block->memory);
    }
  }
  bool release(void* pointer);
  Memory* find(std::uint64_t address, bool* freed = nullptr);  // the live allocation that holds the address
  void forget_history();
  void mark_defined(const void* pointer, std::size_t bytes);  // a host copy into it

 private:
  struct Block {
    Memory memory;
    bool live = true;
  };
  std::map<std::uint64_t, std::unique_ptr<Block>> blocks_;  // by host address
  Memory* last_ = nullptr;
  int count_ = 0;
};

// ---- sites ----
std::uint32_t site_id(const Site& site);
const Site& site_of(std::uint32_t id);
std::string to_string(const Site& site);

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
  std::uint16_t cost = 0;  // row of the device's cost table
  const char* name = "";
  std::uint32_t site = 0;
  std::uint32_t token = 0;  // Set, Wait, CrossSet, CrossWait: what they hand over
  std::uint64_t units = 0;  // repeats, bytes or cycles, as the cost says
  std::uint32_t span_first = 0, span_count = 0;
  bool narrow = false;  // 16-bit elements
  double conflict = 1;  // factor on the repeats, from bank conflicts
};

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
  bool executes();
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
  bool skipped_operand_ = false;  // it was refused for that
  Tag tag_ = kPlain;
  Record record_;
  std::vector<Access>& accesses_;
};

bool all_defined(const std::uint8_t* state, std::uint64_t bytes);
std::uint8_t new_origin(const std::string& text);  // the state of values that come undefined from there

// ---- a core ----
struct Buffer {
  enum State { Idle, Allocated, Queued, Taken } state = Idle;
  std::uint64_t addr = 0, bytes = 0;
  std::uint32_t generation = 0;
  Queue* queue = nullptr;
  std::uint32_t tensor = 0;
  Handover filled, freed;  // what the flag of EnQue and of FreeTensor carries
  bool used = false;       // freed is there
  std::uint32_t site = 0;
};

struct Queue {
  const char* what;  // its position
  Space space;
  Pipe producer, consumer;
  int depth;
  std::uint64_t bytes;
  std::vector<std::uint32_t> buffers;  // numbers in Core::buffers
  std::deque<std::uint32_t> idle, waiting;
  std::uint32_t site;
};

struct Flag {
  bool set = false;
  std::uint32_t site = 0;
  Handover handover;
  std::uint32_t sets = 0, last_set = 0;  // so far, and the site of the last
  std::deque<EarlyWait> early;           // waits that were issued before their sets
  std::uint32_t given_up = 0;            // reported: their sets, should they come, release nobody
  std::uint32_t lost = 0;                // reported: sets of a flag that was set
  bool named = false;                    // reported: as the nearest set of a wait that nothing answers
};

struct CrossFlag {  // delivered to a core, not yet waited for
  struct Delivery {
    Clock clock;
    std::uint32_t token, site;
  };
  std::deque<Delivery> delivered;
};

// What vector instructions leave for, or take from, special registers.
struct VectorRegisters {
  std::uint32_t merged[4] = {};    // MrgSort: pairs taken of each list
  std::uint8_t compared[16] = {};  // Compare without a destination: a bit a lane
  std::uint8_t compared_state[16] = {};
  float extreme = 0;  // ReduceMax, ReduceMin and their Whole forms: the last value and its index
  std::uint32_t extreme_index = 0;
  float sum = 0;                      // WholeReduceSum and RepeatReduceSum: the last sum
  std::uint8_t skipped = kUnwritten;  // the state of the last instruction that the timing-only mode skipped
  bool deq_given = false;
  float deq_scale[16] = {};  // SetDeqScale: one for all lanes, or one for each of sixteen
  std::int16_t deq_offset[16] = {};
  bool deq_signed[16] = {};
};

struct SkippedRead {
  std::uint32_t record;  // how many records the core had before
  std::uint32_t site;
  std::uint8_t state;
};

struct CubeRegisters {
  std::uint32_t image_height = 0, image_width = 0;  // SetFmatrix
  std::uint8_t pads[4] = {};                        // left, right, top, bottom
  std::uint64_t padding = 0;                        // SetLoadDataPaddingValue
  bool hf32 = false, hf32_toward_zero = false;
  std::vector<std::uint8_t> sparse_index;  // two bits a byte of L0B, once LoadDataWithSparse has run
  FixpipeRegisters fixpipe;
};

struct CrossSets {  // of one flag by one core
  int count = 0;
  std::uint32_t last_site = 0;
};

struct MatmulCore;  // matmul.hpp

class Core {
 public:
  Core(int index, CoreKind kind, int block, int sub);

  std::string label() const;
  Event event(Pipe pipe, std::uint32_t site, Tag tag) {
    return {++issued[int(pipe)], site, 0, static_cast<std::uint16_t>(index), pipe, tag};
  }
  void check_order(Pipe pipe, Memory& memory, std::uint64_t begin, std::uint64_t end, bool write, const Event& now,
                   const char* name);
  void assume_order(const Event& old, Pipe pipe);  // it was reported: goes on as if the fix were there, so once a bug
  Clock completed(Pipe pipe) const;                // what is known once everything issued to the pipe is complete
  void learn(Pipe pipe, const Clock& clock);
  void learn_everywhere(const Clock& clock);  // as what the scalar unit has waited for
  Handover hand_over(Pipe from, std::uint32_t site);
  // A wait of the pipe `to`; it holds back if the set has not been executed.
  void take_over(Pipe to, const Handover& handover, Pipe from, std::uint32_t site);
  void keep(const std::shared_ptr<Promise>& promise, Pipe from, std::uint32_t site);  // the set of an early wait
  bool stands(Pipe pipe) const { return (standing >> int(pipe) & 1) != 0 && int(pipe) != going_on; }
  void hold_back(Pipe pipe, std::function<void()> run);
  // What the hardware orders without a flag.
  void follow(Pipe from, Pipe to, Site site) {
    if (stands(from)) take_over(to, hand_over(from, site_id(site)), from, site_id(site));
  }
  void need(Pipe pipe, Site site) {  // the scalar unit waits for it
    if (stands(pipe)) stop(site_id(site));
  }
  // The scalar unit waits for a pipe that stands, so that it will never reach the set: reports, and lets all pipes go on.
  void stop(std::uint32_t site);
  void synchronise(Pipe from, Pipe to, std::uint32_t site);  // a flag and its wait, at once
  void barrier(Pipe pipe, std::uint32_t site);
  std::uint32_t record_set(Pipe pipe, std::uint32_t site);
  void record_wait(Pipe pipe, std::uint32_t token, std::uint32_t site);
  void go_on();
  void append(const Record& record) {
    if (record.pipe != Pipe::ALL) ++activity[int(record.pipe)];
    if (first_round) {
      compare_with_first(*this, record);
    } else {
      trace.push_back(record);
    }
    ++appended;
  }

  int index, block, sub;
  CoreKind kind;
  std::array<Memory, kSpaces> memory;
  std::array<Clock, kPipes> clock;
  std::array<std::uint32_t, kPipes> issued{};
  std::array<std::uint64_t, kPipes> activity{};  // records of each pipe
  std::map<std::tuple<Pipe, Pipe, int>, Flag> flags;
  std::array<std::deque<HeldBack>, kPipes> held_back;
  std::uint32_t held_back_so_far = 0;
  std::uint32_t standing = 0;                                             // a bit a pipe: something is held back
  int going_on = -1;                                                      // the pipe whose instructions are executed late
  std::vector<std::pair<bool, std::uint32_t>>* issued_buffers = nullptr;  // then: as they were at issue
  std::map<std::pair<Pipe, Pipe>, std::uint8_t> events;                   // ids that AllocEventID gave out
  std::map<int, CrossFlag> cross;
  std::deque<Queue> queues;
  std::vector<Buffer> buffers{1};
  std::array<std::uint64_t, kSpaces> allocated{};
  std::array<std::uint64_t, kSpaces> outside_pool{};  // `allocated` while a pool hands out its part
  std::uint64_t mask[2] = {~0ull, ~0ull};
  bool mask_counts = false;
  Atomic atomic = Atomic::None;
  DType atomic_dtype = DType::F32;
  struct {  // SetPadValue
    bool given = false;
    DType dtype = DType::U8;
    std::uint64_t bits = 0;
  } pad_value;
  VectorRegisters registers;
  CubeRegisters cube;
  std::shared_ptr<MatmulCore> matmul;
  // Unit flags of L0C tiles, by a tile's begin: the last Mmad's flag, its end and line.
  struct UnitFlag {
    std::uint64_t end = 0;
    std::uint8_t value = 0;
    std::uint32_t site = 0;
  };
  std::map<std::uint64_t, UnitFlag> unit_flags;
  Clock unit_read;  // what the last Fixpipe with a unit flag has read: a Mmad with one waits for it
  std::uint32_t tokens = 0;
  std::uint32_t scalar_steps = 0;
  std::uint64_t polled = 0, polled_activity = 0;  // the address that it reads again and again, and what it did else before
  std::uint32_t polls = 0;
  std::vector<Record> trace;
  std::uint32_t appended = 0;
  // The timing-only mode: what the scalar unit read of skipped values, and the same core of the first round in later ones.
  std::vector<SkippedRead> skipped_reads;
  const Core* first_round = nullptr;
  Record diverging;
  bool ended = false, hinting = false, hint_used = false;
  std::vector<GmSpan> spans;
  int waits_for = -1;  // the cross-core flag, while blocked
  int waits_mode = 0;
  std::string waits_text;          // or what else it waits for
  const Core* waits_on = nullptr;  // then: the block that should set it, and what it has set so far
  const CrossSets* waits_sets = nullptr;
  int turns = 0;  // how often it has waited for the block before it (WaitPreBlock)
  std::uint32_t waits_at = 0;
  bool started = false, finished = false;
  void* pipe = nullptr;
  bool pipe_flags = false;  // a TPipe has set its flags
  std::vector<std::uint8_t> storage;
  std::vector<Access> accesses;
  struct {  // an atomic store of another core, in no order to the one that is being executed
    Memory* memory = nullptr;
    std::uint64_t begin = 0, end = 0;
    Event old, now;
  } atomic_other;
  std::vector<std::pair<Memory*, std::uint64_t>> cached;  // lines in its data cache
};

// Whether everything up to this event is complete, by this clock of the core.
inline bool knows(const Core& core, const Clock& clock, const Event& e) {
  return (e.core == core.index ? clock.own[int(e.pipe)] : clock.of(e.core, int(e.pipe))) >= e.time;
}
// The data cache. Before a scalar access of GM is checked (true: the line was invalidated and is read anew); after it; any
// other access of GM.
bool cache_before_load(Core& core, Memory& memory, std::uint64_t begin);
void cache_load(Core& core, Memory& memory, std::uint64_t begin, std::uint64_t end, std::uint32_t tensor,
                std::uint32_t site);
void cache_store(Core& core, Memory& memory, std::uint64_t begin, std::uint64_t end, std::uint32_t tensor,
                 std::uint32_t site);
void cache_meet(Core& core, Pipe pipe, const Access& access, const Event& now, const char* name);
void cache_clean_line(Core& core, Memory& memory, std::uint64_t line, const Event& now);
Clock as_foreign(const Core& core, const Clock& known);                                          // as other cores learn it
void learn_from_other(Core& core, const Clock& known, std::uint32_t token, std::uint32_t site);  // after a cross-core wait

std::string event_name(Pipe from, Pipe to);  // "MTE2_V"

Core& core();  // the one that runs
bool in_kernel();
void yield_core();  // lets the others run
void block_core_until(bool (*ready)(void*), void* context);
void report_standing(Core& stuck, std::uint32_t stopped);  // the waits of its own pipes whose sets have not come
void cross_deadlock(const Core& stuck);                    // reports who should have set what it waits for

// ---- a launch ----
struct Origin {
  std::string text;
};
struct Overwritten {  // GM before an instruction
  Memory* memory;
  std::uint64_t begin;
  std::vector<std::uint8_t> data, state;  // data empty: only the state changed
};
struct Launched {
  std::uint64_t serial = 0;  // from 1, over all launches of the program
  std::uint64_t next_device_address = 0;
  std::string kernel;
  KernelType type = KernelType::Unset;
  int blocks = 0, aiv_a_block = 1;
  bool has_aic = false, has_aiv = true, auto_sync = true;
  std::vector<std::unique_ptr<Core>> cores;
  std::vector<Origin> origins;
  std::uint32_t cross_tokens = 0;
  std::map<std::uint32_t, int> cross_token_sets;  // how many sets complete a token
  struct Arrivals {
    std::map<int, std::deque<std::pair<Clock, std::uint32_t>>> by_core;
  };
  std::map<std::tuple<int, int, int>, Arrivals> arrivals;               // (mode, id, group)
  std::map<std::tuple<int, int, int>, CrossSets> cross_sets;            // (core, mode, id)
  std::map<int, std::uint32_t> last_cross_set;                          // core: site
  std::map<std::tuple<std::uint64_t, int, int>, CrossSets> block_sets;  // as block_flags
  // Flags in GM between two blocks (IBSet), by workspace, block that sets, event.
  std::map<std::tuple<std::uint64_t, int, int>, std::deque<CrossFlag::Delivery>> block_flags;
  int at_once = 0;             // how many blocks the device runs at the same time
  bool type_reported = false;  // that flags between cores need another kernel type
  bool all_at_once = false;    // more are let in, since they wait for each other: reported where they do
  bool timing_only = false;
  int round = 0;
  const Core* diverged = nullptr;  // the core that did something else than in the first round
  std::vector<Overwritten> overwritten;
};
Launched& launched();
inline bool is_mix(KernelType type) {
  return type != KernelType::Unset && type != KernelType::AivOnly && type != KernelType::AicOnly;
}

void report(Finding finding);
void mute_reports(bool mute);
void place(Finding* finding, const View& view);  // fills in its tensor and range
std::string tensor_text(std::uint32_t tensor);   // "VECIN tensor of softmax.asc:12 at UB [0x0, 0x400)"; "" for 0
std::string hex_range(const std::string& memory, std::uint64_t begin, std::uint64_t end);
std::string format(const char* format, ...) __attribute__((format(printf, 1, 2)));
const std::vector<std::string>& cost_rows();  // the names behind Record::cost

}  // namespace twin
