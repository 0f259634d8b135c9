// SPDX-License-Identifier: Apache-2.0
// Matmul's tiling on the host: of all ways to divide C among the cores, with the best blocks for each (matmul_blocks.cpp),
// the one whose slowest core is estimated to end first.
#include "tiling/matmul_tiling.hpp"

#include "matmul_blocks.hpp"

namespace matmul_tiling {
namespace {

std::int32_t bytes_of(DataType type) {
  switch (type) {
    case DataType::DT_INT8:
    case DataType::DT_UINT8:
      return 1;
    case DataType::DT_FLOAT:
    case DataType::DT_INT32:
    case DataType::DT_UINT32:
      return 4;
    default:
      return 2;
  }
}
bool multiplies(DataType t) {
  return t == DataType::DT_FLOAT || t == DataType::DT_FLOAT16 || t == DataType::DT_INT8 || t == DataType::DT_INT4 ||
         t == DataType::DT_BF16;
}
std::int32_t bits_of(DataType type) { return type == DataType::DT_INT4 ? 4 : 8 * bytes_of(type); }

}  // namespace

MatmulApiTilingBase::MatmulApiTilingBase() : MatmulApiTilingBase(platform_ascendc::PlatformAscendC()) {}
MatmulApiTilingBase::MatmulApiTilingBase(const platform_ascendc::PlatformAscendC& platform) {
  using Type = platform_ascendc::CoreMemType;
  const auto room = [&](Type type) {
    std::uint64_t bytes = 0;
    platform.GetCoreMemSize(type, bytes);
    return static_cast<std::int64_t>(bytes);
  };
  l1_ = room(Type::L1);
  l0a_ = room(Type::L0_A);
  l0b_ = room(Type::L0_B);
  l0c_ = room(Type::L0_C);
  ub_ = room(Type::UB);
  bt_ = room(Type::BT);
}
MatmulApiTilingBase::MatmulApiTilingBase(const PlatformInfo& platform) : MatmulApiTilingBase() {
  const auto take = [](std::int64_t& own, std::uint64_t given) {
    if (given) own = static_cast<std::int64_t>(given);
  };
  take(l1_, platform.l1Size);
  take(l0a_, platform.l0ASize);
  take(l0b_, platform.l0BSize);
  take(l0c_, platform.l0CSize);
  take(ub_, platform.ubSize);
}

std::int32_t MatmulApiTilingBase::SetAType(TPosition, CubeFormat, DataType dataType, bool isTrans) {
  if (!multiplies(dataType) || (dataType == DataType::DT_INT4 && isTrans)) return -1;
  a_type_ = dataType;
  a_trans_ = isTrans;
  return 0;
}
std::int32_t MatmulApiTilingBase::SetBType(TPosition, CubeFormat, DataType dataType, bool isTrans) {
  if (!multiplies(dataType)) return -1;
  b_trans_ = isTrans;
  return 0;
}
std::int32_t MatmulApiTilingBase::SetCType(TPosition pos, CubeFormat, DataType dataType) {
  c_pos_ = pos;
  c_type_ = dataType;
  return 0;
}
std::int32_t MatmulApiTilingBase::SetBiasType(TPosition, CubeFormat, DataType) { return 0; }
std::int32_t MatmulApiTilingBase::SetShape(std::int32_t m, std::int32_t n, std::int32_t k) {
  if (m < -1 || n < -1 || k < -1) return -1;
  if (m > 0) m_ = m;
  if (n > 0) n_ = n;
  if (k > 0) k_ = k;
  return 0;
}
std::int32_t MatmulApiTilingBase::SetOrgShape(std::int32_t m, std::int32_t n, std::int32_t k) {
  return SetOrgShape(m, n, k, k);
}
std::int32_t MatmulApiTilingBase::SetOrgShape(std::int32_t m, std::int32_t n, std::int32_t ka, std::int32_t kb) {
  if (m <= 0 || n <= 0 || ka <= 0 || kb <= 0) return -1;
  org_m_ = m;
  org_n_ = n;
  org_ka_ = ka;
  org_kb_ = kb;
  return 0;
}
std::int32_t MatmulApiTilingBase::SetFixSplit(std::int32_t m, std::int32_t n, std::int32_t k) {
  if ((m != -1 && (m <= 0 || m % 16)) || (n != -1 && (n <= 0 || n % 16)) || (k != -1 && (k <= 0 || k % 8))) return -1;
  fixed_m_ = m;
  fixed_n_ = n;
  fixed_k_ = k;
  return 0;
}
std::int32_t MatmulApiTilingBase::SetBufferSpace(std::int32_t l1, std::int32_t l0c, std::int32_t ub, std::int32_t bt) {
  if (l1 >= 0) l1_ = std::min<std::int64_t>(l1_, l1);
  if (l0c >= 0) l0c_ = std::min<std::int64_t>(l0c_, l0c);
  if (ub >= 0) ub_ = std::min<std::int64_t>(ub_, ub);
  if (bt >= 0) bt_ = std::min<std::int64_t>(bt_, bt);
  return 0;
}
std::int32_t MatmulApiTilingBase::SetSplitRange(std::int32_t max_m, std::int32_t max_n, std::int32_t max_k,
                                                std::int32_t min_m, std::int32_t min_n, std::int32_t min_k) {
  const auto take = [](Range& r, std::int32_t low, std::int32_t high) {
    if (low > 0) r.low = up(low, 16);
    if (high > 0) r.high = high / 16 * 16;
    return r.low <= r.high;
  };
  const bool m = take(range_m_, min_m, max_m), n = take(range_n_, min_n, max_n), k = take(range_k_, min_k, max_k);
  return m && n && k ? 0 : -1;
}
std::int32_t MatmulApiTilingBase::SetDoubleBuffer(bool a, bool b, bool c, bool, bool, bool) {
  double_l0a_ = a;
  double_l0b_ = b;
  double_l0c_ = c;
  return 0;
}
void MatmulApiTilingBase::SetMatmulConfigParams(std::int32_t, bool, ScheduleType, MatrixTraverse traverse, bool) {
  if (traverse != MatrixTraverse::NOSET) traverse_ = traverse;
}
void MatmulApiTilingBase::SetMatmulConfigParams(const MatmulConfigParams& p) {
  SetMatmulConfigParams(p.mmConfigType, p.enableL1CacheUB, p.scheduleType, p.traverse, p.enVecND2NZ);
}

double MatmulApiTilingBase::choose_blocks() {
  const std::int32_t bits = bits_of(a_type_), square = std::max(16, 256 / bits);  // in which elements are turned
  Problem p{single_m_,
            single_n_,
            single_k_,
            bits,
            bytes_of(c_type_),
            l1_ - (bias_ ? 2048 : 0),
            std::min(l0a_, l0b_),
            l0c_,
            double_l0a_ && double_l0b_,
            double_l0c_,
            a_trans_,
            b_trans_,
            a_trans_ ? square : 16,
            b_trans_ ? 16 : square,
            square,
            bits == 32 ? 4 : square};
  const bool to_ub = c_pos_ == TPosition::VECIN || c_pos_ == TPosition::VECOUT || c_pos_ == TPosition::VECCALC;
  // To UB: half of L0C, so that each of the two vector cores has a block on its way.
  const std::int64_t c_bytes = to_ub ? std::min(ub_, fixed_m_ > 0 && fixed_n_ > 0 ? ub_ : l0c_ / 2) : std::int64_t{1} << 40;
  const Blocks b = best_blocks(p, {fixed_m_, fixed_n_, fixed_k_, range_m_.low, range_m_.high, range_n_.low, range_n_.high,
                                   range_k_.high, c_bytes, bias_ ? bt_ / 4 : std::int64_t{1} << 40});
  base_m_ = b.m;
  base_n_ = b.n;
  base_k_ = b.k;
  step_k_ = b.step_k;
  return b.cycles;
}

std::int64_t MatmulApiTilingBase::GetTiling(TCubeTiling& t) {
  if (m_ <= 0 || n_ <= 0 || k_ <= 0) return -1;
  if (!org_m_) SetOrgShape(m_, n_, k_);
  if (!divide() || !(choose_blocks() < HUGE_VAL)) return -1;
  t = layouts_;
  t.usedCoreNum = used_;
  t.M = org_m_;
  t.N = org_n_;
  t.Ka = org_ka_;
  t.Kb = org_kb_;
  t.singleCoreM = single_m_;
  t.singleCoreN = single_n_;
  t.singleCoreK = single_k_;
  t.baseM = base_m_;
  t.baseN = base_n_;
  t.baseK = base_k_;
  t.stepM = t.stepN = 1;
  t.stepKa = t.stepKb = step_k_;
  t.depthA1 = t.depthB1 = 2 * step_k_;
  t.isBias = bias_;
  t.iterateOrder = traverse_ == MatrixTraverse::FIRSTN ? 1 : 0;
  t.dbL0A = double_l0a_ ? 2 : 1;
  t.dbL0B = double_l0b_ ? 2 : 1;
  t.dbL0C = double_l0c_ && std::int64_t{base_m_} * base_n_ * 8 <= l0c_ ? 2 : 1;
  t.shareL1Size = t.depthA1 * (base_m_ + base_n_) * base_k_ * bits_of(a_type_) / 8;
  t.shareL0CSize = base_m_ * base_n_ * 4 * t.dbL0C;
  return 0;
}

std::int32_t MatmulApiTilingBase::SetALayout(std::int32_t b, std::int32_t s, std::int32_t n, std::int32_t g,
                                             std::int32_t d) {
  layouts_.ALayoutInfoB = b;
  layouts_.ALayoutInfoS = s;
  layouts_.ALayoutInfoN = n;
  layouts_.ALayoutInfoG = g;
  layouts_.ALayoutInfoD = d;
  return 0;
}
std::int32_t MatmulApiTilingBase::SetBLayout(std::int32_t b, std::int32_t s, std::int32_t n, std::int32_t g,
                                             std::int32_t d) {
  layouts_.BLayoutInfoB = b;
  layouts_.BLayoutInfoS = s;
  layouts_.BLayoutInfoN = n;
  layouts_.BLayoutInfoG = g;
  layouts_.BLayoutInfoD = d;
  return 0;
}
std::int32_t MatmulApiTilingBase::SetCLayout(std::int32_t b, std::int32_t s1, std::int32_t n, std::int32_t g,
                                             std::int32_t s2) {
  layouts_.CLayoutInfoB = b;
  layouts_.CLayoutInfoS1 = s1;
  layouts_.CLayoutInfoN = n;
  layouts_.CLayoutInfoG = g;
  layouts_.CLayoutInfoS2 = s2;
  return 0;
}
std::int32_t MatmulApiTilingBase::SetBatchNum(std::int32_t batch) {
  layouts_.BatchNum = batch;
  return batch > 0 ? 0 : -1;
}
std::int32_t MatmulApiTilingBase::SetBatchInfoForNormal(std::int32_t a, std::int32_t b, std::int32_t m, std::int32_t n,
                                                        std::int32_t k) {
  return SetBatchNum(std::max(a, b)) | SetShape(m, n, k);
}

bool MatmulApiTiling::divide() {
  single_m_ = m_;
  single_n_ = n_;
  single_k_ = k_;
  used_ = 1;
  return true;
}

std::int32_t MultiCoreMatmulTiling::SetDim(std::int32_t dim) {
  if (dim <= 0) return -1;
  dim_ = dim;
  return 0;
}
std::int32_t MultiCoreMatmulTiling::SetSingleShape(std::int32_t m, std::int32_t n, std::int32_t k) {
  asked_m_ = m;
  asked_n_ = n;
  asked_k_ = k;
  return m == 0 || n == 0 || k == 0 ? -1 : 0;
}
std::int32_t MultiCoreMatmulTiling::SetSingleRange(std::int32_t max_m, std::int32_t max_n, std::int32_t, std::int32_t min_m,
                                                   std::int32_t min_n, std::int32_t) {
  if (max_m > 0) single_m_range_.high = max_m;
  if (max_n > 0) single_n_range_.high = max_n;
  if (min_m > 0) single_m_range_.low = min_m;
  if (min_n > 0) single_n_range_.low = min_n;
  return single_m_range_.low <= single_m_range_.high && single_n_range_.low <= single_n_range_.high ? 0 : -1;
}
std::int32_t MultiCoreMatmulTiling::SetAlignSplit(std::int32_t m, std::int32_t n, std::int32_t) {
  if (m > 0) align_m_ = m;
  if (n > 0) align_n_ = n;
  return 0;
}
std::int32_t MultiCoreMatmulTiling::GetSingleShape(std::int32_t& m, std::int32_t& n, std::int32_t& k) const {
  m = single_m_;
  n = single_n_;
  k = single_k_;
  return 0;
}
std::int32_t MultiCoreMatmulTiling::GetCoreNum(std::int32_t& dim, std::int32_t& m_dim, std::int32_t& n_dim) const {
  dim = used_;
  m_dim = m_dim_;
  n_dim = n_dim_;
  return 0;
}

bool MultiCoreMatmulTiling::divide() {
  single_k_ = asked_k_ > 0 ? std::min(asked_k_, k_) : k_;
  const std::int32_t k_dim = parts(k_, single_k_);
  struct Division {
    std::int32_t m = 0, n = 0;
    double cycles = HUGE_VAL;
  } best;
  const auto within = [](std::int32_t v, const Range& r) { return v <= r.high; };
  const std::int32_t line = 512 * 8 / bits_of(a_type_);  // elements: shares of whole lines of GM, or of whole fractals
  for (std::int32_t nth = 0; nth < 4 * (dim_ / k_dim); ++nth) {
    const std::int32_t down = nth / 4 + 1, across = dim_ / k_dim / down;
    const std::int32_t by_m = nth & 1 ? up(line, align_m_) : align_m_, by_n = nth & 2 ? up(line, align_n_) : align_n_;
    single_m_ = asked_m_ > 0 ? std::min(asked_m_, m_) : std::min(m_, up(parts(m_, down), by_m));
    single_n_ = asked_n_ > 0 ? std::min(asked_n_, n_) : std::min(n_, up(parts(n_, across), by_n));
    single_m_ = std::max(single_m_, std::min(single_m_range_.low, m_));
    single_n_ = std::max(single_n_, std::min(single_n_range_.low, n_));
    if (parts(m_, single_m_) * parts(n_, single_n_) * k_dim > dim_ || !within(single_m_, single_m_range_) ||
        !within(single_n_, single_n_range_))
      continue;
    const double cycles = choose_blocks();
    if (cycles < best.cycles) best = {single_m_, single_n_, cycles};
  }
  if (best.m == 0) return false;
  single_m_ = best.m;
  single_n_ = best.n;
  m_dim_ = parts(m_, single_m_);
  n_dim_ = parts(n_, single_n_);
  used_ = m_dim_ * n_dim_ * k_dim;
  return true;
}

}  // namespace matmul_tiling
