// SPDX-License-Identifier: Apache-2.0
// Matmul on the cube core: base block after base block of C, K in steps of baseK. Four pipes overlap:
//   MTE2 fills slots of L1 as far ahead as there are any   MTE1 fills one half of L0A and L0B   M multiplies out of the
//   other FIX empties one half of L0C, if a base block fits into half of it, while M fills the other
#include "matmul.hpp"

namespace twin {
namespace {

constexpr std::int64_t kAhead = 64;  // steps: more than 512 KB of L1 hold at sensible sizes

View local(Space space, const char* what, DType dtype, std::uint64_t at, std::uint64_t bytes, Site site) {
  View v;
  v.space = space;
  v.dtype = dtype;
  v.addr = at;
  v.bytes = bytes;
  v.tensor = declare_tensor(what, space, Maker::TPipe, at, bytes, site);
  return v;
}

MatmulSide side_of(const MatmulState& s, bool left) {
  MatmulSide d;
  const MatmulOperand& o = left ? s.a : s.b;
  d.left = left;
  d.src = o.view;
  d.src.dtype = left ? s.types.a : s.types.b;
  d.bits = size_bits(d.src.dtype);
  d.c0 = 256 / d.bits;
  d.all_one = o.all_one;
  d.value = o.value;
  d.turned = !o.all_one && (left ? o.turned : !o.turned);  // B's lines are rows of N, unless it is transposed
  d.in_l1 = o.in_l1;
  d.nz = (left ? s.types.a_format : s.types.b_format) == Matrix::NZ;
  d.outer = left ? s.m : s.n;
  d.k = s.k;
  d.org_outer = left ? s.org_m : s.org_n;
  d.org_k = left ? s.org_ka : s.org_kb;
  d.base = left ? s.tiling.baseM : s.tiling.baseN;
  d.base_k = s.tiling.baseK;
  d.load = left ? s.load_a : s.load_b;
  d.state = &s;
  if (s.types.large_loads && !d.load) {
    d.step = std::max(1, left ? s.tiling.stepM : s.tiling.stepN);
    d.step_k = std::max(1, left ? s.tiling.stepKa : s.tiling.stepKb);
  }
  return d;
}

std::size_t slots_of(const MatmulState& s, const MatmulSide& d) {
  const int depth = d.left ? s.tiling.depthA1 : s.tiling.depthB1;
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::max(depth, 1)) / (d.step * d.step_k));
}

}  // namespace

MatmulBlock matmul_block(const MatmulState& s, std::int32_t index) {
  const std::int32_t down = matmul_blocks_m(s), across = matmul_blocks_n(s);
  const bool along_n = (s.types.order >= 0 ? s.types.order : s.tiling.iterateOrder) == 1;
  const std::int32_t row = along_n ? index / across : index % down, column = along_n ? index % across : index / down;
  return {row * s.tiling.baseM, column * s.tiling.baseN, std::min(s.tiling.baseM, s.m - row * s.tiling.baseM),
          std::min(s.tiling.baseN, s.n - column * s.tiling.baseN)};
}

MatmulRun::MatmulRun(int object, const MatmulState& state, int sub, Site site)
    : core_(matmul_of(core())),
      o_(core_.objects[object]),
      s_(state),
      side_{side_of(state, true), side_of(state, false)},
      c_(core_.computed[sub]),
      sub_(sub),
      site_(site) {
  // Two vector cores may have tensors of the same number.
  for (int w = 0; w < 2; ++w) side_[w].identity = ((w ? s_.b : s_.a).generation * 2 + static_cast<std::uint32_t>(sub)) + 1;
  c_.object = object;
  k_steps_ = (s_.k + s_.tiling.baseK - 1) / s_.tiling.baseK;
  lay_out();
  set_hf32(s_.hf32);
  set_hf32_rounding(s_.hf32_toward_zero);
}

// L1 is taken once; another tiling that needs no more divides it anew.
void MatmulRun::lay_out() {
  const std::uint64_t a = side_[0].slot_bytes(), b = side_[1].slot_bytes(), na = slots_of(s_, side_[0]),
                      nb = slots_of(s_, side_[1]);
  const auto n = static_cast<std::uint64_t>(s_.tiling.baseN);
  const std::uint64_t bias = (s_.bias.set || s_.tiling.isBias) && !s_.bias.in_l1 ? (n * 4 + 63) / 64 * 64 : 0;
  const std::uint64_t scales = s_.scales_given ? (n * 8 + 31) / 32 * 32 : 0;
  const std::uint64_t geometry[6] = {a, na, b, nb, bias, scales};
  if (o_.l1_bytes && std::equal(geometry, geometry + 6, o_.geometry)) return;
  std::copy(geometry, geometry + 6, o_.geometry);
  const std::uint64_t needed = a * na + b * nb + bias + scales;
  if (needed > o_.l1_bytes) {
    o_.l1 = pipe_allocate(Space::L1, needed, "Matmul's part of L1: depthA1 and depthB1 base blocks", site_);
    o_.l1_bytes = needed;
  }
  // What is in there has been read before anything else is written.
  MatmulFlag idle = hand(Pipe::MTE1, site_);
  take(Pipe::MTE2, idle, site_);
  std::uint64_t at = o_.l1;
  for (int w = 0; w < 2; ++w) {
    o_.slots[w].assign(w ? nb : na, {});
    for (MatmulSlot& slot : o_.slots[w]) {
      slot.view = local(Space::L1, w ? "B1 of Matmul" : "A1 of Matmul", side_[w].src.dtype, at, w ? b : a, site_);
      at += w ? b : a;
    }
  }
  o_.bias = {};
  o_.scales = {};
  o_.bias.view = local(Space::L1, "C1 of Matmul", s_.types.bias, at, bias, site_);
  o_.scales.view = local(Space::L1, "scales of Matmul", DType::U64, at + bias, scales, site_);
}

void MatmulRun::begin(std::int32_t first, std::int32_t blocks) {
  first_block_ = first;
  first_step_ = core_.step;
  end_step_ = core_.step += std::int64_t{blocks} * k_steps_;
}

// The transfers that step u of this call needs of a side.
void MatmulRun::units(int w, std::int64_t u, std::uint32_t* outer, std::uint32_t* k) const {
  const std::int64_t nth = u - first_step_;
  const MatmulBlock block = matmul_block(s_, first_block_ + static_cast<std::int32_t>(nth / k_steps_));
  const MatmulSide& d = side_[w];
  *outer = static_cast<std::uint32_t>(w ? block.column : block.row) / (d.base * d.step);
  *k = static_cast<std::uint32_t>(nth % k_steps_) / d.step_k;
}

MatmulPart MatmulRun::part(int w, std::uint32_t outer, std::uint32_t k) const {
  const MatmulSide& d = side_[w];
  if (d.in_l1) return {0, 0, d.org_outer, d.org_k};
  const std::uint32_t at = outer * d.base * d.step, k_at = k * d.base_k * d.step_k;
  return {at, k_at, std::min(d.base * d.step, d.outer - at), std::min(d.base_k * d.step_k, d.k - k_at)};
}

// The slot with what step u needs, which is loaded if it is not there; null if all slots are needed from step `now` to u.
MatmulSlot* MatmulRun::ensure(int w, std::int64_t u, std::int64_t now) {
  if (side_[w].in_l1) {
    o_.whole[w].view = side_[w].src;
    tscm_before_read(side_[w].src, site_);
    return &o_.whole[w];
  }
  std::uint32_t outer, k;
  units(w, u, &outer, &k);
  MatmulSlot* best = nullptr;
  for (MatmulSlot& slot : o_.slots[w]) {
    if (slot.loaded && slot.identity == side_[w].identity && slot.outer == outer && slot.k == k) {
      slot.needed = std::max(slot.needed, u);
      slot.used = static_cast<std::uint64_t>(u);
      return &slot;
    }
    if (slot.needed < now && (!best || slot.used < best->used)) best = &slot;
  }
  if (!best) return nullptr;
  take(Pipe::MTE2, best->freed, site_);
  matmul_load_l1(side_[w], part(w, outer, k), best->view, site_);
  best->filled = hand(Pipe::MTE2, site_);
  best->identity = side_[w].identity;
  best->outer = outer;
  best->k = k;
  best->loaded = true;
  best->needed = u;
  best->used = static_cast<std::uint64_t>(u);
  return best;
}

void MatmulRun::compute(std::int32_t block, bool accumulate) {
  begin(block, 1);
  multiply(block, accumulate);
  done_with_l1();
}

void MatmulRun::compute_into(const View& l0c, std::int32_t block, bool accumulate) {
  begin(block, 1);
  for (std::int32_t k = 0; k < k_steps_; ++k) step(block, k, l0c, k == 0 && !accumulate);
  done_with_l1();
}

void MatmulRun::done_with_l1() {
  for (const MatmulSide& side : side_) {
    if (side.in_l1) tscm_freed(side.src, site_);
  }
  if (s_.bias.set && s_.bias.in_l1) tscm_freed(s_.bias.view, site_);
}

MatmulRoom matmul_l0c(const Core& cube) {
  const std::uint64_t bytes = cube.memory[int(Space::L0C)].bytes;
  const std::uint64_t begin = std::min<std::uint64_t>((cube.allocated[int(Space::L0C)] + 1023) / 1024 * 1024, bytes);
  return {begin, (bytes - begin) / 2 / 1024 * 1024, bytes - begin};
}

// Which half of L0C; what was in it is out.
std::uint32_t MatmulRun::choose_half() {
  const std::uint64_t tile = std::uint64_t{up(s_.tiling.baseM, 16)} * up(s_.tiling.baseN, side_[1].align()) * 4;
  const MatmulRoom room = matmul_l0c(core());
  c_.whole = tile > room.half;
  const bool other_waits = core_.computed[1 - sub_].there;
  const std::uint32_t mine = c_.whole ? 0 : other_waits ? 1 - core_.computed[1 - sub_].half : core_.l0c_turn++ % 2;
  for (std::uint32_t h = 0; h < 2; ++h) {
    if (c_.whole || h == mine) take(Pipe::M, core_.l0c_free[h], site_);
  }
  c_.c = local(Space::L0C, "CO1 of Matmul", s_.types.integers() ? DType::I32 : DType::F32, room.begin + mine * room.half,
               c_.whole ? room.whole : room.half, site_);
  return mine;
}

void MatmulRun::multiply(std::int32_t index, bool accumulate) {
  const MatmulBlock block = matmul_block(s_, index);
  accumulate = accumulate && c_.there;
  if (!accumulate) c_.half = choose_half();
  c_.l0c_m = up(block.m, 16);
  for (std::int32_t k = 0; k < k_steps_; ++k) step(index, k, c_.c, k == 0 && !accumulate);
  c_.done = hand(Pipe::M, site_);
  c_.there = true;
}

void MatmulRun::step(std::int32_t index, std::int32_t ks, const View& c, bool first) {
  const std::int64_t now = first_step_ + std::int64_t{index - first_block_} * k_steps_ + ks;
  MatmulSlot* slots[2];
  for (int w = 0; w < 2; ++w) slots[w] = ensure(w, now, now);
  bool room[2] = {true, true};
  for (std::int64_t u = now + 1; u < std::min(end_step_, now + kAhead) && (room[0] || room[1]); ++u) {
    for (int w = 0; w < 2; ++w) room[w] = room[w] && ensure(w, u, now);
  }
  const MatmulBlock block = matmul_block(s_, index);
  const std::uint32_t k_at = static_cast<std::uint32_t>(ks * s_.tiling.baseK);
  const std::uint32_t k = std::min<std::uint32_t>(s_.tiling.baseK, s_.k - k_at);
  const std::uint32_t outer[2] = {static_cast<std::uint32_t>(block.m), static_cast<std::uint32_t>(block.n)};
  const std::uint32_t l0_outer[2] = {up(outer[0], side_[0].align()), up(outer[1], side_[1].align())};
  const bool bias = first && s_.bias.set;
  if (bias && s_.bias.in_l1) {
    tscm_before_read(s_.bias.view, site_);
  } else if (bias) {
    take(Pipe::MTE2, o_.bias.freed, site_);
    matmul_load_row(o_.bias.view, s_.bias.view, static_cast<std::uint32_t>(block.column), outer[1], site_);
    o_.bias.filled = hand(Pipe::MTE2, site_);
  }
  // L0A and L0B in halves, if base blocks fit.
  const std::uint64_t l0 = core().memory[int(Space::L0A)].bytes;
  bool halves = true;
  for (const MatmulSide& d : side_)
    halves &= d.bytes(std::uint64_t{up(d.base, d.align())} * up(d.base_k, d.k_align())) * 2 <= l0;
  const std::uint32_t turn = halves ? core_.l0_turn++ % 2 : 0;
  for (std::uint32_t h = 0; h < 2; ++h) {
    if (!halves || h == turn) take(Pipe::MTE1, core_.l0_free[h], site_);
  }
  View l0_view[2];
  for (int w = 0; w < 2; ++w) {
    const MatmulSide& d = side_[w];
    l0_view[w] = local(w ? Space::L0B : Space::L0A, w ? "B2 of Matmul" : "A2 of Matmul", d.src.dtype, turn * l0 / 2,
                       halves ? l0 / 2 : l0, site_);
    take(Pipe::MTE1, slots[w]->filled, site_);
    const MatmulPart p = part(w, slots[w]->outer, slots[w]->k);
    const auto at = static_cast<std::uint32_t>(w ? block.column : block.row);
    matmul_load_l0(d, p, slots[w]->view, {at - p.at, k_at - p.k_at, outer[w], k}, l0_view[w], l0_outer[w], site_);
    std::uint32_t next_outer = 0, next_k = 0;
    if (now + 1 < end_step_) units(w, now + 1, &next_outer, &next_k);
    if (now + 1 >= end_step_ || next_outer != slots[w]->outer || next_k != slots[w]->k)
      slots[w]->freed = hand(Pipe::MTE1, site_);
  }
  MmadCall call{c, l0_view[0], l0_view[1], {}, false, up(outer[0], 16), l0_outer[1], k, first, false, 0};
  const std::uint64_t half_bt = core().memory[int(Space::BT)].bytes / 2;
  const bool bt_halves = s_.tiling.baseN * 4ull <= half_bt;
  const std::uint32_t bt = bias && bt_halves ? core_.bias_turn++ % 2 : 0;
  if (bias) {
    for (std::uint32_t h = 0; h < 2; ++h) {
      if (!bt_halves || h == bt) take(Pipe::MTE1, core_.bias_free[h], site_);
    }
    call.bias = local(Space::BT, "C2 of Matmul", call.c.dtype, bt * half_bt, bt_halves ? half_bt : 2 * half_bt, site_);
    if (s_.bias.in_l1) {
      matmul_load_bias(call.bias, s_.bias.view, static_cast<std::uint32_t>(block.column), outer[1], site_);
    } else {
      take(Pipe::MTE1, o_.bias.filled, site_);
      matmul_load_bias(call.bias, o_.bias.view, 0, outer[1], site_);
      o_.bias.freed = hand(Pipe::MTE1, site_);
    }
    call.has_bias = true;
  }
  MatmulFlag loaded = hand(Pipe::MTE1, site_);
  take(Pipe::M, loaded, site_);
  if (call.m / 16 * (call.n / 16) < 10 && !first) core().barrier(Pipe::M, site_id(site_));
  cube_mmad(call, site_);
  core_.l0_free[turn] = hand(Pipe::M, site_);
  if (!halves) core_.l0_free[1] = core_.l0_free[0];
  if (bias) core_.bias_free[bt] = core_.l0_free[turn];
  if (bias && !bt_halves) core_.bias_free[1] = core_.bias_free[0];
}

void MatmulRun::store(const FixpipeCall& call) const {
  const std::uint32_t bursts = (call.n + 15) / 16, rows = call.m;
  // Between bursts the params count the gap, between rows the whole.
  const std::uint32_t burst = call.row_major ? 0 : rows * 16 * size_bytes(call.dst.dtype) / 32;
  View l0c = call.src;
  l0c.dtype = DType::I8;
  s_.store_c(reinterpret_cast<const void*>(call.dst.addr), l0c,
             {static_cast<std::uint16_t>(bursts), static_cast<std::uint16_t>(rows * 2), call.dst_stride - burst,
              static_cast<std::uint16_t>(call.n), call.scale, call.a_scale_a_column ? call.scales.addr : 0},
             s_.user_tiling, s_.user_data);
}

void MatmulRun::fetch(std::int32_t index, const MatmulOut& out) {
  const MatmulBlock block = matmul_block(s_, index);
  const DType c = s_.types.c, from = c_.c.dtype;
  const std::uint32_t size = size_bytes(c), wide = up(block.n, 16);
  FixpipeCall call{out.dst, c_.c, static_cast<std::uint32_t>(block.n), static_cast<std::uint32_t>(block.m), c_.l0c_m, 0};
  call.dst.dtype = c;
  call.relu = s_.relu;
  const bool to_l1 = out.dst.space == Space::L1;
  const bool byte = size == 1;
  call.quant = from == DType::I32 ? (byte              ? Quant::Requant
                                     : c == DType::F16 ? Quant::Dequant
                                                       : Quant::None)
               : byte             ? Quant::ToByte
               : c == DType::F16  ? Quant::F16
               : c == DType::BF16 ? Quant::BF16
                                  : Quant::None;
  call.scale = s_.scale;
  std::uint64_t offset;
  if (s_.types.c_format == Matrix::NZ) {
    call.channel_split = to_l1 && size == 4;  // columns of eight, as an operand of the next product has them
    const std::uint64_t row = size == 4 && !call.channel_split ? 64 : 32, columns = row / size;
    const std::uint64_t high = out.sequential ? up(block.m, 16) : up(s_.org_m, 16);
    call.row_major = false;
    call.n = wide;
    call.dst_stride = static_cast<std::uint32_t>(high * row / 32);
    offset = out.sequential ? 0 : block.column / columns * high * row + block.row * row;
  } else {
    const std::uint32_t whole = s_.types.c_format == Matrix::NDAlign ? up(s_.org_c, 32 / size) : s_.org_c;
    call.dst_stride = out.sequential ? up(call.n, out.row_align) : whole;
    offset = out.sequential ? 0 : (std::uint64_t(block.row) * whole + block.column) * size;
  }
  call.dst.addr += offset;
  if (call.dst.bytes) call.dst.bytes = call.dst.bytes > offset ? call.dst.bytes - offset : 1;
  if (s_.scales_given && call.quant >= Quant::Dequant) {
    take(Pipe::MTE2, o_.scales.freed, site_);
    matmul_load_row(o_.scales.view, s_.scales, static_cast<std::uint32_t>(block.column), call.n < wide ? call.n : wide,
                    site_);
    MatmulFlag filled = hand(Pipe::MTE2, site_);
    take(Pipe::FIX, filled, site_);
    call.a_scale_a_column = true;
    call.scales = o_.scales.view;
  }
  take(Pipe::FIX, c_.done, site_);
  constexpr Atomic kAtomics[] = {Atomic::None, Atomic::Add, Atomic::Max, Atomic::Min};
  const auto atomic = core().atomic;
  const auto atomic_dtype = core().atomic_dtype;
  if (to_l1) tscm_before_fill(Pipe::FIX, out.dst, site_);
  if (out.atomic) set_atomic(kAtomics[out.atomic & 3], c, site_);
  s_.store_c ? store(call) : cube_fixpipe(call, site_);
  set_atomic(atomic, atomic_dtype, site_);
  if (to_l1) tscm_filled(Pipe::FIX, out.dst, site_);
  if (call.a_scale_a_column) o_.scales.freed = hand(Pipe::FIX, site_);
  core_.l0c_free[c_.whole ? 0 : c_.half] = hand(Pipe::FIX, site_);
  if (c_.whole) core_.l0c_free[1] = core_.l0c_free[0];
  c_.there = false;
}

}  // namespace twin
