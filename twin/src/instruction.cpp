// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "engine.hpp"
#include "launched.hpp"
#include "recent.hpp"

namespace twin {
namespace {
std::vector<std::string>& rows() {
  static auto* all = new std::vector<std::string>{"Unlisted"};
  return *all;
}

std::uint16_t cost_id(const char* row) {
  static auto* const ids =
      new std::unordered_map<const char*, std::uint16_t>;  // by literal: two of one text cost an entry, no more
  static auto* const recent = new Recent<const char*, std::uint16_t>;
  return recent->of(row, reinterpret_cast<std::uint64_t>(row), [&] {
    const auto [at, fresh] = ids->try_emplace(row, static_cast<std::uint16_t>(rows().size()));
    if (fresh) rows().push_back(row);
    return at->second;
  });
}
}  // namespace

const std::vector<std::string>& cost_rows() { return rows(); }

Instruction::Instruction(Pipe pipe, const char* name, Site site)
    : core_(core()), pipe_(pipe), name_(name), site_(site), accesses_(core_.accesses) {
  accesses_.clear();
  record_.pipe = pipe;
  record_.name = name;
  record_.site = site_id(site);
  record_.span_first = static_cast<std::uint32_t>(core_.spans.size());
  const bool runs_here = pipe == Pipe::V
                             ? core_.kind == CoreKind::AIV
                             : (pipe != Pipe::M && pipe != Pipe::MTE1 && pipe != Pipe::FIX) || core_.kind == CoreKind::AIC;
  if (!runs_here)
    refuse(Kind::KernelType,
           format("%s runs on pipe %s, which %s core does not have", name, twin::name(pipe),
                  core_.kind == CoreKind::AIV ? "a vector" : "a cube"),
           "guard it with ASCEND_IS_AIC or ASCEND_IS_AIV, or give the kernel another type");
  if (core_.stands(pipe)) {
    refuse(
        Kind::Limit,
        format("%s is issued to pipe %s, which stands at a WaitFlag whose SetFlag has not come: the twin cannot keep this "
               "function for later",
               name, twin::name(pipe)),
        "put the SetFlag before the WaitFlag");
  }
}

void Instruction::complain(Kind kind, const std::string& what, const std::string& fix, const View* about) {
  Finding f{kind, what, to_string(site_), "", core_.label(), twin::name(pipe_), "", "", fix};
  if (about) place(&f, *about);
  report(std::move(f));
}

void Instruction::require_aligned(const View& view, std::uint32_t alignment, const char* operand) {
  if (view.addr % alignment == 0) return;
  refuse(Kind::Alignment,
         format("%s: %s begins at 0x%llx of %s, not on a multiple of %u bytes", name_, operand,
                static_cast<unsigned long long>(view.addr), twin::name(view.space), alignment),
         "begin tensors on that boundary", &view);
}

static bool is_nowhere(const View& view) { return view.space == Space::UB && !view.bytes && !view.tensor && !view.buffer; }

bool Instruction::given_back(const View& view) const {
  if (!view.buffer) return false;
  const Buffer& b = core_.buffers[view.buffer];
  const auto* const issued = core_.issued_buffers;
  const bool in_use = issued ? (*issued)[view.buffer].first : b.state != Buffer::Idle;
  return !in_use || (issued ? (*issued)[view.buffer].second : b.generation) != view.generation;
}

bool Instruction::reaches(const View& view, std::uint64_t bytes) const {
  return view.space != Space::GM && !is_nowhere(view) && (!view.bytes || bytes <= view.bytes) && !given_back(view) &&
         view.addr + bytes <= core_.memory[int(view.space)].bytes;
}

Memory* Instruction::memory(const View& view, std::uint64_t offset, std::uint64_t bytes, bool write) {
  const char* const verb = write ? "writes" : "reads";
  View part = view;  // for reports
  part.addr += offset;
  part.bytes = bytes;
  const auto miss = [&](Kind kind, const std::string& what, const char* fix) -> Memory* {
    if (!refused_) refuse(kind, what, fix, &part);  // with wrong strides or a wrong core nobody knows where it would go
    return nullptr;
  };
  if (is_nowhere(view)) {
    return miss(Kind::OutOfBounds,
                format("%s %s a LocalTensor that has no memory: it was declared, and nothing else", name_, verb),
                "take it from AllocTensor, DeQue, TBuf::Get, or give it a position, an address and a size");
  }
  const bool past = view.bytes && offset + bytes > view.bytes;
  const std::uint64_t behind = past ? behind_its_tensor(view) : 0;
  const auto past_the_tensor = [&] {
    if (behind)
      return format("%s %s %llu bytes that begin %llu bytes past the end of their tensor", name_, verb,
                    static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(behind + offset));
    return format("%s %s bytes [%llu, %llu) of a tensor of %llu bytes", name_, verb, static_cast<unsigned long long>(offset),
                  static_cast<unsigned long long>(offset + bytes), static_cast<unsigned long long>(view.bytes));
  };
  const char* const larger = behind ? "make the tensor larger, or the offset smaller: operator[] counts elements, not bytes"
                                    : "make the tensor larger, or the count, repeats or strides smaller";
  // A read of GM that is there is done all the same: copies are rounded up to whole blocks.
  if (past && (write || view.space != Space::GM)) return miss(Kind::OutOfBounds, past_the_tensor(), larger);
  if (given_back(view)) {
    return miss(Kind::UseAfterFree, format("%s %s a tensor that FreeTensor has given back", name_, verb),
                "use it before FreeTensor");
  }
  if (view.space != Space::GM) {
    Memory& m = core_.memory[int(view.space)];
    if (view.addr + offset + bytes <= m.bytes) return &m;
    return miss(Kind::OutOfBounds,
                format("%s %s %s up to 0x%llx; it has 0x%llx bytes%s", name_, verb, twin::name(view.space),
                       static_cast<unsigned long long>(view.addr + offset + bytes), static_cast<unsigned long long>(m.bytes),
                       m.bytes ? "" : " on this kind of core"),
                "keep tensors inside the memory");
  }
  bool freed = false;
  Memory* m = GlobalMemory::get().find(view.addr + offset, &freed);
  if (!m) {
    const Memory* base = GlobalMemory::get().find(view.addr);
    if (!base) base = GlobalMemory::get().before(view.addr + offset);
    const std::string where =
        base ? format(", %llu bytes past the end of %s",
                      static_cast<unsigned long long>(view.addr + offset - reinterpret_cast<std::uint64_t>(base->data) -
                                                      base->bytes),
                      base->name.c_str())
             : "";
    return miss(freed ? Kind::UseAfterFree : Kind::OutOfBounds,
                freed ? format("%s %s GM that was freed", name_, verb)
                      : format("%s %s GM outside of every allocation%s", name_, verb, where.c_str()),
                "check the offset and the size given to aclrtMalloc");
  }
  const std::uint64_t at = view.addr + offset - reinterpret_cast<std::uint64_t>(m->data);
  if (at + bytes > m->bytes) {
    return miss(Kind::OutOfBounds,
                format("%s %s bytes [%llu, %llu) of %s", name_, verb, static_cast<unsigned long long>(at),
                       static_cast<unsigned long long>(at + bytes), m->name.c_str()),
                "check the offset and the size given to aclrtMalloc");
  }
  if (past && !refused_) complain(Kind::OutOfBounds, past_the_tensor(), larger, &part);
  return m;
}

void Instruction::check_int4(const View& view) {
  if (refused_) return;
  if (!takes_int4_)
    refuse(Kind::Limit, format("%s does not take int4b_t on the 910B", name_), "cast to half, or ReinterpretCast to int8_t",
           &view);
  if (view.splits_byte)
    refuse(Kind::Alignment, format("%s: a tensor of int4b_t begins at an odd element, inside a byte", name_),
           "give operator[] even offsets", &view);
}

namespace {
std::uint64_t address_on_device(Memory& m) {
  Launched& l = launched();
  if (m.touched_in != l.serial) {
    m.touched_in = l.serial;
    m.device_address = l.next_device_address;
    l.next_device_address += (m.bytes + (2u << 20)) & ~std::uint64_t{(2u << 20) - 1};
  }
  return m.device_address;
}
}  // namespace

Memory* Instruction::inside(Space space) const { return &core_.memory[int(space)]; }

void Instruction::touch(const View& view, std::uint64_t offset, std::uint64_t bytes, bool write) {
  if (bytes == 0 || skipped_operand_) return;
  if (view.dtype == DType::I4) check_int4(view);
  values_ |= (bit(view.dtype) & kFloats) != 0;
  Memory* m = memory(view, offset, bytes, write);
  if (!m) return;
  const std::uint64_t begin =
      view.space == Space::GM ? view.addr + offset - reinterpret_cast<std::uint64_t>(m->data) : view.addr + offset;
  note(m, begin, begin + bytes, view.tensor, write);
  if (view.space != Space::GM) return;
  record_.gm_write |= write;
  if (write) written_ = view.dtype;
  record_.no_cache |= view.cache_hint == 1;
  const std::uint64_t address = address_on_device(*m) + begin;
  auto& spans = core_.spans;
  if (spans.size() > record_.span_first) {
    GmSpan& last = spans.back();
    if (last.bytes == bytes && (last.rows == 1 || address == last.address + last.rows * last.stride)) {
      if (last.rows == 1) last.stride = address - last.address;
      ++last.rows;
      return;
    }
  }
  spans.push_back({address, static_cast<std::uint32_t>(bytes), 1, 0});
}

void Instruction::cost(const char* row, std::uint64_t units, DType dtype) {
  record_.cost = cost_id(row);
  record_.units = units;
  record_.narrow = size_bytes(dtype) == 2;
}

void Instruction::move(Path path, std::uint64_t bytes) {
  record_.path = path;
  record_.units = bytes;
}

namespace {
Tag tag_of(Atomic atomic) {
  constexpr Tag kTags[] = {kPlain, kAtomicAdd, kAtomicMax, kAtomicMin};
  return kTags[static_cast<int>(atomic)];
}
}  // namespace

bool Instruction::issue() {
  if (refused_) {
    core_.spans.resize(record_.span_first);
    for (const Access& a : accesses_) {  // its result, should somebody use it, is no finding of its own
      if (a.write) std::memset(a.memory->state + a.begin, kDefined, a.end - a.begin);
    }
    return false;
  }
  if (core_.watching) meet_watches();
  record_.span_count = static_cast<std::uint32_t>(core_.spans.size()) - record_.span_first;
  Tag tag = tag_;
  Event now = core_.event(pipe_, record_.site, tag);
  const Tag gm_tag = record_.gm_write ? tag_of(core_.atomic) : kPlain;
  core_.atomic_other.memory = nullptr;
  for (int pass = 0; pass < 2; ++pass) {  // reads meet what was there before this instruction writes
    for (const Access& a : accesses_) {
      if (a.write != (pass == 1)) continue;
      now.tag = a.memory->space == Space::GM && gm_tag ? gm_tag : tag;
      now.tensor = a.tensor;
      core_.check_order(pipe_, *a.memory, a.begin, a.end, a.write, now, name_);
      if (a.write && !gm_tag && !a.memory->sums.empty()) a.memory->sums.forget(a.begin, a.end);
      if (!a.memory->cached.empty()) cache_meet(core_, pipe_, a, now, name_);
    }
  }
  core_.append(record_);
  return !launched().timing_only || executes();
}

std::uint8_t* Instruction::bytes(const View& view) const {
  return view.space == Space::GM ? reinterpret_cast<std::uint8_t*>(view.addr)
                                 : core_.memory[int(view.space)].data + view.addr;
}

std::uint8_t* Instruction::state(const View& view) const {
  if (view.space != Space::GM) return core_.memory[int(view.space)].state + view.addr;
  const Memory* m = GlobalMemory::get().find(view.addr);
  return m->state + (view.addr - reinterpret_cast<std::uint64_t>(m->data));
}

std::uint8_t new_origin(const std::string& text) {
  auto& origins = launched().origins;
  for (std::size_t i = 0; i < origins.size(); ++i) {
    if (origins[i].text == text) return static_cast<std::uint8_t>(kFirstOrigin + i);
  }
  if (origins.size() >= 255u - kFirstOrigin) return 255;
  origins.push_back({text});
  return static_cast<std::uint8_t>(kFirstOrigin + origins.size() - 1);
}

std::uint8_t Instruction::origin(const View& view, std::uint64_t offset) {
  if (view.space == Space::GM) {
    const Memory* m = GlobalMemory::get().find(view.addr + offset);
    return new_origin(
        format("%s at %s reads %s, which nothing wrote", name_, to_string(site_).c_str(), m ? m->name.c_str() : "GM"));
  }
  return new_origin(format("%s at %s reads %s that nothing wrote, from 0x%llx of the tensor at 0x%llx", name_,
                           to_string(site_).c_str(), twin::name(view.space), static_cast<unsigned long long>(offset),
                           static_cast<unsigned long long>(view.addr)));
}

void Instruction::use(const View& view, std::uint64_t offset, std::uint64_t bytes, const char* how) {
  std::uint8_t* s = state(view) + offset;
  if (all_defined(s, bytes)) return;
  std::uint64_t first = 0;
  while (s[first] == kDefined) ++first;
  std::uint64_t last = first;
  while (last < bytes && s[last] != kDefined) ++last;
  const std::uint8_t value = s[first];
  if (is_skipped(value)) return use_skipped(view, value, how);
  Finding f{Kind::Uninitialised};
  const auto& origins = launched().origins;
  const std::string from = value == kUnwritten                                       ? std::string("nothing wrote it")
                           : value - kFirstOrigin < static_cast<int>(origins.size()) ? origins[value - kFirstOrigin].text
                                                                                     : std::string("of several origins");
  f.what = format("%s %s an undefined value: %s", name_, how, from.c_str());
  f.line_a = to_string(site_);
  f.core = core_.label();
  f.pipe_a = twin::name(pipe_);
  View part = view;
  part.addr += offset + first;
  part.bytes = last - first;
  place(&f, part);
  f.fix = "write the whole range first (Duplicate, a wider copy, DataCopyPad with padding), or leave it out of the count";
  report(std::move(f));
}

}  // namespace twin
