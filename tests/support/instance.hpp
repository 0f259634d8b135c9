// SPDX-License-Identifier: Apache-2.0
// A problem with its tensors in memory, laid out as asked, with poison in every place that no implementation may use.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "support/guarded_buffer.hpp"
#include "support/values.hpp"
#include "tessera/attention.hpp"

namespace tessera::test {

enum class StrideKind {
  packed,
  padded,           // gaps of odd sizes after each head, token and sequence; bias and mask with a key stride of 2
  heads_outermost,  // [batch, heads, seq, dim] (paged: [heads, pages, page_size, dim])
};

/// What stands in slots past a length, unused pages, gaps between rows, and keys that no query may see.
enum class Poison { zero, nan, inf, huge };

struct Layout {
  StrideKind strides = StrideKind::packed;
  bool shuffle_pages = false;
  std::int64_t spare_pages = 0;
  Poison poison = Poison::nan;
  bool poison_masked_keys = true;
  DType bias_dtype = DType::f32;
  std::array<bool, 4> bias_broadcast = {};  // axes of [batch, num_q_heads, seqlen_q, seqlen_kv] with stride 0
  std::array<bool, 4> mask_broadcast = {};
  std::uint64_t seed = 1;  // of the order of pages
};

/// Whether query i of query head h in sequence b may see key j. Independent of the oracle.
bool visible(const Problem& problem, const Values& values, const Layout& layout, std::int64_t b, std::int64_t h,
             std::int64_t i, std::int64_t j);

/// Bits of x in dtype (rounded to nearest even), and the value of such bits.
std::uint32_t encode(DType dtype, double x);
float decode(DType dtype, std::uint32_t bits);
/// Distance between the representable values around x.
double ulp(DType dtype, double x);

class Instance {
 public:
  Instance(Problem problem, Values values, Layout layout = {});

  const Problem& problem() const { return problem_; }
  const Values& values() const { return values_; }
  const Layout& layout() const { return layout_; }

  /// Inputs are filled in; o and lse are null. Strides of o are those of q with head_dim_v.
  const AttentionTensors& tensors() const { return tensors_; }
  std::int64_t output_elems() const { return output_elems_; }

  /// Element of O at offset 0 of query i, head h of sequence b; and the index of its LSE.
  std::int64_t output_offset(std::int64_t b, std::int64_t i, std::int64_t h) const;
  std::int64_t lse_index(std::int64_t b, std::int64_t i, std::int64_t h) const;

  /// Another chunk for the same tensors.
  void set_kv_chunk(std::int64_t keys) { problem_.kv_chunk = keys; }

  /// For tests of bad or shared tables.
  std::int32_t* block_table() { return block_table_.as<std::int32_t>(); }

 private:
  void make_queries();
  void make_keys();
  void make_block_table();
  void make_score_tensors();
  GuardedBuffer kv_buffer(const Field& field, std::int64_t dim, ConstTensor& tensor);
  bool seen_by_any(std::int64_t b, std::int64_t kv_head, std::int64_t j) const;

  Problem problem_;
  Values values_;
  Layout layout_;
  AttentionTensors tensors_;
  std::int64_t output_elems_ = 0;
  GuardedBuffer q_, k_, v_, block_table_, bias_, mask_, alibi_slopes_, sink_;
};

/// `problem` cut down to batch entry b alone, and values that name the same sequence.
Problem single_sequence(const Problem& problem, std::int64_t b);
Values single_values(const Values& values, std::int64_t b);

}  // namespace tessera::test
