// SPDX-License-Identifier: Apache-2.0
// From a file of named tensors to a Problem and what its run reads. Every complaint names the tensor and its shape.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/safetensors.hpp"
#include "tessera/attention.hpp"

namespace tessera::cli {

/// What the command line says about the problem; the file says the rest.
struct AttendFlags {
  std::string causal;                // "", "bottom-right" or "top-left"
  std::vector<std::int64_t> window;  // empty, or left and right
  std::string align;                 // "", "bottom-right" or "top-left"
  std::string kv_layout;             // "", "token-major" or "head-major"
  std::optional<double> softcap;
  std::optional<double> scale;
  std::optional<std::int64_t> kv_chunk;
};

/// Owns the tensors of one problem.
struct AttendInput {
  Problem problem;
  AlignedBuffer q, k, v;
  std::vector<std::int64_t> q_shape, k_shape, v_shape;
  std::vector<std::int32_t> block_table;
  std::int64_t block_table_stride = 0;
  std::int64_t num_pages = 0;
  std::vector<float> alibi_slopes, sink;
  AlignedBuffer bias, mask;
  BiasTensor bias_view;
  MaskTensor mask_view;
  std::vector<std::string> unused;  // tensors of the file that mean nothing here

  std::vector<std::int64_t> o_shape() const;
  std::vector<std::int64_t> lse_shape() const;
  std::int64_t o_elements() const;
  std::int64_t lse_elements() const;
  /// The tensors with outputs where `o` and `lse` point.
  AttentionTensors tensors(void* o, float* lse) const;
};

/// Throws Failure.
AttendInput load_attend_input(const SafetensorsFile& file, const AttendFlags& flags);

}  // namespace tessera::cli
