// SPDX-License-Identifier: Apache-2.0
// The engine's inside. A launch (launched.hpp) makes Cores; each runs its kernel as a fiber. An instruction is one
// Instruction (instruction.hpp): the checker reads its accesses, the clock reads its cost, and the executor that made it
// does the arithmetic in between, in a core's Memory (memory.hpp).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "clock.hpp"
#include "device.hpp"
#include "instruction.hpp"
#include "memory.hpp"
#include "pages.hpp"
#include "standing.hpp"
#include "timing_only.hpp"
#include "twin/calls_cube.hpp"
#include "twin/engine.hpp"
#include "twin/report.hpp"

namespace twin {

// ---- sites ----
std::uint32_t site_id(const Site& site);
const Site& site_of(std::uint32_t id);
std::string to_string(const Site& site);

// ---- a core ----
struct Buffer {
  enum State { Idle, Allocated, Queued, Taken } state = Idle;
  std::uint64_t addr = 0, bytes = 0;
  std::uint32_t generation = 0;
  Queue* queue = nullptr;
  std::uint32_t tensor = 0;
  Handover filled, freed;  // what the flag of EnQue and of FreeTensor carries
  Pipe filled_by = Pipe::MTE2;
  bool used = false;   // freed is there
  bool placed = true;  // in L1, of a vector core: at the first AllocTensor
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
  bool shared = false;  // TSCM: the vector cores of a block have one and the same
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
  float sum = 0;  // WholeReduceSum and RepeatReduceSum: the last sum
  DType sum_dtype = DType::F32;
  std::uint8_t sum_state = kDefined;
  std::uint64_t kept = 0;             // GatherMask: elements
  std::uint8_t skipped = kUnwritten;  // the state of the last instruction that the timing-only mode skipped
  bool deq_given = false;
  float deq_scale[16] = {};  // SetDeqScale: one for all lanes, or one for each of sixteen
  std::int16_t deq_offset[16] = {};
  bool deq_signed[16] = {};
};

// A range of UB whose accesses are reported: by the scalar unit, the vector unit, the moves.
struct UbWatch {
  std::uint64_t begin = 0, end = 0;
  std::uint32_t site = 0;
  bool on = false, reads[3] = {}, writes[3] = {};
};

struct SkippedRead {
  std::uint32_t record;  // how many records the core had before
  std::uint32_t site;
  std::uint8_t state;
  DType dtype;
  double value;  // what it got
};

struct Aipp;  // twin/calls_aipp.hpp
struct CubeRegisters {
  std::uint32_t image_height = 0, image_width = 0;  // SetFmatrix
  std::uint8_t pads[4] = {};                        // left, right, top, bottom
  std::uint64_t padding = 0;                        // SetLoadDataPaddingValue
  bool hf32 = false, hf32_toward_zero = false;
  std::vector<std::uint8_t> sparse_index;  // two bits a byte of L0B, once LoadDataWithSparse has run
  FixpipeRegisters fixpipe;
  std::shared_ptr<const Aipp> aipp;  // SetAippFunctions
};

struct CrossSets {  // of one flag by one core
  int count = 0;
  std::uint32_t last_site = 0;
};

struct MatmulCore;  // matmul.hpp
struct HcclGroup;   // hccl.hpp

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
  std::array<UbWatch, 4> watches{};  // CheckLocalMemoryIA
  bool watching = false;
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
  std::uint64_t tscm_bytes = 0;            // of a cube core: taken from the end of L1 by TSCM queues of its vector cores
  std::vector<std::uint64_t> tscm_shared;  // where the buffers lie that both vector cores have, in the order of placing
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
  Pages<Record> trace;
  std::uint32_t appended = 0;
  // The timing-only mode: what the scalar unit read of skipped values, and the same core of the first run in later ones.
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

// Where a buffer of a vector core's TSCM queue lies in the L1 of its cube core. A copy there is its cube core's
// (matmul_tscm.cpp).
std::uint64_t tscm_place(std::uint64_t bytes, bool shared, Site site);
bool tscm_of_cube(const View& dst);
// A flag between cores of the kernel's own beside those of a Matmul that its cube core serves (matmul_server.cpp).
void matmul_meets_flag(const char* api, int id, Site site);
void tscm_copy(const View& dst, const View& src, const Blocks& blocks, Site site);
void tscm_copy(const View& dst, const View& src, const Nd2Nz& shape, Site site);

// Whether everything up to this event is complete, by this clock of the core.
inline bool knows(const Core& core, const Clock& clock, const Event& e) {
  return (e.core == core.index ? clock.own[int(e.pipe)] : clock.of(e.core, int(e.pipe))) >= e.time;
}
// The data cache. Before a scalar access of GM is checked (true: the line was invalidated and is read anew); after it; any
// other access of GM.
bool cache_before_load(Core& core, Memory& memory, std::uint64_t begin);
void cache_load(Core& core, Memory& memory, std::uint64_t begin, std::uint64_t end, std::uint32_t tensor, std::uint32_t site,
                const char* by);
void cache_store(Core& core, Memory& memory, std::uint64_t begin, std::uint64_t end, std::uint32_t tensor,
                 std::uint32_t site, const char* by);
// The row of what a scalar access costs: whether the core has the line. Lines are never evicted here.
const char* cache_cost(const Core& core, const Memory& memory, std::uint64_t begin);
void cache_meet(Core& core, Pipe pipe, const Access& access, const Event& now, const char* name);
void cache_clean_line(Core& core, Memory& memory, std::uint64_t line, const Event& now);
Clock as_foreign(const Core& core, const Clock& known);                                          // as other cores learn it
void learn_from_other(Core& core, const Clock& known, std::uint32_t token, std::uint32_t site);  // after a cross-core wait
CrossFlag::Delivery send_from(Pipe pipe, Site site);  // a message of this core, behind what the pipe has been given

std::string event_name(Pipe from, Pipe to);  // "MTE2_V"

Core& core();  // the one that runs
bool in_kernel();
bool in_launch();
void yield_core();  // lets the others run
void block_core_until(bool (*ready)(void*), void* context);
void report_standing(Core& stuck, std::uint32_t stopped);  // the waits of its own pipes whose sets have not come
void cross_deadlock(const Core& stuck);                    // reports who should have set what it waits for

void report(Finding finding);
void mute_reports(bool mute);
void place(Finding* finding, const View& view);  // fills in its tensor and range
std::string tensor_text(std::uint32_t tensor);   // "VECIN tensor of softmax.asc:12 at UB [0x0, 0x400)"; "" for 0
// How far behind its tensor a view of local memory begins; 0 if it begins inside of it, or nobody knows.
std::uint64_t behind_its_tensor(const View& view);
std::string hex_range(const std::string& memory, std::uint64_t begin, std::uint64_t end);
std::string format(const char* format, ...) __attribute__((format(printf, 1, 2)));
const std::vector<std::string>& cost_rows();  // the names behind Record::cost

}  // namespace twin
