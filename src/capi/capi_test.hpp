// SPDX-License-Identifier: Apache-2.0
// Handles that end with their scope, and a small run that knows its answer.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tessera/tessera.h"

namespace tessera::capi::test {

using ::testing::HasSubstr;

using ::testing::HasSubstr;

struct Destroy {
  void operator()(tessera_problem* p) const { tessera_problem_destroy(p); }
  void operator()(tessera_plan* p) const { tessera_plan_destroy(p); }
};
using ProblemHandle = std::unique_ptr<tessera_problem, Destroy>;
using PlanHandle = std::unique_ptr<tessera_plan, Destroy>;

inline ProblemHandle parse(const char* text) {
  tessera_problem* problem = nullptr;
  tessera_error error = {};
  EXPECT_EQ(tessera_problem_parse(text, &problem, &error), TESSERA_OK) << text << ": " << error.message;
  return ProblemHandle(problem);
}

inline PlanHandle plan_of(const tessera_problem* problem) {
  tessera_plan* plan = nullptr;
  tessera_error error = {};
  EXPECT_EQ(tessera_plan_create(problem, nullptr, &plan, &error), TESSERA_OK) << error.message;
  return PlanHandle(plan);
}

inline tessera_problem_desc small_desc() {
  tessera_problem_desc desc;
  tessera_problem_desc_init(&desc, sizeof desc);
  desc.dtype = TESSERA_F32;
  desc.num_q_heads = 4;
  desc.num_kv_heads = 2;
  desc.head_dim_qk = desc.head_dim_v = 8;
  desc.seqlen_q = 3;
  desc.seqlen_kv = 5;
  return desc;
}

/// A small run with q = 0 and V[j] = j: every output is the mean of the visible j.
struct SmallRun {
  ProblemHandle problem = parse("f32 b1 hq4 hkv2 d8 sq3 skv5 causal");
  PlanHandle plan = plan_of(problem.get());
  std::vector<float> q = std::vector<float>(3 * 4 * 8), k = std::vector<float>(5 * 2 * 8, 1.0f);
  std::vector<float> v = std::vector<float>(5 * 2 * 8), o = std::vector<float>(3 * 4 * 8, NAN),
                     lse = std::vector<float>(12, NAN);
  tessera_tensors tensors;
  std::size_t bytes = tessera_plan_workspace_bytes(plan.get());
  std::vector<unsigned char> storage = std::vector<unsigned char>(bytes + TESSERA_WORKSPACE_ALIGNMENT);
  void* workspace;
  tessera_error error = {};

  SmallRun() {
    for (int j = 0; j < 5; ++j) std::fill_n(v.begin() + j * 16, 16, static_cast<float>(j));
    tensors.struct_size = sizeof tensors;
    EXPECT_EQ(tessera_tensors_packed(problem.get(), q.data(), k.data(), v.data(), o.data(), lse.data(), &tensors, &error),
              TESSERA_OK)
        << error.message;
    const auto address = reinterpret_cast<std::uintptr_t>(storage.data());
    workspace = storage.data() + (TESSERA_WORKSPACE_ALIGNMENT - address % TESSERA_WORKSPACE_ALIGNMENT);
  }
  tessera_code run(const tessera_run_options* options = nullptr) {
    return tessera_run(plan.get(), &tensors, workspace, bytes, options, &error);
  }
  void expect_answer() const {
    for (int i = 0; i < 3; ++i) {
      for (int x = 0; x < 32; ++x) EXPECT_FLOAT_EQ(o[i * 32 + x], (i + 2) / 2.0f) << "query " << i << ", element " << x;
      for (int h = 0; h < 4; ++h) EXPECT_FLOAT_EQ(lse[h * 3 + i], std::log(i + 3.0f));
    }
  }
  void expect_untouched() const {
    for (float x : o) EXPECT_TRUE(std::isnan(x));
    for (float x : lse) EXPECT_TRUE(std::isnan(x));
  }
};

}  // namespace tessera::capi::test
