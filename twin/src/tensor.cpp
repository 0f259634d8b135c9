// SPDX-License-Identifier: Apache-2.0
// The tensors that kernels declare: what reports call them, and which lie over each other by mistake.
#include <set>

#include "engine.hpp"
#include "host_lock.hpp"
#include "recent.hpp"

namespace twin {
namespace {

struct Tensor {
  const char* what = "";
  const char* file = "";
  std::uint64_t begin = 0, end = 0;
  std::uint64_t line = 0;
  // Both in one: two bytes, just stored and compared as one word, make the comparison wait for the stores.
  std::uint64_t space_and_maker = 0;
  Space space() const { return Space(space_and_maker & 255); }
  Maker maker() const { return Maker(space_and_maker >> 8); }
  bool operator==(const Tensor& t) const {
    return begin == t.begin && end == t.end && line == t.line && file == t.file && what == t.what &&
           space_and_maker == t.space_and_maker;
  }
};
struct Hash {
  std::size_t operator()(const Tensor& t) const {
    const auto file = reinterpret_cast<std::uint64_t>(t.file);
    std::uint64_t h = (t.begin * 31 + t.end) * 0x9E3779B97F4A7C15ull ^ (file + t.line) * 0xC2B2AE3D27D4EB4Full;
    return h ^ (h >> 29);
  }
};

struct Tensors {
  std::unordered_map<Tensor, std::uint32_t, Hash> numbers;
  std::deque<Tensor> list{1};  // number 0: unknown
  Recent<Tensor, std::uint32_t> recent;
};
Tensors& tensors() {
  static auto* all = new Tensors;
  return *all;
}

}  // namespace

std::uint32_t declare_tensor(const char* what, Space space, Maker maker, std::uint64_t addr, std::uint64_t bytes,
                             Site site) {
  const Tensor t{what, site.file, addr, addr + bytes, site.line, std::uint64_t(space) | std::uint64_t(maker) << 8};
  Tensors& all = tensors();
  return all.recent.of(t, Hash{}(t), [&] {
    const auto [at, fresh] = all.numbers.try_emplace(t, static_cast<std::uint32_t>(all.list.size()));
    if (fresh) all.list.push_back(t);
    return at->second;
  });
}

const std::uint32_t* keep_shape(const std::uint32_t words[9]) {
  const HostLock lock;
  static auto* const all = new std::set<std::array<std::uint32_t, 9>>;
  std::array<std::uint32_t, 9> shape;
  std::copy(words, words + 9, shape.begin());
  return all->insert(shape).first->data();
}

// What a TPipe placed shares its bytes with nothing. Of two that the kernel placed, one inside the other is a part or
// another view of it; two that overlap in part are a mistake, once the overwritten one is read again.
std::uint32_t destroyed_tensor(std::uint32_t old, std::uint32_t fresh) {
  if (!old || !fresh || old == fresh) return 0;
  const Tensor& a = tensors().list[old];
  const Tensor& b = tensors().list[fresh];
  if (a.space() != b.space() || a.begin >= b.end || b.begin >= a.end) return 0;
  if (a.maker() == Maker::TPipe || b.maker() == Maker::TPipe) return a.begin == b.begin && a.end == b.end ? 0 : old;
  const bool inside = (a.begin >= b.begin && a.end <= b.end) || (b.begin >= a.begin && b.end <= a.end);
  return inside ? 0 : old;
}

std::string tensor_text(std::uint32_t tensor) {
  if (!tensor) return "";
  const Tensor& t = tensors().list[tensor];
  const std::string line = to_string(Site{t.file, static_cast<std::uint32_t>(t.line)});
  if (t.space() == Space::GM) return format("%s set at %s", t.what, line.c_str());
  return format("%s %s of %s, %s", t.what, t.maker() == Maker::TPipe ? "buffer of the InitBuffer" : "tensor", line.c_str(),
                hex_range(name(t.space()), t.begin, t.end).c_str());
}

std::uint64_t behind_its_tensor(const View& view) {
  const Tensor& t = tensors().list[view.tensor];
  return view.tensor && t.space() == view.space && view.space != Space::GM && view.addr >= t.end ? view.addr - t.end : 0;
}

void place(Finding* f, const View& view) {
  f->tensor = tensor_text(view.tensor);
  const std::uint64_t bytes = std::max<std::uint64_t>(view.bytes, 1);
  if (view.space != Space::GM) {
    f->range = hex_range(name(view.space), view.addr, view.addr + bytes);
  } else if (const Memory* m = GlobalMemory::get().find(view.addr)) {
    const std::uint64_t at = view.addr - reinterpret_cast<std::uint64_t>(m->data);
    f->range = hex_range(m->name, at, at + bytes);
  }
}

}  // namespace twin
