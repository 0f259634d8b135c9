// SPDX-License-Identifier: Apache-2.0
// tessera attend and merge, run as a user runs them.
#include <algorithm>
#include <cmath>

#include "cli/command_test.hpp"

namespace tessera::cli::test {
namespace {

using testing::HasSubstr;

Tensors dense() {
  return {{"q", normal_data({2, 5, 4, 16}, 1)}, {"k", normal_data({2, 24, 2, 16}, 2)}, {"v", normal_data({2, 24, 2, 8}, 3)}};
}

template <class T>
std::vector<T> values(std::initializer_list<T> list) {
  return list;
}

using Attend = Command;

TEST_F(Attend, WritesOAndLseInTheShapesOfTheQueries) {
  write("in", dense());
  const auto outcome = run("attend in --causal bottom-right --check -o out");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("PASS"));
  EXPECT_EQ(outcome.err, "");
  const auto out = read("out");
  EXPECT_EQ(out.at("o").shape, (std::vector<std::int64_t>{2, 5, 4, 8}));
  EXPECT_EQ(out.at("lse").shape, (std::vector<std::int64_t>{2, 4, 5}));
  EXPECT_EQ(files(), 2u) << "no temporary file is left";
}

TEST_F(Attend, ZeroQueriesGiveTheMeanOfVisibleValues) {
  auto in = dense();
  in["q"] = data_of("F32", {2, 5, 4, 16}, std::vector<float>(2 * 5 * 4 * 16, 0));
  write("in", in);
  ASSERT_EQ(run("attend in --causal top-left -o out").code, 0);
  const auto o = floats_of(read("out").at("o")), v = floats_of(in["v"]);
  // Row 1 of sequence 0 sees keys 0 and 1; query head 3 reads kv head 1.
  for (std::size_t d = 0; d < 8; ++d) {
    EXPECT_NEAR(o[(1 * 4 + 3) * 8 + d], (v[(0 * 2 + 1) * 8 + d] + v[(1 * 2 + 1) * 8 + d]) / 2, 1e-6);
  }
}

TEST_F(Attend, TakesEveryOptionalTensorAndFlag) {
  auto in = dense();
  in["bias"] = normal_data({4, 1, 24}, 4);
  in["mask"] = data_of("BOOL", {2, 1, 5, 24}, std::vector<std::uint8_t>(2 * 5 * 24, 1));
  for (std::size_t i = 0; i < in["mask"].bytes.size(); i += 3) in["mask"].bytes[i] = 0;
  in["alibi_slopes"] = data_of("F32", {4}, values<float>({0.5f, 0.25f, 0.125f, 0.0625f}));
  in["sink"] = normal_data({4}, 5);
  in["seqlens_k"] = data_of("I64", {2}, values<std::int64_t>({24, 7}));
  write("in", in);
  const auto json = run_json("attend in --window 9,2 --align top-left --softcap 20 --scale 0.3 --kv-chunk 3 --check --json");
  EXPECT_TRUE(json["check"]["pass"]);
  const std::string problem = json["problem"];
  for (const char* token : {"win-tl9,2", "softcap20", "scale0.3", "kvchunk3", "alibi", "sink", "bias", "mask"})
    EXPECT_THAT(problem, HasSubstr(token));
}

// The same keys in three places: padded, ragged, and in pages of either order.
TEST_F(Attend, EveryLayoutOfTheKeysGivesTheSameBits) {
  const std::int64_t lengths[] = {24, 13}, page = 4, pages = 12;
  const auto padded = dense();
  const auto k = floats_of(padded.at("k")), v = floats_of(padded.at("v"));
  const auto i32 = [](std::vector<std::int32_t> x) { return data_of("I32", {static_cast<std::int64_t>(x.size())}, x); };
  Tensors ragged{{"q", padded.at("q")}, {"cu_seqlens_k", i32({0, 24, 37})}};
  std::vector<std::int32_t> table(2 * 6, -1);
  std::map<std::string, std::vector<float>> packed, token, head;
  for (const auto& [name, source, dim] : {std::tuple("k", &k, 16), std::tuple("v", &v, 8)}) {
    token[name].assign(static_cast<std::size_t>(pages * page * 2 * dim), NAN);
    head[name] = token[name];
    std::int32_t next = 0;
    for (std::int64_t b = 0; b < 2; ++b) {
      for (std::int64_t j = 0; j < lengths[b]; ++j) {
        auto& entry = table[static_cast<std::size_t>(b * 6 + j / page)];
        if (j % page == 0) entry = (5 * next++ + 3) % static_cast<std::int32_t>(pages);
        for (std::int64_t h = 0; h < 2; ++h) {
          const auto* row = source->data() + ((b * 24 + j) * 2 + h) * dim;
          packed[name].insert(packed[name].end(), row, row + dim);
          std::copy(row, row + dim, token[name].begin() + ((entry * page + j % page) * 2 + h) * dim);
          std::copy(row, row + dim, head[name].begin() + ((entry * 2 + h) * page + j % page) * dim);
        }
      }
    }
    ragged[name] = data_of("F32", {37, 2, dim}, packed[name]);
  }
  auto lengths_given = padded;
  lengths_given["seqlens_k"] = i32({24, 13});
  Tensors token_major{{"q", padded.at("q")}, {"seqlens_k", i32({24, 13})}, {"block_table", data_of("I32", {2, 6}, table)}};
  auto head_major = token_major;
  token_major["k"] = data_of("F32", {pages, page, 2, 16}, token["k"]);
  token_major["v"] = data_of("F32", {pages, page, 2, 8}, token["v"]);
  head_major["k"] = data_of("F32", {pages, 2, page, 16}, head["k"]);
  head_major["v"] = data_of("F32", {pages, 2, page, 8}, head["v"]);

  write("padded", lengths_given), write("ragged", ragged), write("token", token_major), write("head", head_major);
  const std::string flags = " --causal bottom-right --check -o ";
  ASSERT_EQ(run("attend padded" + flags + "a").code, 0);
  ASSERT_EQ(run("attend ragged" + flags + "b").code, 0);
  ASSERT_EQ(run("attend token" + flags + "c").code, 0);
  ASSERT_EQ(run("attend head --kv-layout head-major" + flags + "d").code, 0);
  for (const char* other : {"b", "c", "d"}) {
    EXPECT_EQ(read("a").at("o").bytes, read(other).at("o").bytes) << other;
    EXPECT_EQ(read("a").at("lse").bytes, read(other).at("lse").bytes) << other;
  }
}

TEST_F(Attend, RaggedQueriesKeepTheirLayout) {
  write("in", {{"q", normal_data({7, 4, 16}, 1)},
               {"k", normal_data({30, 2, 16}, 2)},
               {"v", normal_data({30, 2, 16}, 3)},
               {"cu_seqlens_q", data_of("I64", {4}, values<std::int64_t>({0, 2, 2, 7}))},
               {"cu_seqlens_k", data_of("I32", {4}, values<std::int32_t>({0, 10, 15, 30}))}});
  ASSERT_EQ(run("attend in --causal bottom-right --check -o out").code, 0);
  EXPECT_EQ(read("out").at("o").shape, (std::vector<std::int64_t>{7, 4, 16}));
  EXPECT_EQ(read("out").at("lse").shape, (std::vector<std::int64_t>{4, 7}));
}

TEST_F(Attend, TheUnfusedWayAgreesWithTheOracle) {
  auto in = dense();
  in["q"] = normal_data({2, 70, 4, 16}, 1);
  in["k"] = normal_data({2, 90, 2, 16}, 2);
  in["v"] = normal_data({2, 90, 2, 40}, 3);
  write("in", in);
  for (const char* flags :
       {"", "--causal bottom-right", "--causal top-left", "--window 9,3", "--window 0,-1 --align top-left", "--scale 0.1"}) {
    const auto json = run_json(std::string("attend in --check --compare-unfused --json --repeats 1 --threads 2 ") + flags);
    EXPECT_LT(json["unfused"]["max_error"], 5e-6) << flags;
    EXPECT_GE(json["unfused"]["peak_extra_bytes"], json["unfused"]["score_bytes"]) << flags;
  }
  in["sink"] = normal_data({4}, 5);
  write("sink", in);
  EXPECT_EQ(run("attend sink --compare-unfused -o out").code, 3);
  EXPECT_FALSE(exists("out"));
}

TEST_F(Attend, SaysWhichTensorsItDoesNotUse) {
  auto in = dense();
  in["sinks"] = normal_data({4}, 5);
  in["odd"] = {"Q4_9", {3}, "12345"};
  write("in", in);
  const auto outcome = run("attend in");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("tensor \"sinks\" of in is not used"));
  EXPECT_THAT(outcome.err, HasSubstr("tensor \"odd\" of in is not used"));
}

TEST_F(Attend, NamesFromTheFileAreShownEscaped) {
  auto in = dense();
  in["a\x1b[31m\nb\x7f\xc2\x9b\xe2\x80\xae\xc3\xa9\"\\"] = normal_data({4}, 5);
  write("in", in);
  const char* const shown = "\"a\\x1b[31m\\x0ab\\x7f\\u009b\\u202e\xc3\xa9\\\"\\\\\"";
  const auto outcome = run("attend in");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr(std::string("tensor ") + shown + " of in is not used"));
  in.erase("q");
  write("in", in);
  EXPECT_THAT(run("attend in").err, HasSubstr("a\\x1b[31m\\x0ab\\x7f\\u009b\\u202e"));
  EXPECT_EQ(run("attend in").err.find('\x1b'), std::string::npos);
  in["q"] = {
      "F\x1b"
      "32",
      {1},
      "1234"};
  write("in", in);
  EXPECT_THAT(run("attend in").err, HasSubstr("tensor \"q\", F\\x1b32 [1]"));
}

TEST_F(Attend, NanHasNoSign) {
  auto in = dense();
  for (const std::uint32_t bits : {0x7fc00000u, 0xffc00000u}) {
    in["v"].bytes.replace(0, 4, reinterpret_cast<const char*>(&bits), 4);
    write("in", in);
    const auto outcome = run("attend in --check");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("first nan, "));
    EXPECT_EQ(outcome.out.find("-nan"), std::string::npos);
    const auto json = nlohmann::json::parse(run("attend in --json").out);
    EXPECT_TRUE(json["o"]["first"][0].is_null());
  }
  EXPECT_THAT(run("attend in --scale -nan").err, HasSubstr("--scale: -nan is not a number in [-1e30, 1e30]"));
}

struct Wrong {
  const char* what;
  void (*change)(Tensors&);
  const char* flags;
  const char* message;
  int code = 2;
};

const Wrong kWrong[] = {
    {"no k", [](Tensors& t) { t.erase("k"); }, "", "tensor \"k\" is missing (the file has q, v)"},
    {"dtype of q", [](Tensors& t) { t["q"].dtype = "I32"; }, "",
     "tensor \"q\", I32 [2, 5, 4, 16]: the dtype must be F32, F16 or BF16"},
    {"unknown dtype", [](Tensors& t) { t["v"].dtype = "Q4_9"; }, "", "tensor \"v\", Q4_9"},
    {"dtypes differ",
     [](Tensors& t) {
       t["k"] = data_of("F16", {2, 24, 2, 16}, std::vector<std::uint16_t>(2 * 24 * 2 * 16));
     },
     "", "its dtype must be that of \"q\", f32"},
    {"rank of q",
     [](Tensors& t) {
       t["q"] = normal_data({5, 4, 16}, 1);
     },
     "", "it must have 4 axes, [b, sq, hq, dqk]"},
    {"batch",
     [](Tensors& t) {
       t["k"] = normal_data({1, 24, 2, 16}, 2), t["v"] = normal_data({1, 24, 2, 8}, 2);
     },
     "", "axis 0 must be 2, the batch of \"q\""},
    {"head dim",
     [](Tensors& t) {
       t["k"] = normal_data({2, 24, 2, 12}, 2);
     },
     "", "tensor \"k\", F32 [2, 24, 2, 12]: axis 3 must be 16, the head dim of \"q\""},
    {"v's length",
     [](Tensors& t) {
       t["v"] = normal_data({2, 23, 2, 8}, 2);
     },
     "", "tensor \"v\", F32 [2, 23, 2, 8]: axis 1 must be 24, as in \"k\""},
    {"heads do not divide",
     [](Tensors& t) {
       t["k"] = normal_data({2, 24, 3, 16}, 2), t["v"] = normal_data({2, 24, 3, 8}, 2);
     },
     "", "tessera: in: num_q_heads: 4 is not a multiple of num_kv_heads 3"},
    {"lengths too long",
     [](Tensors& t) {
       t["seqlens_k"] = data_of("I32", {2}, std::vector<std::int32_t>{24, 25});
     },
     "", "length 1 is 25"},
    {"negative length",
     [](Tensors& t) {
       t["seqlens_k"] = data_of("I64", {2}, std::vector<std::int64_t>{-1, 2});
     },
     "", "length 0 is -1"},
    {"float lengths", [](Tensors& t) { t["seqlens_k"] = normal_data({2}, 1); }, "", "the dtype must be I32 or I64"},
    {"too few lengths", [](Tensors& t) { t["seqlens_k"] = data_of("I32", {1}, std::vector<std::int32_t>{2}); }, "",
     "axis 0 must be 2"},
    {"block table alone",
     [](Tensors& t) {
       t["block_table"] = data_of("I32", {2, 1}, std::vector<std::int32_t>{0, 1});
     },
     "", "tensor \"seqlens_k\" is missing"},
    {"page out of range",
     [](Tensors& t) {
       t["block_table"] = data_of("I32", {2, 1}, std::vector<std::int32_t>{0, 2});
       t["seqlens_k"] = data_of("I32", {2}, std::vector<std::int32_t>{3, 4});
     },
     "", "entry [1, 0] is 2; entries inside a length must be in [0, 2)"},
    {"pages of more tokens than a length has",
     [](Tensors& t) {
       t["k"] = normal_data({0, std::int64_t{1} << 61, 2, 16}, 1), t["v"] = normal_data({0, std::int64_t{1} << 61, 2, 8}, 1);
       t["block_table"] = data_of("I32", {2, 4}, std::vector<std::int32_t>(8));
       t["seqlens_k"] = data_of("I32", {2}, std::vector<std::int32_t>{3, 4});
     },
     "", "a page must hold 1 to 2147483647 tokens"},
    {"cu_seqlens falls",
     [](Tensors& t) {
       t["q"] = normal_data({10, 4, 16}, 1);
       t["cu_seqlens_q"] = data_of("I32", {4}, std::vector<std::int32_t>{0, 6, 5, 10});
     },
     "", "offset 2 falls from 6 to 5"},
    {"cu_seqlens ends early",
     [](Tensors& t) {
       t["q"] = normal_data({10, 4, 16}, 1);
       t["cu_seqlens_q"] = data_of("I32", {3}, std::vector<std::int32_t>{0, 6, 9});
     },
     "", "the last offset is 9, \"q\" has 10 rows"},
    {"two lengths",
     [](Tensors& t) {
       t["k"] = normal_data({48, 2, 16}, 1), t["v"] = normal_data({48, 2, 8}, 1);
       t["cu_seqlens_k"] = data_of("I32", {3}, std::vector<std::int32_t>{0, 24, 48});
       t["seqlens_k"] = data_of("I32", {2}, std::vector<std::int32_t>{24, 24});
     },
     "", "exclude one another"},
    {"bias shape",
     [](Tensors& t) {
       t["bias"] = normal_data({5, 23}, 1);
     },
     "", "tensor \"bias\", F32 [5, 23]: it must broadcast to [b, hq, sq, sk] = [2, 4, 5, 24]"},
    {"mask dtype",
     [](Tensors& t) {
       t["mask"] = normal_data({5, 24}, 1);
     },
     "", "the dtype must be BOOL or U8"},
    {"sink per head", [](Tensors& t) { t["sink"] = normal_data({2}, 1); }, "", "axis 0 must be 4, the query heads of \"q\""},
    {"negative slope",
     [](Tensors& t) {
       t["alibi_slopes"] = data_of("F32", {4}, std::vector<float>{1, 1, -1, 1});
     },
     "", "tessera: in: alibi_slopes[2]: -1 is not a positive number"},
    {"layout without pages", [](Tensors&) {}, "--kv-layout head-major", "--kv-layout"},
    {"align alone", [](Tensors&) {}, "--align top-left", "--align"},
    {"align against causal", [](Tensors&) {}, "--align top-left --causal bottom-right", "--align top-left"},
    {"window below -1", [](Tensors&) {}, "--window -2,0", "-2"},
    {"one window bound", [](Tensors&) {}, "--window 3", "--window"},
    {"window of words", [](Tensors&) {}, "--window a,b", "--window"},
    {"negative softcap", [](Tensors&) {}, "--softcap -1", "--softcap: -1 is not a number in [1e-30, 1e30]"},
    {"softcap without effect", [](Tensors&) {}, "--softcap 0",
     "--softcap: 0 is not a number in [1e-30, 1e30]; leave it out"},
    {"softcap not a number", [](Tensors&) {}, "--softcap nan", "--softcap: nan is not"},
    {"infinite softcap", [](Tensors&) {}, "--softcap inf", "--softcap: inf is not"},
    {"scale not finite", [](Tensors&) {}, "--scale nan", "--scale: nan is not a number in [-1e30, 1e30]"},
    {"scale too large", [](Tensors&) {}, "--scale 1e31", "--scale: 1e31 is not a number in [-1e30, 1e30]"},
    {"negative window", [](Tensors&) {}, "--window -2,0", "--window: \"-2,0\" is not L,R"},
    {"window beyond 64 bits", [](Tensors&) {}, "--window 0,9223372036854775808", "is not L,R"},
    {"no chunk", [](Tensors&) {}, "--kv-chunk 0", "--kv-chunk: 0 is not a whole number"},
    {"chunk beyond 64 bits", [](Tensors&) {}, "--kv-chunk 9223372036854775808", "--kv-chunk: 9223372036854775808 is not"},
    {"empty implementation", [](Tensors&) {}, "--impl \"\"", "--impl: the name is empty"},
    {"no threads", [](Tensors&) {}, "--threads 0", "--threads"},
    {"unknown causal", [](Tensors&) {}, "--causal left", "--causal"},
    {"unknown backend", [](Tensors&) {}, "--backend gpu", "--backend"},
    {"unknown implementation", [](Tensors&) {}, "--impl sse9", "no implementation is called \"sse9\""},
    {"implementation of another backend", [](Tensors&) {}, "--backend reference --impl portable", "belongs to backend cpu"},
    {"the NPU", [](Tensors&) {}, "--backend ascend-npu", "backend ascend-npu", 3},
    {"the twin", [](Tensors&) {}, "--backend ascend-twin", "backend ascend-twin", 3},
};

TEST_F(Attend, RefusesWhatIsWrongByNameAndWritesNothing) {
  for (const auto& wrong : kWrong) {
    auto in = dense();
    wrong.change(in);
    write("in", in);
    const auto outcome = run(std::string("attend in -o out ") + wrong.flags);
    EXPECT_EQ(outcome.code, wrong.code) << wrong.what << "\n" << outcome.out << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(wrong.message)) << wrong.what;
    EXPECT_EQ(outcome.out, "") << wrong.what;
    EXPECT_EQ(files(), 1u) << wrong.what;
  }
}

TEST_F(Attend, NeverOverwritesItsInput) {
  write("in", dense());
  const auto before = contents_of(folder_ / "in");
  std::filesystem::create_symlink(folder_ / "in", folder_ / "link");
  for (const char* output : {"in", "./in", "link"}) {
    EXPECT_EQ(run(std::string("attend in -o ") + output).code, 2) << output;
    EXPECT_EQ(contents_of(folder_ / "in"), before) << output;
  }
  for (const char* output : {"/dev/null", "no/folder"}) {
    const auto outcome = run(std::string("attend in -o ") + output);
    EXPECT_EQ(outcome.code, 2) << output;
    EXPECT_THAT(outcome.err, HasSubstr(std::string("-o: ") + output)) << outcome.err;
    EXPECT_THAT(run(std::string("attend missing -o ") + output).err, HasSubstr("-o: ")) << "said before anything is read";
  }
}

TEST_F(Attend, HostileFilesAreInvalidInput) {
  std::ofstream(folder_ / "empty");
  std::ofstream(folder_ / "huge") << std::string(8, '\xff') << "{}";
  std::ofstream(folder_ / "text") << "this is not a file of tensors";
  for (const char* name : {"empty", "huge", "text", "missing", "."}) {
    const auto outcome = run(std::string("attend ") + name);
    EXPECT_EQ(outcome.code, 2) << name;
    EXPECT_THAT(outcome.err, HasSubstr(name)) << outcome.err;
  }
}

using Merge = Command;

// Keys in two files, merged: what one file with all keys gives, to rounding.
TEST_F(Merge, OfTwoHalvesIsTheWhole) {
  const auto all = dense();
  write("all", all);
  for (const bool second : {false, true}) {
    Tensors half{{"q", all.at("q")}};
    for (const auto& [name, dim] : {std::pair("k", 16), std::pair("v", 8)}) {
      const auto whole = floats_of(all.at(name));
      std::vector<float> part;
      for (int b = 0; b < 2; ++b) {
        const auto* begin = whole.data() + (b * 24 + (second ? 10 : 0)) * 2 * dim;
        part.insert(part.end(), begin, begin + (second ? 14 : 10) * 2 * dim);
      }
      half[name] = data_of("F32", {2, second ? 14 : 10, 2, dim}, part);
    }
    write(second ? "b" : "a", half);
  }
  ASSERT_EQ(run("attend all -o want").code, 0);
  ASSERT_EQ(run("attend a -o pa").code, 0);
  ASSERT_EQ(run("attend b -o pb").code, 0);
  ASSERT_EQ(run("merge pa pb -o got").code, 0);
  const auto want = read("want"), got = read("got");
  for (const char* name : {"o", "lse"}) {
    const auto a = floats_of(want.at(name)), b = floats_of(got.at(name));
    ASSERT_EQ(want.at(name).shape, got.at(name).shape);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2e-6) << name << " " << i;
  }
  ASSERT_EQ(run("merge pa -o one").code, 0);
  EXPECT_EQ(read("one").at("o").bytes, read("pa").at("o").bytes);
  EXPECT_EQ(run_json("merge pa pb --json")["parts"], 2);
}

// Two parts of 40 x 4 x 256 values each, cut into two tasks.
TEST_F(Merge, ThreadsChangeNoBit) {
  for (const char* name : {"a", "b"}) {
    const auto seed = static_cast<unsigned>(name[0]);
    write(name, {{"o", normal_data({1, 40, 4, 256}, seed)}, {"lse", normal_data({1, 4, 40}, seed + 1)}});
  }
  EXPECT_EQ(run_json("merge a b -o one --threads 1 --json")["threads"], 1);
  EXPECT_EQ(run_json("merge a b -o three --threads 3 --json")["threads"], 3);
  ASSERT_EQ(run("merge a b -o all").code, 0);
  const auto one = read("one");
  for (const char* other : {"three", "all"}) {
    const auto many = read(other);
    EXPECT_EQ(one.at("o").bytes, many.at("o").bytes) << other;
    EXPECT_EQ(one.at("lse").bytes, many.at("lse").bytes) << other;
  }
  EXPECT_EQ(run("merge a b --threads 0").code, 2);
  EXPECT_THAT(run("merge a b --threads 0").err, HasSubstr("--threads"));
}

TEST_F(Merge, RefusesWhatDoesNotFit) {
  write("a", {{"o", normal_data({1, 3, 2, 8}, 1)}, {"lse", normal_data({1, 2, 3}, 2)}});
  write("shape", {{"o", normal_data({1, 3, 2, 4}, 1)}, {"lse", normal_data({1, 2, 3}, 2)}});
  write("lse", {{"o", normal_data({1, 3, 2, 8}, 1)}, {"lse", normal_data({1, 3, 2}, 2)}});
  write("no_lse", {{"o", normal_data({1, 3, 2, 8}, 1)}});
  EXPECT_THAT(run("merge a shape").err,
              HasSubstr("shape: tensor \"o\", F32 [1, 3, 2, 4]: its shape must be that of the first file"));
  EXPECT_THAT(run("merge a lse").err, HasSubstr("its shape must be [1, 2, 3]"));
  EXPECT_THAT(run("merge a no_lse").err, HasSubstr("tensor \"lse\" is missing"));
  EXPECT_EQ(run("merge a shape").code, 2);
  write("wide", {{"o", normal_data({1, 1, 1, 300}, 1)}, {"lse", normal_data({1, 1, 1}, 2)}});
  EXPECT_THAT(run("merge wide").err, HasSubstr("wide: head_dim_v: 300 is not in [1, 256]"));
  EXPECT_EQ(run("merge a -o a").code, 2);
  EXPECT_EQ(run("merge").code, 2);
}

}  // namespace
}  // namespace tessera::cli::test
