// SPDX-License-Identifier: Apache-2.0
#include "tessera/merge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <string>

#include "base/convert.hpp"
#include "base/float_mode.hpp"
#include "base/refused.hpp"
#include "base/text.hpp"
#include "planner/checked.hpp"
#include "runtime/executor.hpp"
#include "runtime/footprint.hpp"
#include "runtime/tensor_checks.hpp"

namespace tessera {
namespace {

using base::number;

constexpr float kEmpty = -std::numeric_limits<float>::infinity();
constexpr std::int64_t kMaxHeadDim = 256;

struct F32 {
  using Stored = float;
  static float load(float x) noexcept { return x; }
  static float store(float x) noexcept { return x; }
};
struct F16 {
  using Stored = std::uint16_t;
  static float load(Stored x) noexcept { return base::f16_to_float(x); }
  static Stored store(float x) noexcept { return base::float_to_f16(x); }
};
struct Bf16 {
  using Stored = std::uint16_t;
  static float load(Stored x) noexcept { return base::bf16_to_float(x); }
  static Stored store(float x) noexcept { return base::float_to_bf16(x); }
};

struct Merge {
  const MergeProblem& problem;
  std::span<const PartialResult> partials;
  const Tensor& o;
  float* lse;
  std::int64_t rows;      // batch * num_q_heads * seqlen_q, in the order of lse
  std::int64_t per_task;  // rows of one task

  /// Row r is (outer, head, query), query fastest.
  std::int64_t offset(const Strides& s, std::int64_t row) const noexcept {
    const std::int64_t query = row % problem.seqlen_q, rest = row / problem.seqlen_q;
    return rest / problem.num_q_heads * s.outer + rest % problem.num_q_heads * s.head + query * s.seq;
  }
};

/// The only partial of the row that is not empty, or -1 when there are more, or 0 when there is none.
std::int64_t only_one(const Merge& m, std::int64_t row) noexcept {
  std::int64_t found = -1;
  for (std::size_t i = 0; i < m.partials.size(); ++i) {
    if (m.partials[i].lse[row] == kEmpty) continue;
    if (found >= 0) return -1;
    found = static_cast<std::int64_t>(i);
  }
  return std::max<std::int64_t>(found, 0);
}

/// lse = max + log(sum of exp(lse_i - max)): factors are at most 1, so LSEs of any size neither overflow nor all vanish.
/// An empty partial is left out rather than weighed with 0: its O may hold anything. NaN and +inf pass through to the row.
template <class Type>
void merge_row(const Merge& m, std::int64_t row) noexcept {
  using Stored = typename Type::Stored;
  const std::int64_t dv = m.problem.head_dim_v;
  auto* out = static_cast<Stored*>(m.o.data) + m.offset(m.o.strides, row);
  const auto row_of = [&](const PartialResult& p) {
    return static_cast<const Stored*>(p.o.data) + m.offset(p.o.strides, row);
  };

  if (const std::int64_t only = only_one(m, row); only >= 0) {  // its bits
    const PartialResult& p = m.partials[static_cast<std::size_t>(only)];
    const float lse = p.lse[row];
    if (lse == kEmpty) {
      std::fill_n(out, dv, Stored{});
    } else {
      std::memmove(out, row_of(p), static_cast<std::size_t>(dv) * sizeof(Stored));
    }
    if (m.lse) m.lse[row] = lse;
    return;
  }

  float max = kEmpty;
  for (const PartialResult& p : m.partials) max = std::max(max, p.lse[row]);
  float sum = 0;
  std::array<float, kMaxHeadDim> acc{};
  for (const PartialResult& p : m.partials) {
    const float lse = p.lse[row];
    if (lse == kEmpty) continue;
    const float factor = std::exp(lse - max);
    const Stored* o = row_of(p);
    sum += factor;
    for (std::int64_t i = 0; i < dv; ++i) acc[static_cast<std::size_t>(i)] += factor * Type::load(o[i]);
  }
  const float scale = 1 / sum;
  for (std::int64_t i = 0; i < dv; ++i) out[i] = Type::store(acc[static_cast<std::size_t>(i)] * scale);
  if (m.lse) m.lse[row] = max + std::log(sum);
}

template <class Type>
void merge_rows(const Merge& m, std::int64_t begin, std::int64_t end) noexcept {
  for (std::int64_t row = begin; row < end; ++row) merge_row<Type>(m, row);
}

Status check_problem(const MergeProblem& p) {
  if (p.dtype > DType::bf16) return Status::invalid("dtype: " + number(static_cast<int>(p.dtype)) + " is no data type");
  const struct {
    const char* name;
    std::int64_t value, min, max;
  } fields[] = {{"batch", p.batch, 0, std::numeric_limits<std::int32_t>::max()},
                {"seqlen_q", p.seqlen_q, 0, std::numeric_limits<std::int32_t>::max()},
                {"num_q_heads", p.num_q_heads, 1, 65536},
                {"head_dim_v", p.head_dim_v, 1, kMaxHeadDim}};
  for (const auto& f : fields) {
    if (f.value < f.min || f.value > f.max) {
      return Status::invalid(std::string(f.name) + ": " + number(f.value) + " is not in [" + number(f.min) + ", " +
                             number(f.max) + "]");
    }
  }
  std::int64_t rows = 0;
  if (!planner::multiply({p.batch, p.seqlen_q, p.num_q_heads, p.head_dim_v, 4}, rows)) {
    return Status::invalid("batch: " + number(p.batch) + " makes more rows than 64 bits can address");
  }
  return {};
}

using runtime::Axis;
using runtime::Footprint;

std::array<Axis, 3> axes_of(const MergeProblem& p, const Strides& s) {
  return {Axis{"outer", p.batch, s.outer}, Axis{"seq", p.seqlen_q, s.seq}, Axis{"head", p.num_q_heads, s.head}};
}

Status check_tensor(const MergeProblem& p, const std::string& name, const void* data, const Strides& s, bool written) {
  const std::array<Axis, 3> axes = axes_of(p, s);
  if (Status status = runtime::check_strides(name, axes, p.head_dim_v, size_of(p.dtype)); !status) return status;
  if (Status status = runtime::check_pointer(name, data, size_of(p.dtype)); !status) return status;
  return written ? runtime::check_disjoint(name, data, axes, p.head_dim_v) : Status{};
}

/// A result may be a partial's own tensor, but not meet any in another way: a row would be read after it was written.
Status check_aliasing(const MergeProblem& p, std::span<const PartialResult> partials, const Tensor& o, const float* lse) {
  const auto element = static_cast<std::int64_t>(size_of(p.dtype));
  const std::int64_t lse_bytes = p.batch * p.num_q_heads * p.seqlen_q * 4;
  const Footprint out(o.data, axes_of(p, o.strides), p.head_dim_v, element), out_lse(lse, lse_bytes);
  const runtime::NamedFootprint o_alone[] = {{"o", out}}, lse_alone[] = {{"lse", out_lse}};
  if (Status s = runtime::check_apart(o_alone, lse_alone); !s) return s;
  for (std::size_t i = 0; i < partials.size(); ++i) {
    const PartialResult& from = partials[i];
    const Footprint in(from.o.data, axes_of(p, from.o.strides), p.head_dim_v, element), in_lse(from.lse, lse_bytes);
    const bool same_o = from.o.data == o.data && from.o.strides.outer == o.strides.outer &&
                        from.o.strides.seq == o.strides.seq && from.o.strides.head == o.strides.head;
    const char* const outputs[] = {"o", "lse"};
    const bool meets[2][2] = {{!same_o && overlap(out, in), overlap(out, in_lse)},
                              {overlap(out_lse, in), from.lse != lse && overlap(out_lse, in_lse)}};
    for (int x = 0; x < 2; ++x) {
      for (int y = 0; y < 2; ++y) {
        if (!meets[x][y]) continue;
        return Status::invalid(std::string(outputs[x]) + ": shares memory with partials[" + number(i) + "]." + outputs[y] +
                               (x == y ? " and is not the same tensor" : ""));
      }
    }
  }
  return {};
}

Status check(const MergeProblem& p, std::span<const PartialResult> partials, const Tensor& o, const float* lse,
             const Executor* executor) {
  if (Status s = check_problem(p); !s) return s;
  if (partials.empty()) return Status::invalid("partials: none; at least 1 is needed");
  if (Status s = runtime::check_executor(executor); !s) return s;
  if (p.batch == 0 || p.seqlen_q == 0) return {};
  for (std::size_t i = 0; i < partials.size(); ++i) {
    const std::string name = "partials[" + number(i) + "].";
    if (Status s = check_tensor(p, name + "o", partials[i].o.data, partials[i].o.strides, false); !s) return s;
    if (Status s = runtime::check_pointer(name + "lse", partials[i].lse, sizeof(float)); !s) return s;
  }
  if (Status s = check_tensor(p, "o", o.data, o.strides, true); !s) return s;
  if (lse) {
    if (Status s = runtime::check_pointer("lse", lse, sizeof(float)); !s) return s;
  }
  return check_aliasing(p, partials, o, lse);
}

constexpr std::int64_t kMinTaskElements = 32768;  // about 10 us of work, twice what a fork and join cost

}  // namespace

Status merge(const MergeProblem& problem, std::span<const PartialResult> partials, const Tensor& o, float* lse,
             Executor* executor) try {
  const base::DefaultFloatMode mode;
  if (Status status = check(problem, partials, o, lse, executor); !status) return status;
  const std::int64_t rows = problem.batch * problem.num_q_heads * problem.seqlen_q;
  if (rows == 0) return {};
  const std::int64_t elements = rows * problem.head_dim_v * static_cast<std::int64_t>(partials.size());
  std::int64_t tasks = executor ? std::min<std::int64_t>(executor->concurrency(), rows) : 1;
  tasks = std::clamp<std::int64_t>(elements / kMinTaskElements, 1, tasks);
  const Merge m{problem, partials, o, lse, rows, (rows + tasks - 1) / tasks};

  const auto task = [&m](int index) {
    const std::int64_t begin = std::min(m.rows, index * m.per_task), end = std::min(m.rows, begin + m.per_task);
    switch (m.problem.dtype) {
      case DType::f32:
        return merge_rows<F32>(m, begin, end);
      case DType::f16:
        return merge_rows<F16>(m, begin, end);
      case DType::bf16:
        return merge_rows<Bf16>(m, begin, end);
    }
  };
  if (tasks > 1) return runtime::parallel(*executor, static_cast<int>(tasks), task);
  task(0);
  return {};
} catch (const std::bad_alloc&) {
  return base::refused("merge");
}

}  // namespace tessera
