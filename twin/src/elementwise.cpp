// SPDX-License-Identifier: Apache-2.0
// The rows of vector.inc, executed.
#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "banks.hpp"
#include "lane_math.hpp"
#include "lanes.hpp"
#include "wide.hpp"

namespace twin {
namespace {

using namespace lane;

// d, a, b: n elements each; d may be a or b.
using LoopFn = void (*)(std::uint8_t* d, const std::uint8_t* a, const std::uint8_t* b, std::uint32_t n);
enum class Shape : std::uint8_t { Binary, Scalar, Unary };
struct Row {
  const char* name;
  const char* cost;
  Shape shape;
  bool reads_dst;
  LoopFn (*loop)(DType dst, DType src);
};

template <class D, class S, bool kScalar, bool kUnary, bool kReadsDst, class Lane>
inline __attribute__((always_inline)) void body(std::uint8_t* dp, const std::uint8_t* ap, const std::uint8_t* bp,
                                                std::uint32_t n) {
  using C = typename Compute<D>::Type;
  D* d = reinterpret_cast<D*>(dp);
  const S* a = reinterpret_cast<const S*>(ap);
  const S* b = reinterpret_cast<const S*>(bp);
  const C scalar = kScalar ? C(*b) : C(0);
  for (std::uint32_t i = 0; i < n; ++i) {
    d[i] = narrow<D>(Lane::of(C(a[i]), kScalar ? scalar : kUnary ? C(0) : C(b[i]), kReadsDst ? C(d[i]) : C(0)));
  }
}
template <class D, class S, bool kScalar, bool kUnary, bool kReadsDst, class Lane>
void loop_wide(std::uint8_t* d, const std::uint8_t* a, const std::uint8_t* b, std::uint32_t n) {
  wide([=] { body<D, S, kScalar, kUnary, kReadsDst, Lane>(d, a, b, n); });
}
#if defined(__x86_64__)
// Halves in chunks that stay in L1, with the processor's conversions: every one with AVX2 has F16C. The bits are those of
// half_to_float and float_to_half; a NaN becomes the same NaN.
constexpr std::uint32_t kChunk = 256;

__attribute__((target("avx2,f16c"))) inline void widen(float* to, const half* from, std::uint32_t n) {
  std::uint32_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  for (; i < n; ++i) to[i] = from[i];
}

__attribute__((target("avx2,f16c"))) inline void narrow_all(half* to, const float* from, std::uint32_t n) {
  const __m128i magnitude = _mm_set1_epi16(0x7fff), infinity = _mm_set1_epi16(0x7c00), quiet = _mm_set1_epi16(0x7e00);
  std::uint32_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m128i is_nan = _mm_cmpgt_epi16(_mm_and_si128(h, magnitude), infinity);
    const __m128i nan = _mm_or_si128(_mm_andnot_si128(magnitude, h), quiet);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm_blendv_epi8(h, nan, is_nan));
  }
  for (; i < n; ++i) to[i] = half(from[i]);
}

template <bool kScalar, bool kUnary, bool kReadsDst, class Lane>
__attribute__((target("avx2,f16c"))) void loop_halves(std::uint8_t* dp, const std::uint8_t* ap, const std::uint8_t* bp,
                                                      std::uint32_t n) {
  half* d = reinterpret_cast<half*>(dp);
  const half* a = reinterpret_cast<const half*>(ap);
  const half* b = reinterpret_cast<const half*>(bp);
  const float scalar = kScalar ? float(*b) : 0;
  float fa[kChunk], fb[kChunk], fd[kChunk];
  for (std::uint32_t first = 0; first < n; first += kChunk) {
    const std::uint32_t m = std::min(kChunk, n - first);
    widen(fa, a + first, m);
    if (!kScalar && !kUnary) widen(fb, b + first, m);
    if (kReadsDst) widen(fd, d + first, m);
    for (std::uint32_t i = 0; i < m; ++i)
      fd[i] = Lane::of(fa[i], kScalar ? scalar : kUnary ? 0.0f : fb[i], kReadsDst ? fd[i] : 0.0f);
    narrow_all(d + first, fd, m);
  }
}

#endif

template <class D, class S, bool kScalar, bool kUnary, bool kReadsDst, class Lane>
LoopFn loop() {
#if defined(__x86_64__)
  if constexpr (std::is_same_v<D, half> && std::is_same_v<S, half>) {
    if (has_avx2()) return &loop_halves<kScalar, kUnary, kReadsDst, Lane>;
  }
#endif
  return &loop_wide<D, S, kScalar, kUnary, kReadsDst, Lane>;
}

template <std::uint32_t kTypes, bool kScalar, bool kUnary, bool kReadsDst, class Lane>
LoopFn pick(DType dst, DType src) {
#define TWIN_CASE(type)                                                                                          \
  if constexpr ((kTypes & bit(DTypeOf<type>::kValue)) != 0) {                                                    \
    if (dst == DTypeOf<type>::kValue && src == dst) return loop<type, type, kScalar, kUnary, kReadsDst, Lane>(); \
  }
  TWIN_CASE(float)
  TWIN_CASE(half)
  TWIN_CASE(std::int32_t)
  TWIN_CASE(std::int16_t)
  TWIN_CASE(std::uint16_t)
  TWIN_CASE(std::uint32_t)
#undef TWIN_CASE
  if constexpr (kReadsDst && (kTypes & kF16) != 0) {
    if (dst == DType::F32 && src == DType::F16) return loop<float, half, kScalar, kUnary, kReadsDst, Lane>();
  }
  return nullptr;
}

#define TWIN_LANE(name, expression)                                                 \
  struct Lane##name {                                                               \
    template <class C>                                                              \
    static C of([[maybe_unused]] C a, [[maybe_unused]] C b, [[maybe_unused]] C d) { \
      return static_cast<C>(expression);                                            \
    }                                                                               \
  };
#define TWIN_BINARY(name, types, cost, expression) TWIN_LANE(name, expression)
#define TWIN_BINARY_DST(name, types, cost, expression) TWIN_LANE(name, expression)
#define TWIN_SCALAR(name, types, cost, expression) TWIN_LANE(name, expression)
#define TWIN_SCALAR_DST(name, types, cost, expression) TWIN_LANE(name, expression)
#define TWIN_UNARY(name, types, cost, expression) TWIN_LANE(name, expression)
#include "twin/vector.inc"

constexpr Row kRows[] = {
#define TWIN_BINARY(name, types, cost, expression) \
  {#name, cost, Shape::Binary, false, &pick<(types), false, false, false, Lane##name>},
#define TWIN_BINARY_DST(name, types, cost, expression) \
  {#name, cost, Shape::Binary, true, &pick<(types), false, false, true, Lane##name>},
#define TWIN_SCALAR(name, types, cost, expression) \
  {#name, cost, Shape::Scalar, false, &pick<(types), true, false, false, Lane##name>},
#define TWIN_SCALAR_DST(name, types, cost, expression) \
  {#name, cost, Shape::Scalar, true, &pick<(types), true, false, true, Lane##name>},
#define TWIN_UNARY(name, types, cost, expression) \
  {#name, cost, Shape::Unary, false, &pick<(types), false, true, false, Lane##name>},
#include "twin/vector.inc"
};

// Also of the bytes between the runs, so that it is one look for many short ones.
bool all_clean(const States& states, const RunList& runs, int operand) {
  const Span& span = runs.span[operand];
  return span.begin >= span.end || states.clean(span.begin, span.end - span.begin);
}

// Cycles a repeat for the two sources' banks. The figures of other instructions with two sources have it in them.
double sources_meet(const VecCall& call) {
  const bool count = call.lanes.form == Lanes::Count || core().mask_counts;
  const std::uint32_t lanes = lanes_a_repeat(size_bytes(call.src0.dtype));
  const std::uint32_t n = count ? 8 : blocks_of(core().mask, lanes, lanes / 8);
  const auto reads = [&](const View& v, Stride s) {
    return Reads{v.addr / kBlockBytes, count || s.block ? n : 1, count ? 8u : s.repeat};
  };
  return meeting_sources(reads(call.src0, call.src0_stride), reads(call.src1, call.src1_stride),
                         count ? 1 : call.lanes.repeats);
}

}  // namespace

void vector_elementwise(const VecCall& call, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { vector_elementwise(call, site); })
  const Row& row = kRows[int(call.op)];
  Instruction i(Pipe::V, row.name, site);
  const LoopFn run_lanes = row.loop(call.dst.dtype, call.src0.dtype);
  if (!run_lanes) i.refuse(Kind::Limit, format("%s has no form for %s", row.name, name(call.dst.dtype)), "cast first");
  Operand operands[4] = {{&call.dst, call.dst_stride, true}, {&call.src0, call.src0_stride}};
  int count = 2;
  const bool binary = row.shape == Shape::Binary;
  if (binary) operands[count++] = {&call.src1, call.src1_stride};
  if (row.reads_dst) operands[count++] = {&call.dst, call.dst_stride};
  const auto& runs = make_runs(i, call.lanes, operands, count);
  const std::uint32_t dst_bytes = size_bytes(call.dst.dtype);
  const std::uint32_t src_bytes = size_bytes(call.src0.dtype);
  const std::uint32_t widest = std::max(dst_bytes, src_bytes);
  i.cost(row.cost, repeats_for(call.lanes, widest), widest == 2 ? call.dst.dtype : DType::F32);
  if (binary && std::strcmp(row.cost, "TwoVectors") == 0) i.conflict(sources_meet(call));
  if (!i.issue()) return;
  std::uint8_t* const d = i.bytes(call.dst);
  const std::uint8_t* const a = i.bytes(call.src0);
  const std::uint8_t* const b = binary ? i.bytes(call.src1) : nullptr;
  States ds(i, call.dst), as(i, call.src0), bs(i, binary ? call.src1 : call.src0);
  const bool clean = all_clean(ds, runs, 0) && all_clean(as, runs, 1) && (!binary || all_clean(bs, runs, 2));
  for (const Run& r : runs) {
    run_lanes(d + r.offset[0], a + r.offset[1],
              binary ? b + r.offset[2] : reinterpret_cast<const std::uint8_t*>(&call.scalar), r.n);
    if (clean) continue;
    const Elements to{ds, r.offset[0], dst_bytes}, first{as, r.offset[1], src_bytes}, second{bs, r.offset[2], src_bytes};
    if (binary && row.reads_dst) {
      meet_lanes(to, r.n, first, second, to);
    } else if (binary) {
      meet_lanes(to, r.n, first, second);
    } else if (row.reads_dst) {
      meet_lanes(to, r.n, first, to);
    } else {
      meet_lanes(to, r.n, first);
    }
  }
}

}  // namespace twin
