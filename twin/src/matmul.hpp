// SPDX-License-Identifier: Apache-2.0
// The inside of Matmul on a cube core. L1 of an object:
//   A slots | B slots | bias | quantisation scales       a slot: one transfer, stepM × stepKa base blocks (one without MDL)
// L0A, L0B, L0C and the BiasTable are shared by all objects of the core: halves where a base block fits into half.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "cube_common.hpp"
#include "twin/calls_matmul.hpp"

namespace twin {

// A flag between two pipes, as a queue keeps it: its id is of no interest.
struct MatmulFlag {
  Handover handover;
  Pipe from = Pipe::S;
  bool set = false;
};
inline MatmulFlag hand(Pipe from, Site site) { return {core().hand_over(from, site_id(site)), from, true}; }
inline void take(Pipe to, MatmulFlag& f, Site site) {
  if (f.set) core().take_over(to, f.handover, f.from, site_id(site));
  f.set = false;
}

// A or B, seen as a matrix of `outer` (M or N) by K. Lines in memory run along K, or, turned, along `outer`.
struct MatmulSide {
  View src;
  bool left = true, turned = false, nz = false;
  bool in_l1 = false;    // already, and whole
  bool all_one = false;  // each element has the bits of `value`
  std::uint64_t value = 0;
  std::uint32_t bits = 16, c0 = 16;        // of an element; elements in 32 bytes
  std::uint32_t outer = 0, k = 0;          // this object's share
  std::uint32_t org_outer = 0, org_k = 0;  // of the whole matrix
  std::uint32_t base = 0, base_k = 0, step = 1, step_k = 1;
  std::uint32_t identity = 0;  // of the tensor
  MatmulLoad load = nullptr;
  const MatmulState* state = nullptr;

  // What is turned is turned in squares: of one fractal of 16-bit, two of 8-bit (32 × 32) or 32-bit (16 × 16), four of 4-bit
  // elements (64 × 64).
  std::uint32_t square() const { return std::max(16u, 256 / bits); }
  std::uint32_t align() const { return turned ? square() : 16; }
  std::uint32_t k_align() const { return square(); }
  std::uint64_t bytes(std::uint64_t elements) const { return elements * bits / 8; }
  std::uint64_t slot_bytes() const {
    if (in_l1) return 0;
    return bytes(std::uint64_t{up(base * step, align())} * up(base_k * step_k, k_align()));
  }
};
struct MatmulPart {  // of a side
  std::uint32_t at, k_at, outer, k;
};
void matmul_load_l1(const MatmulSide& side, const MatmulPart& part, const View& to, Site site);
// `inner` counts from the begin of `part`, which lies in L1 at `from`. l0_outer: rows of fractals in L0, times 16.
void matmul_load_l0(const MatmulSide& side, const MatmulPart& part, const View& from, const MatmulPart& inner,
                    const View& to, std::uint32_t l0_outer, Site site);
// A row of numbers from GM to L1, and from L1, from number `first` on, to the BiasTable; half becomes float there.
void matmul_load_row(const View& to, const View& from, std::uint32_t first, std::uint32_t count, Site site);
void matmul_load_bias(const View& to, const View& from, std::uint32_t first, std::uint32_t count, Site site);

struct MatmulSlot {
  View view;
  std::uint32_t identity = 0;
  std::uint32_t outer = 0, k = 0;  // number of the transfer along each
  bool loaded = false;
  MatmulFlag filled, freed;
  std::int64_t needed = -1;  // the last step that needs it
  std::uint64_t used = 0;
};

struct MatmulObject {  // on a cube core
  std::uint64_t l1 = 0, l1_bytes = 0;
  std::uint64_t geometry[6] = {};  // slot bytes and counts, bias, scales
  std::vector<MatmulSlot> slots[2];
  MatmulSlot bias, scales;
  MatmulSlot whole[2];  // operands of TSCM
};

struct MatmulMessage {
  enum What : std::uint8_t { Compute, Fetch, All, Copy } what = All;
  MatmulClient client;
  MatmulState state;
  int sub = 0;
  std::int32_t block = 0;
  bool accumulate = false, answer = false, each = false;
  MatmulOut out;
  MatmulBatch batch;
  std::function<void()> copy;  // Copy: into L1
  View copied{};               // what it fills there
  Site site = Site::none();
  CrossFlag::Delivery sent;
};

// What lies in L1 for operands of TSCM, by copies of vector cores and by products.
struct MatmulTscm {
  std::uint64_t begin, end;
  MatmulFlag filled, freed;
};

// Of one core. On a cube core the buffers and what was asked; on a vector core the answers.
struct MatmulCore {
  int registered = 0;
  bool serving = false, alone = false;
  std::deque<MatmulMessage> inbox;
  std::map<std::uint32_t, CrossFlag::Delivery> answers;
  std::uint32_t tickets = 0;
  std::set<std::uint32_t> open;  // those given out whose answer nobody has waited for yet
  std::map<int, MatmulObject> objects;
  std::uint32_t registered_at = 0;                // the line of the first object
  std::vector<MatmulTscm> tscm;                   // of a cube core
  std::map<std::uint64_t, std::uint32_t> staged;  // of a vector core: by place in L1, the ticket of the last copy from UB
  MatmulFlag l0_free[2], l0c_free[2], bias_free[2];
  std::uint32_t l0_turn = 0, l0c_turn = 0, bias_turn = 0;
  std::int64_t step = 0;
  struct Computed {  // a block of C in L0C that nobody has fetched
    bool there = false, whole = false;
    int object = -1;
    View c;
    std::uint32_t l0c_m = 0, half = 0;
    MatmulFlag done;
  } computed[2];
};
MatmulCore& matmul_of(Core& core);
Core* cube_core_of(const Core& vector);

// On a cube core: a pipe is about to fill, or has filled, these bytes of L1; MTE1 is about to read, or has read them.
void tscm_before_fill(Pipe pipe, const View& l1, Site site);
void tscm_filled(Pipe pipe, const View& l1, Site site);
void tscm_before_read(const View& l1, Site site);
void tscm_freed(const View& l1, Site site);
// A tensor of a vector core's TSCM queue, as its cube core is told of it.
View tscm_for_cube(const View& tensor, Site site);

// Base blocks of C in L0C lie behind what InitBuffer has given to the kernel: two where they fit, else one.
struct MatmulRoom {
  std::uint64_t begin, half, whole;
};
MatmulRoom matmul_l0c(const Core& cube);

// As MatmulMessage says: computed here, or asked of the cube core. A message that is answered gets `tickets` tickets.
void matmul_call(MatmulClient& client, MatmulMessage message, std::uint32_t tickets);
// GM that the library keeps for a core: the same in every launch and every round of one.
View matmul_space(int object, int which, DType dtype, std::uint64_t bytes);

// What one call computes, on the cube core that runs.
class MatmulRun {
 public:
  MatmulRun(int object, const MatmulState& state, int sub, Site site);
  void compute(std::int32_t block, bool accumulate);
  void compute_into(const View& l0c, std::int32_t block, bool accumulate);  // where the kernel says
  void fetch(std::int32_t block, const MatmulOut& out);
  // after_each: called when a block has left L0C.
  template <class F>
  void all(const MatmulOut& out, F&& after_each) {
    const std::int32_t blocks = matmul_blocks_m(s_) * matmul_blocks_n(s_);
    begin(0, blocks);
    for (std::int32_t b = 0; b < blocks; ++b) {
      multiply(b, false);
      fetch(b, out);
      after_each();
    }
    done_with_l1();
  }

 private:
  void lay_out();
  void done_with_l1();
  void begin(std::int32_t first, std::int32_t blocks);
  void multiply(std::int32_t block, bool accumulate);
  void step(std::int32_t block, std::int32_t s, const View& c, bool first);
  void store(const FixpipeCall& call) const;  // by the kernel's DataCopyOut
  MatmulSlot* ensure(int which, std::int64_t u, std::int64_t now);
  void units(int which, std::int64_t u, std::uint32_t* outer, std::uint32_t* k) const;
  MatmulPart part(int which, std::uint32_t outer, std::uint32_t k) const;
  std::uint32_t choose_half();

  MatmulCore& core_;
  MatmulObject& o_;
  const MatmulState& s_;
  MatmulSide side_[2];
  MatmulCore::Computed& c_;
  int sub_;
  Site site_ = Site::none();
  std::int32_t k_steps_ = 1;
  std::int64_t first_step_ = 0, end_step_ = 0;  // of this call, counted over all calls of the core
  std::int32_t first_block_ = 0;
};

}  // namespace twin
