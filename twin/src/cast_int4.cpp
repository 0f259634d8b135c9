// SPDX-License-Identifier: Apache-2.0
#include "cast_int4.hpp"

#include <algorithm>
#include <array>

#include "rounding.hpp"
#include "wide.hpp"

namespace twin {
namespace {

template <Round kMode>
int to_int4(half value) {
  const double x = value;
  return x != x ? 0 : static_cast<int>(std::clamp(round_to_integer<kMode>(x), -8.0, 7.0));
}

}  // namespace

void check_cast_int4(Instruction& i, const Lanes& lanes, const View& dst, Round mode) {
  if (dst.dtype == DType::I4 && mode == Round::Odd)
    i.refuse(Kind::Limit, "Cast to int4b_t: CAST_ODD rounds floats to halves only", "CAST_RINT, or another mode");
  if (lanes.form == Lanes::Count && lanes.count % 2)
    i.refuse(Kind::Limit, format("Cast of %u int4b_t: the count must be even, whole bytes", lanes.count),
             "one more, or one less");
}

namespace {

// A run of the four-bit operand begins with its first byte's first element, or with the second if its first lane is odd.
void widen(States& ds, States& ss, std::uint8_t* d, const std::uint8_t* a, const Run& r) {
  static const auto halves = [] {
    std::array<std::uint16_t, 16> all{};
    for (unsigned v = 0; v < 16; ++v)
      all[v] = float_to_half(static_cast<float>(int4_of(static_cast<std::uint8_t>(v), false)));
    return all;
  }();
  const std::uint64_t od = r.offset[0], oa = r.offset[1], odd = r.lane % 2;
  const bool clean = ss.clean(oa, bytes_of_run(r, 4));
  for (std::uint64_t k = r.n; k-- > 0;) {  // from the end: the halves may lie over what they are made from
    const std::uint64_t at = oa + (odd + k) / 2;
    store(d + od + k * 2, halves[a[at] >> ((odd + k) % 2 * 4) & 15]);
    if (!clean) ds.set(od + k * 2, 2, ss.of(at, 1));
  }
  if (clean) ds.set(od, std::uint64_t{r.n} * 2, kDefined);
}

template <Round kMode>
void narrow(States& ds, States& ss, std::uint8_t* d, const std::uint8_t* a, const Run& r) {
  const std::uint64_t oa = r.offset[1], od = r.offset[0], n = r.n, odd = r.lane % 2;
  static thread_local std::vector<std::int8_t> values;
  values.resize(n);
  wide([to = values.data(), from = a + oa, n] {
    for (std::uint64_t k = 0; k < n; ++k) to[k] = static_cast<std::int8_t>(to_int4<kMode>(load<half>(from + k * 2)));
  });
  for (std::uint64_t k = 0; k < n; ++k) {
    const std::uint64_t at = od + (odd + k) / 2;
    d[at] = with_int4(d[at], (odd + k) % 2, values[k]);
  }
  if (odd == 0 && ss.clean(oa, n * 2)) return ds.set(od, (n + 1) / 2, kDefined);
  std::uint8_t state = kDefined;  // of a byte: that of both elements, or of the one that is written
  for (std::uint64_t k = 0; k < n; ++k) {
    state = meet((odd + k) % 2 ? state : kDefined, ss.of(oa + k * 2, 2));
    ds.set(od + (odd + k) / 2, 1, state);
  }
}

}  // namespace

void cast_int4(Instruction& i, const View& dst, const View& src, const std::vector<Run>& runs, Round mode) {
  States ds(i, dst), ss(i, src);
  std::uint8_t* const d = i.bytes(dst);
  const std::uint8_t* const a = i.bytes(src);
  if (src.dtype == DType::I4) {
    for (std::size_t n = runs.size(); n-- > 0;) widen(ds, ss, d, a, runs[n]);
  } else {
    with_rounding(mode, [&](auto m) {
      for (const Run& r : runs) narrow<m.value>(ds, ss, d, a, r);
    });
  }
}

}  // namespace twin
