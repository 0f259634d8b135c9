// SPDX-License-Identifier: Apache-2.0
// Problems across the C interface: each field, arrays, and structs of other versions.
#include "capi/capi_test.hpp"

#include <cstring>

namespace tessera::capi::test {
namespace {

TEST(CApiProblem, StringRoundTrips) {
  const char* text = "bf16 b4 hq32 hkv8 d128 sq1 skv4096 causal page128";
  const ProblemHandle problem = parse(text);
  char buffer[256];
  std::size_t needed = 0;
  ASSERT_EQ(tessera_problem_string(problem.get(), buffer, sizeof buffer, &needed, nullptr), TESSERA_OK);
  EXPECT_STREQ(buffer, text);
  EXPECT_EQ(needed, std::strlen(text) + 1);
  char tiny[5];
  ASSERT_EQ(tessera_problem_string(problem.get(), tiny, sizeof tiny, &needed, nullptr), TESSERA_OK);
  EXPECT_STREQ(tiny, "bf16");
  EXPECT_EQ(needed, std::strlen(text) + 1);
  EXPECT_EQ(tessera_problem_string(problem.get(), nullptr, 0, nullptr, nullptr), TESSERA_OK);
}

TEST(CApiProblem, DescribesWhatItWasMadeOf) {
  tessera_problem_desc desc = small_desc();
  const std::int32_t lengths[] = {5};
  desc.seqlens_kv = lengths;
  desc.causal = 1;
  desc.window_left = 3;
  desc.softmax_scale = 0.25;
  desc.has_sink = 1;
  tessera_problem* made = nullptr;
  tessera_error error = {};
  ASSERT_EQ(tessera_problem_create(&desc, &made, &error), TESSERA_OK) << error.message;
  const ProblemHandle problem(made);
  tessera_problem_desc again = {};
  again.struct_size = sizeof again;
  ASSERT_EQ(tessera_problem_describe(made, &again, &error), TESSERA_OK) << error.message;
  ASSERT_NE(again.seqlens_kv, nullptr);
  EXPECT_NE(again.seqlens_kv, lengths) << "arrays are copied";
  EXPECT_EQ(again.seqlens_kv[0], 5);
  again.seqlens_kv = lengths;
  EXPECT_EQ(std::memcmp(&again, &desc, sizeof desc), 0);
}

TEST(CApiProblem, ScaleThatIsNotANumberIsTheDefault) {
  tessera_problem_desc desc = small_desc();
  EXPECT_TRUE(std::isnan(desc.softmax_scale));
  tessera_problem* made = nullptr;
  EXPECT_EQ(tessera_problem_create(&desc, &made, nullptr), TESSERA_OK);
  tessera_problem_destroy(made);
}

TEST(CApiProblem, EachBadFieldIsNamed) {
  const struct {
    const char* part;
    void (*spoil)(tessera_problem_desc&);
  } cases[] = {
      {"struct_size", [](tessera_problem_desc& d) { d.struct_size = 8; }},
      {"struct_size", [](tessera_problem_desc& d) { d.struct_size = 0; }},
      {"dtype", [](tessera_problem_desc& d) { d.dtype = 3; }},
      {"dtype", [](tessera_problem_desc& d) { d.dtype = -1; }},
      {"kv_layout", [](tessera_problem_desc& d) { d.kv_layout = 3; }},
      {"alignment", [](tessera_problem_desc& d) { d.alignment = 2; }},
      {"batch", [](tessera_problem_desc& d) { d.batch = 0; }},
      {"batch", [](tessera_problem_desc& d) { d.batch = std::numeric_limits<std::int64_t>::max(); }},
      {"num_q_heads", [](tessera_problem_desc& d) { d.num_q_heads = 3; }},
      {"num_kv_heads", [](tessera_problem_desc& d) { d.num_kv_heads = 0; }},
      {"head_dim_qk", [](tessera_problem_desc& d) { d.head_dim_qk = 0; }},
      {"head_dim_v", [](tessera_problem_desc& d) { d.head_dim_v = -8; }},
      {"seqlen_q", [](tessera_problem_desc& d) { d.seqlen_q = -1; }},
      {"seqlen_kv", [](tessera_problem_desc& d) { d.seqlen_kv = -1; }},
      {"page_size", [](tessera_problem_desc& d) { d.page_size = 16; }},
      {"page_size", [](tessera_problem_desc& d) { d.kv_layout = TESSERA_KV_PAGED_HEAD_MAJOR; }},
      {"causal", [](tessera_problem_desc& d) { d.causal = 2; }},
      {"window_left", [](tessera_problem_desc& d) { d.window_left = -2; }},
      {"window_right", [](tessera_problem_desc& d) { d.window_right = -2; }},
      {"softmax_scale", [](tessera_problem_desc& d) { d.softmax_scale = INFINITY; }},
      {"softcap", [](tessera_problem_desc& d) { d.softcap = -1; }},
      {"has_alibi", [](tessera_problem_desc& d) { d.has_alibi = -1; }},
      {"has_sink", [](tessera_problem_desc& d) { d.has_sink = 7; }},
      {"has_bias", [](tessera_problem_desc& d) { d.has_bias = 2; }},
      {"has_mask", [](tessera_problem_desc& d) { d.has_mask = 2; }},
      {"kv_chunk", [](tessera_problem_desc& d) { d.kv_chunk = -1; }},
  };
  for (const auto& c : cases) {
    tessera_problem_desc desc = small_desc();
    c.spoil(desc);
    tessera_problem* problem = nullptr;
    tessera_error error = {};
    EXPECT_EQ(tessera_problem_create(&desc, &problem, &error), TESSERA_INVALID) << c.part;
    EXPECT_THAT(error.message, HasSubstr(c.part));
    EXPECT_EQ(problem, nullptr);
  }
}

TEST(CApiProblem, BadArraysAreNamed) {
  const std::int32_t falling[] = {0, 3, 2}, negative[] = {4, -1}, late[] = {1, 2, 3};
  const auto create = [](const tessera_problem_desc& desc, tessera_error& error) {
    tessera_problem* problem = nullptr;
    const tessera_code code = tessera_problem_create(&desc, &problem, &error);
    tessera_problem_destroy(problem);
    return code;
  };
  tessera_error error = {};
  for (const std::int32_t* bad : {falling, late}) {
    tessera_problem_desc desc = small_desc();
    desc.batch = 2;
    desc.cu_seqlens_q = bad;
    EXPECT_EQ(create(desc, error), TESSERA_INVALID);
    EXPECT_THAT(error.message, HasSubstr("cu_seqlens_q"));
    desc = small_desc();
    desc.batch = 2;
    desc.cu_seqlens_kv = bad;
    EXPECT_EQ(create(desc, error), TESSERA_INVALID);
    EXPECT_THAT(error.message, HasSubstr("cu_seqlens_kv"));
  }
  tessera_problem_desc desc = small_desc();
  desc.batch = 2;
  desc.seqlens_kv = negative;
  EXPECT_EQ(create(desc, error), TESSERA_INVALID);
  EXPECT_THAT(error.message, HasSubstr("seqlens_kv"));
}

TEST(CApiProblem, OptionsOfALaterVersionAreNotDropped) {
  struct {
    tessera_problem_desc desc;
    std::int64_t later;
  } grown = {small_desc(), 0};
  static_assert(sizeof grown == sizeof(tessera_problem_desc) + 8);
  grown.desc.struct_size = sizeof grown;
  tessera_problem* problem = nullptr;
  tessera_error error = {};
  EXPECT_EQ(tessera_problem_create(&grown.desc, &problem, &error), TESSERA_OK) << error.message;
  tessera_problem_destroy(problem);
  grown.later = 1;
  EXPECT_EQ(tessera_problem_create(&grown.desc, &problem, &error), TESSERA_UNSUPPORTED);
  EXPECT_THAT(error.message, HasSubstr("struct_size"));
}

TEST(CApiProblem, InitWritesNoMoreThanItIsTold) {
  struct {
    tessera_run_options options;
    std::int64_t guard;
  } s;
  s.guard = 77;
  tessera_run_options_init(&s.options, sizeof s.options);
  EXPECT_EQ(s.options.struct_size, sizeof s.options);
  EXPECT_EQ(s.guard, 77);
  tessera_run_options_init(&s.options, sizeof s);  // a caller of a later version: all of his struct is set
  EXPECT_EQ(s.guard, 0);
  tessera_run_options_init(nullptr, sizeof s.options);
  tessera_plan_options_init(nullptr, sizeof(tessera_plan_options));
  tessera_tensors_init(nullptr, sizeof(tessera_tensors));
  tessera_problem_desc_init(nullptr, sizeof(tessera_problem_desc));
}

}  // namespace
}  // namespace tessera::capi::test
