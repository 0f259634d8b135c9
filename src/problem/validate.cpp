// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <string>

#include "base/text.hpp"
#include "tessera/problem.hpp"

namespace tessera {
namespace {

// Lengths are int32 in cu_seqlens, seqlens_kv and block tables, so no sequence is longer. Heads and batch have room for
// anything real, and the products of all of them stay inside 64 bits.
constexpr std::int64_t kMaxLength = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMaxHeads = 65536;
constexpr std::int64_t kMaxHeadDim = 256;

// Kernels hold scale and cap in float32, times log2(e) and inverted: all of that is finite and normal up to here.
constexpr double kMaxFactor = 1e30;

using base::number;
using base::shortest;

Status out_of_range(const char* name, std::int64_t value, std::int64_t min, std::int64_t max) {
  return Status::invalid(std::string(name) + ": " + number(value) + " is not in [" + number(min) + ", " + number(max) + "]");
}

struct Bounded {
  const char* name;
  std::int64_t value, min, max;
};

Status check_numbers(const Problem& p) {
  const Bounded fields[] = {
      {"batch", p.batch, 1, kMaxLength - 1},
      {"num_q_heads", p.num_q_heads, 1, kMaxHeads},
      {"num_kv_heads", p.num_kv_heads, 1, kMaxHeads},
      {"head_dim_qk", p.head_dim_qk, 1, kMaxHeadDim},
      {"head_dim_v", p.head_dim_v, 1, kMaxHeadDim},
      {"seqlen_q", p.seqlen_q, 0, kMaxLength},
      {"seqlen_kv", p.seqlen_kv, 0, kMaxLength},
      {"page_size", p.page_size, 0, kMaxLength},
      {"kv_chunk", p.kv_chunk, 0, std::numeric_limits<std::int64_t>::max()},
      {"window_left", p.window_left, -1, std::numeric_limits<std::int64_t>::max()},
      {"window_right", p.window_right, -1, std::numeric_limits<std::int64_t>::max()},
      {"ragged_min", p.ragged_min, 0, p.ragged_max},
  };
  for (const Bounded& f : fields) {
    if (f.value < f.min || f.value > f.max) return out_of_range(f.name, f.value, f.min, f.max);
  }
  return {};
}

Status check_enums(const Problem& p) {
  if (p.dtype > DType::bf16) return Status::invalid("dtype: " + number(static_cast<int>(p.dtype)) + " is no data type");
  if (p.alignment > Alignment::top_left) {
    return Status::invalid("alignment: " + number(static_cast<int>(p.alignment)) + " is no alignment");
  }
  if (p.kv_layout > KvLayout::paged_head_major) {
    return Status::invalid("kv_layout: " + number(static_cast<int>(p.kv_layout)) + " is no layout");
  }
  return {};
}

Status check_cu_seqlens(const char* name, const std::vector<std::int32_t>& cu, std::int64_t batch) {
  if (cu.empty()) return {};
  const std::string prefix = std::string(name) + ": ";
  if (static_cast<std::int64_t>(cu.size()) != batch + 1) {
    return Status::invalid(prefix + number(static_cast<std::int64_t>(cu.size())) + " entries for batch " + number(batch) +
                           ", which needs batch + 1");
  }
  if (cu[0] != 0) return Status::invalid(prefix + "starts at " + number(cu[0]) + " instead of 0");
  for (std::size_t i = 1; i < cu.size(); ++i) {
    if (cu[i] < cu[i - 1]) {
      return Status::invalid(prefix + "falls from " + number(cu[i - 1]) + " to " + number(cu[i]) + " at entry " +
                             number(static_cast<std::int64_t>(i)));
    }
  }
  return {};
}

Status check_key_lengths(const Problem& p) {
  if (p.seqlens_kv.empty()) return {};
  if (!p.cu_seqlens_kv.empty()) return Status::invalid("seqlens_kv: given together with cu_seqlens_kv; give one of them");
  if (static_cast<std::int64_t>(p.seqlens_kv.size()) != p.batch) {
    return Status::invalid("seqlens_kv: " + number(static_cast<std::int64_t>(p.seqlens_kv.size())) + " entries for batch " +
                           number(p.batch));
  }
  const std::int64_t max = p.paged() ? kMaxLength : p.seqlen_kv;  // contiguous: seqlen_kv is the capacity
  for (std::size_t b = 0; b < p.seqlens_kv.size(); ++b) {
    if (p.seqlens_kv[b] < 0 || p.seqlens_kv[b] > max) {
      return out_of_range(("seqlens_kv[" + number(static_cast<std::int64_t>(b)) + "]").c_str(), p.seqlens_kv[b], 0, max);
    }
  }
  return {};
}

Status check_layout(const Problem& p) {
  if (p.paged() && p.page_size < 1) {
    return Status::invalid("page_size: " + number(p.page_size) + " with a paged kv_layout; it must be at least 1");
  }
  if (!p.paged() && p.page_size != 0) {
    return Status::invalid("page_size: " + number(p.page_size) + " with a contiguous kv_layout; it must be 0");
  }
  if (p.paged() && !p.cu_seqlens_kv.empty()) {
    return Status::invalid("cu_seqlens_kv: given with a paged kv_layout, which takes seqlens_kv");
  }
  return {};
}

}  // namespace

Status Problem::validate() const {
  if (Status s = check_enums(*this); !s) return s;
  if (Status s = check_numbers(*this); !s) return s;
  if (num_q_heads % num_kv_heads != 0) {
    return Status::invalid("num_q_heads: " + number(num_q_heads) + " is not a multiple of num_kv_heads " +
                           number(num_kv_heads));
  }
  if (Status s = check_layout(*this); !s) return s;
  if (Status s = check_cu_seqlens("cu_seqlens_q", cu_seqlens_q, batch); !s) return s;
  if (Status s = check_cu_seqlens("cu_seqlens_kv", cu_seqlens_kv, batch); !s) return s;
  if (Status s = check_key_lengths(*this); !s) return s;
  if (softmax_scale && !(std::abs(*softmax_scale) <= kMaxFactor)) {
    return Status::invalid("softmax_scale: " + shortest(*softmax_scale) + " is not in [-1e30, 1e30]");
  }
  if (softcap != 0 && !(softcap >= 1 / kMaxFactor && softcap <= kMaxFactor)) {
    return Status::invalid("softcap: " + shortest(softcap) + " is neither 0 nor in [1e-30, 1e30]");
  }
  return {};
}

}  // namespace tessera
