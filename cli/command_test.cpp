// SPDX-License-Identifier: Apache-2.0
// The commands besides attend and merge, and what all of them share.
#include "cli/command_test.hpp"

namespace tessera::cli::test {
namespace {

using testing::HasSubstr;

constexpr const char* kSmall = "\"f32 b1 hq4 hkv2 d32 sq3 skv40 causal\"";

TEST_F(Command, HelpTeachesWithExamples) {
  for (const char* name : {"", "info", "attend", "merge", "plan", "verify", "bench", "trace"}) {
    const auto outcome = run(std::string(name) + " --help");
    EXPECT_EQ(outcome.code, 0) << name;
    EXPECT_THAT(outcome.out, HasSubstr("Examples:\n  tessera ")) << name;
    EXPECT_EQ(outcome.err, "") << name;
  }
  EXPECT_THAT(run("--version").out, HasSubstr("0."));
}

TEST_F(Command, HelpTeachesTheTokensOfAProblem) {
  for (const char* name : {"plan", "verify", "bench", "trace"}) {
    EXPECT_THAT(run(std::string(name) + " --help").out, HasSubstr("ragged100-8000")) << name;
  }
  const auto outcome = run(
      "plan \"bf16 b4 sq1 skv8192 hq32 hkv8 d128 causal win4095,0 scale0.1 softcap30 alibi sink bias mask page16 kvchunk512 "
      "ragged100-8000 seed7\" \"f16 hq32 dqk192 dv128 skv4096 causal-tl win-tl4095,0 hpage16\"");
  EXPECT_EQ(outcome.code, 0) << "what help shows is understood\n" << outcome.err;
}

TEST_F(Command, BadUsageIsTwoAndSaysWhat) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "tessera info"},
      {"--json", "--json"},
      {"frobnicate", "frobnicate"},
      {"plan", "problem"},
      {"plan \"bf16 hq4 hkv3 d64 sq1 skv1\"", "3"},
      {"plan \"bf16 hq4 hkv4 d64 sq1 skv1 colour7\"", "colour7"},
      {"plan @nowhere.txt", "nowhere.txt"},
      {"bench --format xml x", "--format"},
      {"bench --json --format csv x", "--json"},
      {"bench --seconds 0 x", "--seconds"},
      {"bench --seconds nan x", "--seconds: nan is not a number"},
      {"verify --max-flops nan x", "nan is not a number above 0"},
      {"verify --max-flops -1 x", "-1 is not a number above 0\n"},
      {"attend x --kv-chunk 1.5", "--kv-chunk: 1.5 is not a whole number in [1, "},
      {"attend x -o \"\"", "--output: the name is empty"},
      {"attend \"\"", "input: the name is empty"},
      {"attend x --causal top-left --causal top-left", "--causal: given more than once\nTry 'tessera attend --help'.\n"},
      {"merge \"\"", "input: the name is empty"},
      {"plan @", "@: the name of a list"},
      {"plan @/dev/zero", "/dev/zero: over the 16777216 bytes"},
      {"trace @list", "@list: a trace is of one problem"},
      {"trace \"f32 hq1 d8 skv8\" -o t.svg -o t.svg", "-o t.svg: given more than once"},
      {"plan \"f32 hq1 d8\"", "tessera: problem \"f32 hq1 d8\": skv<n> or"},
      {"plan \"$(printf 'f32 \\033[31mred')\"", "token '\\x1b[31mred' is unknown"},
      {"trace \"f32 hq1 hkv1 d8 sq1 skv8\" -o picture.bmp", "picture.bmp"},
      {"info --threads -3", "--threads"},
      {"info --frob", "--frob"},
      {"verify --impl sse9", "sse9"},
      {"plan --impl \"\" x", "--impl: the name is empty"}};
  for (const auto& [arguments, message] : cases) {
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
  }
}

TEST_F(Command, BackendsThatAreNotHereAreUnsupported) {
  for (const char* name : {"plan", "bench", "verify", "trace"}) {
    const auto outcome = run(std::string(name) + " --backend ascend-npu " + kSmall);
    EXPECT_EQ(outcome.code, 3) << name;
    EXPECT_THAT(outcome.err, HasSubstr("ascend-npu")) << name;
  }
}

TEST_F(Command, AnUnwritableStdoutIsAnError) { EXPECT_EQ(run("info --no-peaks >/dev/full; test $? -eq 2").code, 0); }

TEST_F(Command, InfoListsImplementations) {
  const auto json = run_json("info --no-peaks --json");
  EXPECT_GE(json["cores"], 1);
  bool reference = false;
  for (const auto& row : json["implementations"]) reference |= row["name"] == "reference" && row["available"];
  EXPECT_TRUE(reference);
  EXPECT_FALSE(json.contains("peaks"));
}

TEST_F(Command, InfoMeasuresPeaks) {
  const auto json = run_json("info --json --threads 1");
  EXPECT_GT(json["peaks"]["flops_per_s"]["f32"], 1e8);
  EXPECT_GT(json["peaks"]["reads"][0]["bytes_per_s"], 1e8);
}

TEST_F(Command, PlanExplainsEachProblemOfAList) {
  std::ofstream(folder_ / "list")
      << "# a comment\n\n  f32 hq1 hkv1 d8 sq1 skv8   # behind\nbf16 hq4 hkv2 d64 sq1 skv4096 page16\n";
  const auto json = run_json("plan @list --json");
  ASSERT_EQ(json.size(), 2u);
  EXPECT_THAT(run("plan @list").out, HasSubstr("bf16 b1 hq4 hkv2 d64 sq1 skv4096 page16"));
}

TEST_F(Command, ListsNameTheLineThatIsWrong) {
  std::ofstream(folder_ / "list") << "# a comment\nf32 hq1 d8 sq1 skv8\nf32 hq1 d8 sq1 skv8 colour7\n";
  const auto outcome = run("plan @list");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("list:3: problem \"f32 hq1 d8 sq1 skv8 colour7\": token 'colour7'"));
  EXPECT_EQ(outcome.out, "") << "all problems are checked before the first is done";
}

TEST_F(Command, LongProblemsAreShownInPart) {
  const auto outcome = run("plan " + std::string(100000, 'a'));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("aaaa..."));
  EXPECT_LT(outcome.err.size(), 500u);
}

TEST_F(Command, TheEnvironmentForcesAsImplDoes) {
  const std::string portable = "TESSERA_FORCE_IMPL=portable", nobody = "TESSERA_FORCE_IMPL=sse9";
  const auto results = nlohmann::json::parse(run(std::string("verify --json ") + kSmall, portable).out)["results"];
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0]["impl"], "portable");
  EXPECT_EQ(nlohmann::json::parse(run("info --no-peaks --json", portable).out)["forced"], "portable");
  for (const std::string command : {"info --no-peaks", "verify ", "plan ", "bench ", "trace "}) {
    const auto outcome = run(command.ends_with(' ') ? command + kSmall : command, nobody);
    EXPECT_EQ(outcome.code, 2) << command;
    EXPECT_THAT(outcome.err, HasSubstr("TESSERA_FORCE_IMPL: no implementation is called \"sse9\"")) << command;
  }
}

TEST_F(Command, TheReferenceRunsOnOneThread) {
  const auto row = run_json(std::string("bench --json --seconds 0.01 --backend reference --threads 2 ") + kSmall);
  EXPECT_EQ(row["threads"], 1);
}

TEST_F(Command, ForcedImplementationsAreUsed) {
  const auto json = run_json(std::string("verify --impl reference --json ") + kSmall);
  ASSERT_EQ(json["results"].size(), 1u);
  EXPECT_EQ(json["results"][0]["impl"], "reference");
  EXPECT_EQ(run(std::string("plan --backend cpu ") + kSmall, "TESSERA_FORCE_IMPL=reference").code, 2)
      << "two orders that differ";
  EXPECT_EQ(run(std::string("plan ") + kSmall, "TESSERA_FORCE_IMPL=sse9").code, 2);
}

TEST_F(Command, VerifyPassesAndCountsWhatItLeavesOut) {
  const auto outcome = run(std::string("verify ") + kSmall + " \"f16 b3 hq6 hkv3 d40 sq1 ragged5-60 page4 softcap9 sink\"");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("PASS"));
  const auto json = run_json(std::string("verify --json --max-flops 1e5 ") + kSmall + " \"f32 hq8 hkv8 d64 sq64 skv64\"");
  EXPECT_EQ(json["left_out"].size(), 1u);
  EXPECT_EQ(run("verify --max-flops 1 \"f32 hq8 hkv8 d64 sq64 skv64\"").code, 2) << "nothing verified is no pass";
}

TEST_F(Command, BenchRowsHaveEveryKey) {
  const auto outcome = run(std::string("bench --json --seconds 0.01 ") + kSmall + " \"bf16 hq2 hkv1 d64 sq1 skv100\"");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  int rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    const auto row = nlohmann::json::parse(line);
    for (const char* key : {"problem", "backend", "impl", "threads", "modelled", "repeats", "median_s", "spread_s", "flops",
                            "bytes", "flops_per_s", "bytes_per_s", "compute_peak", "memory_peak", "roof", "roof_fraction",
                            "workspace_bytes", "peak_extra_bytes"}) {
      EXPECT_TRUE(row.contains(key)) << key;
    }
  }
  EXPECT_EQ(rows, 2);
  for (const char* format : {"table", "md", "csv"}) {
    EXPECT_THAT(run(std::string("bench --seconds 0.01 --format ") + format + " " + kSmall).out, HasSubstr("hq4")) << format;
  }
}

TEST_F(Command, TraceWritesEveryKindOfFile) {
  const auto summary =
      run_json("trace \"f32 b2 hq4 hkv2 d32 sq40 skv40 causal\" --threads 2 --json -o t.json -o t.svg -o t.html");
  EXPECT_EQ(summary["use"].size(), 2u);
  EXPECT_GT(summary["duration_s"], 0);
  const auto trace = nlohmann::json::parse(contents_of(folder_ / "t.json"), nullptr, false);
  ASSERT_FALSE(trace.is_discarded());
  EXPECT_GT(trace["traceEvents"].size(), 3u);
  EXPECT_THAT(contents_of(folder_ / "t.svg"), HasSubstr("</svg>"));
  EXPECT_THAT(contents_of(folder_ / "t.html"), HasSubstr("</html>"));
}

TEST_F(Command, TraceOfNoQueriesSaysSo) {
  const auto outcome = run("trace \"f32 hq2 hkv1 d8 sq0 skv9\" -o t.svg");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("f32 b1 hq2 hkv1 d8 sq0 skv9\": it has no queries"));
  EXPECT_FALSE(exists("t.svg"));
}

TEST_F(Command, TraceOfWhoRecordsNothingIsUnsupported) {
  EXPECT_EQ(run(std::string("trace --backend reference -o t.svg ") + kSmall).code, 3);
  EXPECT_FALSE(exists("t.svg"));
}

}  // namespace
}  // namespace tessera::cli::test
