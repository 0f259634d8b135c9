// SPDX-License-Identifier: Apache-2.0
// The tensors of a problem, filled with seeded normal data; pages of a paged cache lie in shuffled order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/arena.hpp"
#include "tessera/attention.hpp"

namespace tessera::bench {

/// Owns what an AttentionTensors points to. Q, K, V and O lie one after the other in one arena.
class Inputs {
 public:
  /// Zeros. `problem` must be valid.
  static Result<Inputs> allocate(const Problem& problem);
  /// Normal data, the same for the same problem and seed.
  static Result<Inputs> make(const Problem& problem, std::uint64_t seed);

  const AttentionTensors& tensors() const noexcept { return tensors_; }

  /// Row of Q, and of K and V of token `token` of sequence b; `size` is the row's bytes.
  std::byte* q_row(std::int64_t query, std::int64_t head) const noexcept;
  std::byte* k_row(std::int64_t b, std::int64_t token, std::int64_t head) const noexcept;
  std::byte* v_row(std::int64_t b, std::int64_t token, std::int64_t head) const noexcept;

  const std::byte* o() const noexcept { return o_; }
  std::size_t o_bytes() const noexcept { return o_bytes_; }

  /// Everything that a run may read or write, for a sequential read of as many bytes.
  const std::byte* data() const noexcept { return arena_.data(); }
  std::size_t bytes() const noexcept { return arena_.bytes(); }

 private:
  std::int64_t kv_offset(const Strides& strides, std::int64_t b, std::int64_t token, std::int64_t head) const noexcept;
  void fill(std::uint64_t seed);

  Problem problem_;
  Arena arena_;
  std::byte *q_ = nullptr, *k_ = nullptr, *v_ = nullptr, *o_ = nullptr;
  std::size_t q_bytes_ = 0, k_bytes_ = 0, v_bytes_ = 0, o_bytes_ = 0;
  std::vector<std::int32_t> block_table_;  // [batch, pages of the longest]
  std::vector<float> lse_, alibi_slopes_, sink_, bias_;
  std::vector<std::uint8_t> mask_;
  AttentionTensors tensors_;
};

}  // namespace tessera::bench
