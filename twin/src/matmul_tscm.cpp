// SPDX-License-Identifier: Apache-2.0
// TSCM: the part of L1 that a kernel gives to Matmul's operands. A cube core fills its own. The TSCM queues of a vector core
// lie in the L1 of its cube core, from the end downwards; a copy into one is a message that the cube core carries out.
#include <algorithm>

#include "matmul.hpp"

namespace twin {
namespace {

std::uint64_t end_of(const View& v) { return v.addr + std::max<std::uint64_t>(v.bytes, 1); }

template <class F>
void meet(MatmulCore& m, const View& v, F&& f) {
  for (MatmulTscm& t : m.tscm) {
    if (t.begin < end_of(v) && v.addr < t.end) f(t);
  }
}

}  // namespace

// ---- on the cube core ----
void tscm_before_fill(Pipe pipe, const View& l1, Site site) {
  meet(matmul_of(core()), l1, [&](MatmulTscm& t) {
    take(pipe, t.freed, site);
    if (pipe != Pipe::FIX || t.filled.from != pipe) take(pipe, t.filled, site);  // FIX is in order with itself
  });
}

void tscm_filled(Pipe pipe, const View& l1, Site site) {
  MatmulCore& m = matmul_of(core());
  const auto inside = [&](const MatmulTscm& t) { return l1.addr <= t.begin && t.end <= end_of(l1); };
  m.tscm.erase(std::remove_if(m.tscm.begin(), m.tscm.end(), inside), m.tscm.end());
  m.tscm.push_back({l1.addr, end_of(l1), hand(pipe, site), {}});
}

void tscm_before_read(const View& l1, Site site) {
  meet(matmul_of(core()), l1, [&](MatmulTscm& t) { take(Pipe::MTE1, t.filled, site); });
}

void tscm_freed(const View& l1, Site site) {
  meet(matmul_of(core()), l1, [&](MatmulTscm& t) { t.freed = hand(Pipe::MTE1, site); });
}

// ---- on a vector core ----
View tscm_for_cube(const View& tensor, Site site) {
  View v = tensor;
  const Core& c = core();
  const Buffer* const b = v.buffer && v.buffer < c.buffers.size() ? &c.buffers[v.buffer] : nullptr;
  Finding f{Kind::UseAfterFree, "", to_string(site), "", c.label()};
  if (!b) {
    f.kind = Kind::KernelType;
    f.what = "a tensor in L1 on a vector core that is not from a TSCM queue: only those lie in the L1 of its cube core";
    f.fix = "TSCM<TPosition::GM, 1> queue, InitBuffer, AllocTensor";
  } else if (b->state == Buffer::Idle || b->generation != v.generation) {
    f.what = "Matmul is given a tensor of TSCM that FreeTensor has given back";
    f.fix = "use it before FreeTensor";
  }
  if (!f.what.empty()) {
    place(&f, tensor);
    report(std::move(f));
  }
  v.buffer = v.generation = 0;
  return v;
}

std::uint64_t tscm_place(std::uint64_t bytes, bool shared, Site site) {
  Core& c = core();
  Core* const cube = cube_core_of(c);
  if (!cube) return 0;
  std::uint64_t& taken = cube->tscm_bytes;
  auto& of_both = cube->tscm_shared;
  const std::uint64_t l1 = cube->memory[int(Space::L1)].device_bytes / 32 * 32;
  const std::size_t nth = c.tscm_shared.size();
  if (shared && nth < of_both.size()) {  // the other vector core has been here
    c.tscm_shared.push_back(of_both[nth]);
    return of_both[nth];
  }
  taken += bytes;
  const std::uint64_t left = l1 - std::min(l1, cube->allocated[int(Space::L1)]);
  if (taken > left) {
    report({Kind::Capacity,
            format("TSCM queues of the vector cores would hold %llu bytes of L1; the cube core has %llu left",
                   static_cast<unsigned long long>(taken), static_cast<unsigned long long>(left)),
            to_string(site), "", c.label(), "", "", "", "smaller or fewer buffers, or a smaller depthA1 or depthB1"});
  }
  const std::uint64_t at = l1 - std::min(l1, taken);
  if (shared) {
    of_both.push_back(at);
    c.tscm_shared.push_back(at);
  }
  return at;
}

namespace {

void ask(const View& dst, std::uint64_t bytes, const View& from, bool from_ub, Site site,
         std::function<void(const View&, const View&)> copy) {
  MatmulCore& m = matmul_of(core());
  MatmulClient client;
  MatmulMessage message;
  message.what = MatmulMessage::Copy;
  message.site = site;
  const View l1 = tscm_for_cube(dst, site);
  message.copied = l1;
  message.copied.bytes = bytes;  // copies side by side need not wait for each other
  message.copy = [copy, l1, from] { copy(l1, from); };
  message.answer = from_ub;
  matmul_call(client, std::move(message), from_ub ? 1 : 0);
  if (from_ub) m.staged[dst.addr] = client.ticket;
}

// What lies in UB goes to GM first, behind what MTE3 has stored, once the cube core has read what was there.
View to_gm(const View& dst, const View& ub, const Blocks& blocks, Site site) {
  auto& tickets = matmul_of(core()).staged;
  const auto last = tickets.find(dst.addr);
  if (last != tickets.end()) {
    matmul_wait(last->second, site);
    tickets.erase(last);
  }
  const View gm = matmul_space(1000 + static_cast<int>(dst.buffer), 0, ub.dtype, blocks.count * blocks.bytes);
  Blocks out = blocks;
  out.dst_step = blocks.bytes;
  move_blocks(gm, ub, out, site);
  return gm;
}

}  // namespace

bool tscm_of_cube(const View& dst) {
  const Core& c = core();
  return c.kind == CoreKind::AIV && dst.space == Space::L1 && dst.buffer && c.matmul && c.matmul->registered &&
         cube_core_of(c);
}

void tscm_copy(const View& dst, const View& src, const Blocks& blocks, Site site) {
  const bool from_ub = src.space == Space::UB;
  const View from = from_ub ? to_gm(dst, src, blocks, site) : src;
  Blocks in = blocks;
  if (from_ub) in.src_step = blocks.bytes;
  const std::uint64_t bytes = in.count ? (in.count - 1) * in.dst_step + in.bytes : 0;
  ask(dst, bytes, from, from_ub, site, [in, site](const View& l1, const View& gm) { move_blocks(l1, gm, in, site); });
}

void tscm_copy(const View& dst, const View& src, const Nd2Nz& shape, Site site) {
  const bool from_ub = src.space == Space::UB;
  View from = src;
  if (from_ub && shape.matrices && shape.rows) {
    const std::uint64_t last = std::uint64_t{shape.matrices - 1} * shape.src_matrix_stride +
                               std::uint64_t{shape.rows - 1} * shape.src_row_stride + shape.columns;
    const std::uint64_t bytes = (last * size_bytes(src.dtype) + 31) / 32 * 32;
    from = to_gm(dst, src, {1, bytes, bytes, bytes}, site);
  }
  const std::uint64_t size = size_bytes(dst.dtype), columns = (shape.columns * size + 31) / 32;
  const std::uint64_t bytes =
      !shape.matrices || !shape.rows || !columns
          ? 0
          : std::uint64_t{shape.matrices - 1} * shape.dst_matrix_stride * size +
                ((columns - 1) * shape.dst_column_stride + std::uint64_t{shape.rows - 1} * shape.dst_row_stride + 1) * 32;
  ask(dst, bytes, from, from_ub, site, [shape, site](const View& l1, const View& gm) { move_nd2nz(l1, gm, shape, site); });
}

}  // namespace twin
