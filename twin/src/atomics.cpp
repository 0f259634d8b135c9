// SPDX-License-Identifier: Apache-2.0
// Atomic additions of floats by cores that nothing orders: whether their order decides the result.
// Addends that are all multiples of 2^q and whose magnitudes sum to less than 2^(q + p), p the bits of a mantissa, give
// exact partial sums in every order; so do two addends, whatever they are. Otherwise the order may decide.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "element.hpp"
#include "engine.hpp"
#include "launched.hpp"

namespace twin {
namespace {

int mantissa_bits(DType dtype) { return dtype == DType::F32 ? 24 : dtype == DType::F16 ? 11 : 8; }

// The exponent of the lowest bit that is set.
int lowest_bit(float value) {
  int exponent;
  const auto mantissa = static_cast<std::uint32_t>(std::ldexp(std::fabs(std::frexp(value, &exponent)), 24));
  return exponent - 24 + __builtin_ctz(mantissa | 1u << 24);
}

void include(AtomicSum* s, float value) {
  if (value == 0 || !std::isfinite(value)) return;
  const int low = lowest_bit(value);
  s->lowest = static_cast<std::int16_t>(s->addends ? std::min<int>(s->lowest, low) : low);
  s->magnitude = std::nextafter(s->magnitude + std::fabs(value), INFINITY);
  if (s->addends < 255) ++s->addends;
}

}  // namespace

bool AtomicSums::add(std::uint64_t at, DType dtype, float base, float value) {
  std::vector<AtomicSum>& page = pages_[at / kPage];
  if (page.empty()) page.resize(kPage / 2);
  AtomicSum& s = page[at % kPage / 2];
  if (s.addends == 0) include(&s, base);
  include(&s, value);
  return s.addends > 2 && s.magnitude > std::ldexp(1.0f, s.lowest + mantissa_bits(dtype));
}

void AtomicSums::forget(std::uint64_t begin, std::uint64_t end) {
  for (auto at = pages_.lower_bound(begin / kPage); at != pages_.end() && at->first * kPage < end; ++at) {
    const std::uint64_t base = at->first * kPage;
    const std::uint64_t first = std::max(begin, base) - base, last = std::min(end, base + kPage) - base;
    std::fill(at->second.begin() + first / 2, at->second.begin() + (last + 1) / 2, AtomicSum{});
  }
}

// Of a row that the running core is about to add to GM.
void count_addends(const std::uint8_t* d, const std::uint8_t* a, std::uint64_t bytes) {
  Core& c = core();
  const DType dtype = c.atomic_dtype;
  const std::uint32_t size = size_bytes(dtype);
  if (c.atomic != Atomic::Add || (dtype != DType::F32 && dtype != DType::F16 && dtype != DType::BF16)) return;
  Memory& m = *GlobalMemory::get().find(reinterpret_cast<std::uint64_t>(d));
  const std::uint64_t first = reinterpret_cast<std::uint64_t>(d) - reinterpret_cast<std::uint64_t>(m.data);
  auto& other = c.atomic_other;
  for (std::uint64_t k = 0; k + size <= bytes; k += size) {
    const bool matters = m.sums.add(first + k, dtype, load_float(d + k, dtype), load_float(a + k, dtype));
    if (!matters || other.memory != &m || first + k < other.begin || first + k >= other.end) continue;
    Finding f{Kind::AtomicOrder};
    f.line_a = to_string(site_of(other.now.site));
    f.line_b = to_string(site_of(other.old.site));
    f.core = c.label() + " against " + launched().cores[other.old.core]->label();
    f.pipe_a = name(other.now.pipe);
    f.pipe_b = name(other.old.pipe);
    f.range = hex_range(m.name, other.begin, other.end);
    f.tensor = tensor_text(other.now.tensor);
    f.other_tensor = tensor_text(other.old.tensor);
    f.what =
        format("the sum of %s that the cores add here depends on which comes first: its rounding differs from run to run",
               name(dtype));
    f.fix =
        "store partial sums and add them in one order, order the cores, or add integers; TWIN=shuffle=SEED shows other "
        "orders, TWIN=allow=atomic-order accepts it";
    report(std::move(f));
    other.memory = nullptr;  // once an instruction
  }
}

}  // namespace twin
