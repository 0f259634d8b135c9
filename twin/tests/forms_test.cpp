// SPDX-License-Identifier: Apache-2.0
// Duplicate, Copy, Cast and the reductions in every element type and mask form, with random masks and strides, against
// plain loops. What a mask leaves out, and what lies between strides, keeps its bits.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels.hpp"
#include "support.hpp"

using namespace AscendC;
using twin_test::gm;
using twin_test::order;
using twin_test::ub;

namespace {

constexpr int kBytes = 32768;  // of each side

struct Form {
  enum { Count, Bits, First, Register } kind;
  int count, repeats, lanes;  // lanes a repeat
  std::uint64_t mask[2];
  int dst_block, dst_repeat, src_block, src_repeat;
  bool on(int lane) const {
    if (kind == First) return lane < count;
    return mask[lane / 64] >> (lane % 64) & 1;
  }
};
Form random_form(std::mt19937& random, int lanes, int max_count) {
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  Form f{};
  f.kind = static_cast<decltype(f.kind)>(pick(0, 3));
  f.lanes = lanes;
  f.count = f.kind == Form::Count ? pick(1, max_count) : pick(1, lanes);
  f.repeats = pick(1, 5);
  f.mask[0] = (std::uint64_t{random()} << 32) | random();
  f.mask[1] = lanes > 64 ? (std::uint64_t{random()} << 32) | random() : 0;
  if (lanes < 64) f.mask[0] &= (1ull << lanes) - 1;
  f.mask[0] |= 1;
  f.dst_block = pick(1, 3);
  f.src_block = pick(0, 3);
  f.dst_repeat = pick(24, 30);
  f.src_repeat = pick(0, 30);
  return f;
}
UnaryRepeatParams unary(const Form& f) {
  return UnaryRepeatParams(static_cast<std::uint16_t>(f.dst_block), static_cast<std::uint16_t>(f.src_block),
                           static_cast<std::uint16_t>(f.dst_repeat), static_cast<std::uint16_t>(f.src_repeat));
}

// The element at which a lane lies, in a tensor of this width.
int place(int repeat, int lane, int block, int step, int size) {
  const int in_block = 32 / size;
  return (repeat * step + lane / in_block * block) * in_block + lane % in_block;
}

template <class D, class S>
using Body = void (*)(const LocalTensor<D>&, const LocalTensor<S>&, Form);
template <class D, class S>
void kernel(GM_ADDR x, GM_ADDR old, GM_ADDR z, Form form, Body<D, S> body) {
  const auto a = ub<S>(0, kBytes / sizeof(S));
  const auto d = ub<D>(kBytes, kBytes / sizeof(D));
  DataCopy(a, gm<S>(x, kBytes / sizeof(S)), kBytes / sizeof(S));
  DataCopy(d, gm<D>(old, kBytes / sizeof(D)), kBytes / sizeof(D));
  order<HardEvent::MTE2_V>();
  if (form.kind == Form::Register) SetVectorMask<D>(form.mask[1], form.mask[0]);
  body(d, a, form);
  ResetMask();
  order<HardEvent::V_MTE3>();
  DataCopy(gm<D>(z, kBytes / sizeof(D)), d, kBytes / sizeof(D));
}
template <class D, class S>
std::vector<D> run(const std::vector<S>& a, const std::vector<D>& old, const Form& form, Body<D, S> body) {
  twin_test::Device<S> x(a);
  twin_test::Device<D> y(old), z(old.size());
  RUN((kernel<D, S>), 1).auto_sync(false)(x, y, z, form, body);
  EXPECT_SILENT();
  return z.values();
}
template <class T>
void same(const std::vector<T>& got, const std::vector<T>& want, const char* name, unsigned seed, int kind) {
  for (std::size_t k = 0; k < got.size(); ++k) {
    ASSERT_EQ(std::memcmp(&got[k], &want[k], sizeof(T)), 0)
        << name << " " << twin::name(twin::DTypeOf<T>::kValue) << " seed " << seed << " form " << kind << " element " << k
        << ": " << static_cast<double>(got[k]) << ", expected " << static_cast<double>(want[k]);
  }
}
template <class T>
std::vector<T> bits(std::mt19937& random) {  // any values, but no NaN
  std::vector<T> v(kBytes / sizeof(T));
  for (T& e : v) {
    if constexpr (std::is_integral<T>::value) {
      e = static_cast<T>(random());
    } else {
      e = T(static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 8);
    }
  }
  return v;
}

// ---- Duplicate and Copy ----
template <class T>
T scalar_of_test = T(0);
template <class T>
void duplicate(const LocalTensor<T>& d, const LocalTensor<T>&, Form f) {
  const T s = scalar_of_test<T>;
  const auto n = static_cast<std::uint8_t>(f.repeats), step = static_cast<std::uint8_t>(f.dst_repeat);
  const auto block = static_cast<std::uint16_t>(f.dst_block);
  if (f.kind == Form::Count) Duplicate(d, s, f.count);
  if (f.kind == Form::Bits) Duplicate(d, s, f.mask, n, block, step);
  if (f.kind == Form::First) Duplicate(d, s, static_cast<std::uint64_t>(f.count), n, block, step);
  if (f.kind == Form::Register) Duplicate<T, false>(d, s, MASK_PLACEHOLDER_LIST, n, block, step);
}
template <class T>
void copy(const LocalTensor<T>& d, const LocalTensor<T>& a, Form f) {
  const CopyRepeatParams p(static_cast<std::uint16_t>(f.dst_block), static_cast<std::uint16_t>(f.src_block),
                           static_cast<std::uint16_t>(f.dst_repeat), static_cast<std::uint16_t>(f.src_repeat));
  const auto n = static_cast<std::uint8_t>(f.repeats);
  if (f.kind == Form::Bits) Copy(d, a, f.mask, n, p);
  if (f.kind == Form::First) Copy(d, a, static_cast<std::uint64_t>(f.count), n, p);
  if (f.kind == Form::Register) Copy<T, false>(d, a, MASK_PLACEHOLDER_LIST, n, p);
}
template <class T>
void check_fill_and_copy() {
  for (unsigned seed = 1; seed <= 16; ++seed) {
    std::mt19937 random(seed);
    const auto in = bits<T>(random), old = bits<T>(random);
    const Form f = random_form(random, 256 / sizeof(T), kBytes / sizeof(T));
    scalar_of_test<T> = in[7];
    auto filled = old, copied = old;
    for (int r = 0; r < (f.kind == Form::Count ? 1 : f.repeats); ++r) {
      for (int l = 0; l < (f.kind == Form::Count ? f.count : f.lanes); ++l) {
        if (f.kind != Form::Count && !f.on(l)) continue;
        const int to = f.kind == Form::Count ? l : place(r, l, f.dst_block, f.dst_repeat, sizeof(T));
        filled[to] = in[7];
        if (f.kind != Form::Count) copied[to] = in[place(r, l, f.src_block, f.src_repeat, sizeof(T))];
      }
    }
    same(run<T, T>(in, old, f, duplicate<T>), filled, "Duplicate", seed, f.kind);
    same(run<T, T>(in, old, f, copy<T>), copied, "Copy", seed, f.kind);
  }
}
TEST(Forms, DuplicateAndCopyInEveryType) {
  check_fill_and_copy<half>();
  check_fill_and_copy<bfloat16_t>();
  check_fill_and_copy<std::int16_t>();
  check_fill_and_copy<std::uint16_t>();
  check_fill_and_copy<float>();
  check_fill_and_copy<std::int32_t>();
  check_fill_and_copy<std::uint32_t>();
}

// ---- Cast ----
RoundMode mode_of_test = RoundMode::CAST_NONE;
template <class D, class S>
void cast(const LocalTensor<D>& d, const LocalTensor<S>& a, Form f) {
  SetDeqScale(half(1));
  const auto n = static_cast<std::uint8_t>(f.repeats);
  if (f.kind == Form::Count) Cast(d, a, mode_of_test, static_cast<std::uint32_t>(f.count));
  if (f.kind == Form::Bits) Cast(d, a, mode_of_test, f.mask, n, unary(f));
  if (f.kind == Form::First) Cast(d, a, mode_of_test, static_cast<std::uint64_t>(f.count), n, unary(f));
  if (f.kind == Form::Register) Cast<D, S, false>(d, a, mode_of_test, MASK_PLACEHOLDER_LIST, n, unary(f));
}
double rounded(double x, RoundMode mode) {
  const double down = std::floor(x), up = std::ceil(x);
  switch (mode) {
    case RoundMode::CAST_FLOOR:
      return down;
    case RoundMode::CAST_CEIL:
      return up;
    case RoundMode::CAST_TRUNC:
      return x < 0 ? up : down;
    case RoundMode::CAST_ROUND:
      return x < 0 ? -std::floor(-x + 0.5) : std::floor(x + 0.5);
    case RoundMode::CAST_ODD:
      return down == up ? x : std::fmod(down, 2) != 0 ? down : up;
    default:  // to nearest, ties to even
      return x - down < 0.5 ? down : x - down > 0.5 ? up : std::fmod(down, 2) == 0 ? down : up;
  }
}
template <class D, class S>
D converted(S x, RoundMode mode) {
  const auto v = static_cast<double>(x);
  if constexpr (std::is_integral<D>::value) {
    if constexpr (std::is_integral<S>::value) {
      const auto n = static_cast<std::int64_t>(x);
      if (n < std::numeric_limits<D>::min()) return std::numeric_limits<D>::min();
      return n > std::numeric_limits<D>::max() ? std::numeric_limits<D>::max() : static_cast<D>(n);
    }
    const double r = rounded(v, mode);
    if (r <= static_cast<double>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
    if (r >= static_cast<double>(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
    return static_cast<D>(r);
  } else if constexpr (std::is_same<D, float>::value) {
    return std::is_same<S, float>::value ? static_cast<float>(rounded(v, mode)) : static_cast<float>(v);
  } else {
    if (v == 0) return D(static_cast<float>(x));
    const int mantissa = std::is_same<D, half>::value ? 10 : 7, least = std::is_same<D, half>::value ? -14 : -126;
    const int shift = mantissa - std::max(std::ilogb(v), least);
    const double r = std::ldexp(rounded(std::ldexp(v, shift), mode), -shift);
    return D(static_cast<float>(std::is_same<D, half>::value && std::fabs(r) > 65504 ? std::copysign(INFINITY, r) : r));
  }
}
template <class D, class S>
void check_cast() {
  constexpr int kWidest = sizeof(D) > sizeof(S) ? sizeof(D) : sizeof(S);
  for (int mode = 0; mode < 7; ++mode) {
    mode_of_test = static_cast<RoundMode>(mode);
    for (unsigned seed = 1; seed <= 6; ++seed) {
      std::mt19937 random(seed * 31 + static_cast<unsigned>(mode));
      auto in = bits<S>(random);
      if constexpr (!std::is_integral<S>::value) {
        for (S& v : in) v = S(std::ldexp(static_cast<float>(v), static_cast<int>(random() % 24) - 14));
      } else if constexpr (sizeof(S) == 8) {
        for (S& v : in) v = static_cast<S>(static_cast<std::uint64_t>(v) << (random() % 32));
      }
      const auto old = bits<D>(random);
      const Form f = random_form(random, 256 / kWidest, kBytes / kWidest);
      auto want = old;
      for (int r = 0; r < (f.kind == Form::Count ? 1 : f.repeats); ++r) {
        for (int l = 0; l < (f.kind == Form::Count ? f.count : f.lanes); ++l) {
          if (f.kind != Form::Count && !f.on(l)) continue;
          const int to = f.kind == Form::Count ? l : place(r, l, f.dst_block, f.dst_repeat, sizeof(D));
          const int from = f.kind == Form::Count ? l : place(r, l, f.src_block, f.src_repeat, sizeof(S));
          want[to] = converted<D, S>(in[from], mode_of_test);
        }
      }
      same(run<D, S>(in, old, f, cast<D, S>), want, "Cast", seed, f.kind * 10 + mode);
    }
  }
}
TEST(Forms, CastInEveryPairOfTypesAndMode) {
  check_cast<float, half>();
  check_cast<std::int32_t, half>();
  check_cast<std::int16_t, half>();
  check_cast<std::int8_t, half>();
  check_cast<std::uint8_t, half>();
  check_cast<float, float>();
  check_cast<half, float>();
  check_cast<bfloat16_t, float>();
  check_cast<std::int64_t, float>();
  check_cast<std::int32_t, float>();
  check_cast<std::int16_t, float>();
  check_cast<float, bfloat16_t>();
  check_cast<std::int32_t, bfloat16_t>();
  check_cast<half, std::uint8_t>();
  check_cast<half, std::int8_t>();
  check_cast<half, std::int16_t>();
  check_cast<float, std::int16_t>();
  check_cast<float, std::int32_t>();
  check_cast<std::int64_t, std::int32_t>();
  check_cast<std::int16_t, std::int32_t>();
  check_cast<half, std::int32_t>();
  check_cast<std::int32_t, std::int64_t>();
  check_cast<float, std::int64_t>();
}

// ---- reductions ----
template <class T>
void reduce(const LocalTensor<T>& d, const LocalTensor<T>& a, Form f) {
  const auto first = static_cast<std::int32_t>(f.count);
  const auto each = [&](auto&& with) {
    if (f.kind == Form::Bits) {
      const std::uint64_t* const mask = f.mask;
      with(mask, std::true_type());
    } else if (f.kind == Form::Register) {
      with(MASK_PLACEHOLDER, std::false_type());
    } else {
      with(first, std::true_type());
    }
  };
  const int n = f.repeats, block = f.src_block, step = f.src_repeat, at = 2048 / static_cast<int>(sizeof(T));
  each([&](const auto& mask, auto set) {
    WholeReduceSum<T, set.value>(d, a, mask, n, 1, block, step);
    WholeReduceMax<T, set.value>(d[at], a, mask, n, 1, block, step);
    WholeReduceMin<T, set.value>(d[2 * at], a, mask, n, 1, block, step, ReduceOrder::ORDER_ONLY_VALUE);
    BlockReduceSum<T, set.value>(d[3 * at], a, n, mask, 1, block, step);
    BlockReduceMax<T, set.value>(d[4 * at], a, n, mask, 1, block, step);
    BlockReduceMin<T, set.value>(d[5 * at], a, n, mask, 1, block, step);
    PairReduceSum<T, set.value>(d[6 * at], a, n, mask, 1, block, step);
  });
}
template <class T>
void check_reduce() {
  constexpr int kLanes = 256 / sizeof(T), kBlock = 32 / sizeof(T), kAt = 2048 / sizeof(T);
  for (unsigned seed = 1; seed <= 24; ++seed) {
    std::mt19937 random(seed);
    auto in = bits<T>(random);
    for (T& v : in) v = T(std::floor(static_cast<float>(v) / 16));  // sums are exact in any order
    const auto old = bits<T>(random);
    Form f = random_form(random, kLanes, 1);
    if (f.kind == Form::Count) f.kind = Form::First, f.count = kLanes;
    auto want = old;
    for (int r = 0; r < f.repeats; ++r) {
      const auto group = [&](int first, int n, int sum_at, int max_at, int min_at, bool index) {
        float sum = 0, most = 0, least = std::numeric_limits<float>::infinity();
        int where = -1;
        for (int l = first; l < first + n; ++l) {
          if (!f.on(l)) continue;
          const auto x = static_cast<float>(in[place(r, l, f.src_block, f.src_repeat, sizeof(T))]);
          sum += x;
          if (where < 0 || x > most) most = x, where = l;
          least = std::min(least, x);
        }
        if (where < 0) return;
        want[sum_at] = T(sum);
        if (max_at >= 0) want[max_at] = T(most);
        if (min_at >= 0) want[min_at] = T(least);
        if (index) {
          const auto i = static_cast<std::uint32_t>(where);
          std::memcpy(static_cast<void*>(&want[max_at + 1]), &i, sizeof(T));
        }
      };
      group(0, kLanes, r, kAt + 2 * r, 2 * kAt + r, true);
      for (int b = 0; b < 8; ++b)
        group(b * kBlock, kBlock, 3 * kAt + r * 8 + b, 4 * kAt + r * 8 + b, 5 * kAt + r * 8 + b, false);
      for (int p = 0; p < kLanes / 2; ++p) group(2 * p, 2, 6 * kAt + r * kLanes / 2 + p, -1, -1, false);
    }
    same(run<T, T>(in, old, f, reduce<T>), want, "reductions", seed, f.kind);
  }
}
TEST(Forms, ReductionsInBothTypes) {
  check_reduce<float>();
  check_reduce<half>();
}

}  // namespace
