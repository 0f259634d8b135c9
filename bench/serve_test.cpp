// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bench/modes.hpp"

namespace tessera::bench {
namespace {

/// The answers, a line each, to `requests`.
std::vector<std::string> ask(const std::string& requests) {
  std::FILE* in = std::tmpfile();
  std::FILE* out = std::tmpfile();
  std::fputs(requests.c_str(), in);
  std::rewind(in);
  EXPECT_EQ(serve(in, out), 0);
  std::rewind(out);
  std::vector<std::string> lines(1);
  for (int c = std::fgetc(out); c != EOF; c = std::fgetc(out)) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += static_cast<char>(c);
    }
  }
  lines.pop_back();
  std::fclose(in);
  std::fclose(out);
  return lines;
}

class Serve : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / "tessera_serve_test";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const char* name, const std::vector<float>& values) const {
    std::ofstream file(folder_ / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  }

  std::string load(const std::string& problem) const { return "load\t" + problem + "\t1\t\t" + folder_.string() + "\n"; }

  std::filesystem::path folder_;
};

TEST_F(Serve, LaysTheRowsOutAndComputes) {
  // Both keys score the same, so O is the mean of V: (1 + 3) / 2 and (2 + 4) / 2.
  write("q.bin", {0, 0});
  write("k.bin", {5, 6, 7, 8});
  write("v.bin", {1, 2, 3, 4});
  for (const char* layout : {"", " page1", " hpage16"}) {
    const std::string output = (folder_ / "o.bin").string();
    const auto answers =
        ask(load(std::string("f32 b1 hq1 hkv1 d2 sq1 skv2") + layout) + "run\t3\noutput\t" + output + "\nmemory\n");
    ASSERT_EQ(answers.size(), 4u);
    for (const std::string& answer : answers) EXPECT_EQ(answer.substr(0, 3), "ok\t") << answer;
    float o[2] = {};
    std::ifstream(output, std::ios::binary).read(reinterpret_cast<char*>(o), sizeof o);
    EXPECT_FLOAT_EQ(o[0], 2) << layout;
    EXPECT_FLOAT_EQ(o[1], 3) << layout;
  }
}

TEST_F(Serve, TellsTheLengths) {
  EXPECT_EQ(ask("lengths\tf32 b2 hq1 hkv1 d2 sq3 skv7\n"), std::vector<std::string>{"ok\t3 7 7"});
}

TEST_F(Serve, SaysWhatIsWrongAndGoesOn) {
  write("q.bin", {0});
  write("k.bin", {0});
  write("v.bin", {0});
  const auto answers = ask("run\t1\nlengths\tf32 nonsense\n" + load("f32 b1 hq1 hkv1 d2 sq1 skv2") +
                           "dance\nlengths\tf32 b1 hq1 hkv1 d2 sq1 skv2\n");
  ASSERT_EQ(answers.size(), 5u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(answers[i].substr(0, 6), "error\t") << answers[i];
  EXPECT_NE(answers[1].find("nonsense"), std::string::npos) << answers[1];
  EXPECT_NE(answers[2].find("another size"), std::string::npos) << answers[2];
  EXPECT_EQ(answers[4], "ok\t1 2");
}

}  // namespace
}  // namespace tessera::bench
