// SPDX-License-Identifier: Apache-2.0
// Matmul between the cores of a block: a vector core's calls are messages, which its cube core takes in the order in which
// they come. A message leaves by MTE3, behind what that pipe has stored; its answer comes from FIX. Both take the time of a
// cross-core flag.
#include "launched.hpp"
#include "matmul.hpp"

namespace twin {

namespace {
constexpr const char* kNoCube = "Matmul on a vector core of a kernel that has no cube cores";
constexpr const char* kMixType = "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2), and a mix launch";
Finding finding(Kind kind, const std::string& what, Site site, const std::string& fix) {
  return {kind, what, to_string(site), "", core().label(), "", "", "", fix};
}
}  // namespace

MatmulCore& matmul_of(Core& core) {
  if (!core.matmul) core.matmul = std::make_shared<MatmulCore>();
  return *core.matmul;
}

int matmul_register(Site site, bool alone, bool shared) {
  MatmulCore& m = matmul_of(core());
  const Core& c = core();
  if (alone && launched().has_aic && launched().aiv_a_block == 2 && !shared) {
    report(finding(
        Kind::KernelType,
        "Matmul with enableMixDualMaster in a kernel with two vector cores to a cube core, whose A and B are not both "
        "of IBSHARE",
        site, "MatmulType<..., LayoutMode::NONE, true> for A and B, or KERNEL_TYPE_MIX_AIC_1_1"));
  }
  if (alone != m.alone && m.registered_at) {
    report(finding(Kind::KernelType,
                   format("Matmul %s enableMixDualMaster beside one %s at %s", alone ? "with" : "without",
                          alone ? "without" : "with", to_string(site_of(m.registered_at)).c_str()),
                   site, "the same for all Matmul objects of an operator"));
  }
  m.alone = alone;
  if (alone && c.kind == CoreKind::AIV) {
    if (!launched().has_aic) report(finding(Kind::KernelType, kNoCube, site, kMixType));
    m.registered_at = site_id(site);
    return 0;
  }
  if (!m.registered_at) m.registered_at = site_id(site);
  return m.registered++;
}

Core* cube_core_of(const Core& vector) {
  for (auto& other : launched().cores) {
    if (other->kind == CoreKind::AIC && other->block == vector.block) return other.get();
  }
  return nullptr;
}

namespace {

void post(MatmulMessage message) {
  TWIN_HOLD_BACK(Pipe::MTE3, { post(message); })
  Core& c = core();
  Core* const cube = cube_core_of(c);
  if (!cube) {
    report(finding(Kind::KernelType, kNoCube, message.site, kMixType));
    return;
  }
  message.sub = c.sub;
  message.sent = send_from(Pipe::MTE3, message.site);
  matmul_of(*cube).inbox.push_back(std::move(message));
}

bool needs_all_of_l0c(const MatmulState& s, const Core& cube) {
  return std::uint64_t{up(s.tiling.baseM, 16)} * up(s.tiling.baseN, 16) * 4 > matmul_l0c(cube).half;
}

// The first message that can be served while a block of the other vector core waits in L0C; those of one core in order.
std::deque<MatmulMessage>::iterator next_message(Core& cube) {
  MatmulCore& m = matmul_of(cube);
  bool waits[2] = {};
  for (auto at = m.inbox.begin(); at != m.inbox.end(); ++at) {
    if (waits[at->sub]) continue;
    const MatmulCore::Computed& other = m.computed[1 - at->sub];
    if (!other.there || at->what == MatmulMessage::Copy || (!other.whole && !needs_all_of_l0c(at->state, cube))) return at;
    waits[at->sub] = true;
  }
  return m.inbox.end();
}

bool vector_cores_ended(const Core& cube) {
  for (const auto& other : launched().cores) {
    if (other->kind == CoreKind::AIV && other->block == cube.block && !other->finished) return false;
  }
  return true;
}

void further(View* view, std::uint64_t elements) {
  const std::uint64_t bytes = elements * size_bits(view->dtype) / 8;
  view->addr += bytes;
  if (view->bytes) view->bytes = view->bytes > bytes ? view->bytes - bytes : 1;
}

// The product number `nth` of a batch.
MatmulState one_of(const MatmulState& state, const MatmulBatch& batch, std::uint32_t nth) {
  MatmulState s = state;
  const auto choose = [&](MatmulOperand* o, DType dtype, std::uint32_t of, std::uint64_t stride) {
    const std::uint32_t which = nth * of / batch.count;
    o->view.dtype = dtype;
    further(&o->view, which * stride);
    o->generation += which << 20;  // another tensor, as far as L1 is concerned
  };
  choose(&s.a, s.types.a, batch.a_count, batch.a_stride);
  choose(&s.b, s.types.b, batch.b_count, batch.b_stride);
  return s;
}

// To the vector core that asked: by FIX, or of a copy by MTE2.
void answer(const MatmulMessage& m, std::uint32_t ticket) {
  const CrossFlag::Delivery done = send_from(m.what == MatmulMessage::Copy ? Pipe::MTE2 : Pipe::FIX, m.site);
  for (auto& other : launched().cores) {
    if (other->kind == CoreKind::AIV && other->block == core().block && other->sub == m.sub)
      matmul_of(*other).answers[ticket] = done;
  }
}

void perform_all(const MatmulMessage& m) {
  const std::uint64_t block = std::uint64_t(m.state.tiling.baseM) * m.state.tiling.baseN;
  std::uint32_t ticket = m.client.ticket;
  for (std::uint32_t nth = 0; nth < m.batch.count; ++nth) {
    const MatmulState state = one_of(m.state, m.batch, nth);
    MatmulOut out = m.out;
    out.dst.dtype = state.types.c;
    further(&out.dst, nth * m.batch.c_stride);
    MatmulRun run(m.client.object, state, m.sub, m.site);
    run.all(out, [&] {
      if (out.sequential) further(&out.dst, block);
      if (m.each) answer(m, ticket++);
    });
    if (m.answer && m.batch.group && (nth + 1) % m.batch.group == 0) answer(m, ticket++);
  }
  if (m.answer && !m.each && !m.batch.group) answer(m, ticket);
}

void perform(const MatmulMessage& m) {
  if (m.what == MatmulMessage::All) return perform_all(m);
  if (m.what == MatmulMessage::Copy) {
    tscm_before_fill(Pipe::MTE2, m.copied, m.site);
    m.copy();
    tscm_filled(Pipe::MTE2, m.copied, m.site);
    if (m.answer) answer(m, m.client.ticket);
    return;
  }
  MatmulRun run(m.client.object, m.state, m.sub, m.site);
  if (m.what == MatmulMessage::Compute)
    return m.out.dst.space == Space::L0C ? run.compute_into(m.out.dst, m.block, m.accumulate)
                                         : run.compute(m.block, m.accumulate);
  run.fetch(m.block, m.out);
  if (m.answer) answer(m, m.client.ticket);
}

}  // namespace

void matmul_call(MatmulClient& client, MatmulMessage message, std::uint32_t tickets) {
  Core& c = core();
  if (message.answer) {
    message.client.ticket = matmul_of(c).tickets + 1;
    for (std::uint32_t t = 0; t < tickets; ++t) matmul_of(c).open.insert(++matmul_of(c).tickets);
    client.ticket = message.client.ticket;
  }
  if (c.kind == CoreKind::AIV) {
    for (View* v : {&message.state.a.view, &message.state.b.view, &message.state.bias.view, &message.out.dst}) {
      if (v->space == Space::L1) *v = tscm_for_cube(*v, message.site);
    }
    return post(std::move(message));
  }
  message.answer = message.each = false;
  perform(message);
}

namespace {

MatmulMessage message_of(MatmulMessage::What what, const MatmulClient& client, const MatmulState& state, Site site) {
  MatmulMessage m;
  m.what = what;
  m.client = client;
  m.state = state;
  m.site = site;
  return m;
}

}  // namespace

void matmul_compute(MatmulClient& client, const MatmulState& state, std::int32_t block, bool accumulate, Site site,
                    const View* l0c) {
  if (l0c && core().kind == CoreKind::AIV) {
    return report(finding(Kind::KernelType, "Matmul: Iterate into a tensor of CO1 on a vector core, which has none", site,
                          "#define ASCENDC_CUBE_ONLY before the header, and Fixpipe on the cube core"));
  }
  MatmulMessage m = message_of(MatmulMessage::Compute, client, state, site);
  m.block = block;
  m.accumulate = accumulate;
  if (l0c) m.out.dst = *l0c;
  matmul_call(client, std::move(m), 0);
}

void matmul_fetch(MatmulClient& client, const MatmulState& state, std::int32_t block, const MatmulOut& out, bool answer,
                  Site site) {
  MatmulMessage m = message_of(MatmulMessage::Fetch, client, state, site);
  m.block = block;
  m.out = out;
  m.answer = answer;
  matmul_call(client, std::move(m), 1);
}

void matmul_all(MatmulClient& client, const MatmulState& state, const MatmulOut& out, bool answer, bool each, Site site,
                const MatmulBatch& batch) {
  MatmulMessage m = message_of(MatmulMessage::All, client, state, site);
  m.out = out;
  m.batch = batch;
  m.answer = answer;
  m.each = each;
  matmul_call(client, std::move(m),
              each          ? static_cast<std::uint32_t>(matmul_blocks_m(state) * matmul_blocks_n(state))
              : batch.group ? batch.count / batch.group
                            : 1);
}

bool matmul_serve(Site site) {
  Core& c = core();
  if (c.kind != CoreKind::AIC) return false;
  if (!launched().has_aiv) {
    report(finding(Kind::KernelType, "REGIST_MATMUL_OBJ on a cube core that has no vector cores: nobody would call Matmul",
                   site, "#define ASCENDC_CUBE_ONLY before the header, or a mix kernel type"));
    return false;
  }
  MatmulCore& m = matmul_of(c);
  m.serving = true;
  for (;;) {
    c.waits_text = "a call of Matmul by its vector cores";
    c.waits_at = site_id(site);
    block_core_until(
        [](void* cube) {
          Core& me = *static_cast<Core*>(cube);
          return next_message(me) != matmul_of(me).inbox.end() || vector_cores_ended(me);
        },
        &c);
    c.waits_text.clear();
    const auto next = next_message(c);
    if (next == m.inbox.end()) break;
    const MatmulMessage message = std::move(*next);
    m.inbox.erase(next);
    learn_from_other(c, message.sent.clock, message.sent.token, site_id(message.site));
    perform(message);
  }
  m.serving = false;
  return true;
}

void matmul_wait(std::uint32_t ticket, Site site) {
  Core& c = core();
  if (c.kind != CoreKind::AIV || ticket == 0) return;
  if (!matmul_of(c).open.count(ticket)) return;  // the core knows already
  c.need(Pipe::MTE3, site);                      // the call itself may be held back
  struct Awaited {
    MatmulCore* core;
    std::uint32_t ticket;
  } awaited{&matmul_of(c), ticket};
  c.waits_text = "the answer of Matmul";
  c.waits_on = cube_core_of(c);
  c.waits_at = site_id(site);
  if (!c.waits_on) return c.waits_text.clear();
  block_core_until(
      [](void* a) { return static_cast<Awaited*>(a)->core->answers.count(static_cast<Awaited*>(a)->ticket) != 0; },
      &awaited);
  c.waits_text.clear();
  c.waits_on = nullptr;
  const auto answer = awaited.core->answers.find(ticket);
  if (answer == awaited.core->answers.end()) return;
  learn_from_other(c, answer->second.clock, answer->second.token, site_id(site));
  awaited.core->answers.erase(answer);
  awaited.core->open.erase(ticket);
}

// The vendor's page of CrossCoreSetFlag: Matmul uses it inside, so that ids may be the same; which ids, no page says.
void matmul_meets_flag(const char* api, int id, Site site) {
  const Core& c = core();
  if (c.kind != CoreKind::AIV || !c.matmul || !c.matmul->registered || !launched().has_aic) return;
  Finding f = finding(
      Kind::MatmulFlag,
      format("%s(%d) in a kernel whose Matmul has flags between the same cores, of ids that no page names", api, id), site,
      "leave the order to Matmul (IterateAll, WaitIterateAll), or #define ASCENDC_CUBE_ONLY and keep all "
      "flags the kernel's own");
  f.line_b = to_string(site_of(c.matmul->registered_at));
  report(std::move(f));
}

bool matmul_serves(const Core& c) { return c.matmul && c.matmul->serving; }

void check_matmul_at_end(Core& c) {
  if (!c.matmul || c.matmul->inbox.empty()) return;
  report(finding(Kind::KernelType,
                 format("%zu calls of Matmul that the cube core of their block never served", c.matmul->inbox.size()),
                 c.matmul->inbox.front().site,
                 "REGIST_MATMUL_OBJ must be reached on the cube core too, in a kernel without ASCENDC_CUBE_ONLY"));
}

// ---- between UB and GM ----
View matmul_space(int object, int which, DType dtype, std::uint64_t bytes) {
  static auto* all = new std::map<std::tuple<int, int, int>, std::pair<void*, std::uint64_t>>;
  auto& [pointer, room] = (*all)[{core().index, object, which}];
  if (room < bytes) {
    pointer = GlobalMemory::get().allocate(bytes, "Matmul's workspace", true);
    room = bytes;
  }
  View v;
  v.space = Space::GM;
  v.dtype = dtype;
  v.addr = reinterpret_cast<std::uint64_t>(pointer);
  v.bytes = bytes;
  return v;
}

View matmul_stage_c(const MatmulClient& client, DType dtype, std::uint64_t bytes) {
  return matmul_space(client.object, 2, dtype, bytes);
}

void matmul_stage(MatmulClient& client, MatmulOperand& operand, int which, std::uint64_t bytes, Site site) {
  const View gm = matmul_space(client.object, which == 2 ? 3 : which, operand.view.dtype, bytes);
  matmul_wait(client.ticket, site);  // the cube core may still read what was there before
  client.ticket = 0;
  core().synchronise(Pipe::V, Pipe::MTE3, site_id(site));
  const std::uint64_t whole = (bytes + 31) / 32 * 32;
  if (whole == bytes)
    move_blocks(gm, operand.view, {1, bytes, bytes, bytes}, site);
  else
    move_padded_out(gm, operand.view, {1, bytes, bytes, bytes}, site);
  operand.view = gm;
  operand.in_ub = false;
}

void matmul_to_ub(const View& dst, const View& src, const Blocks& blocks, bool wait_for_it, Site site) {
  Core& c = core();
  c.synchronise(Pipe::V, Pipe::MTE2, site_id(site));
  move_blocks(dst, src, blocks, site);
  c.synchronise(Pipe::MTE2, Pipe::MTE3, site_id(site));  // the next message lets the cube core write there again
  if (wait_for_it) matmul_wait_ub(site);
}

void matmul_wait_ub(Site site) { core().synchronise(Pipe::MTE2, Pipe::V, site_id(site)); }

}  // namespace twin
