// SPDX-License-Identifier: Apache-2.0
#include "rewrite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace {

using twincc::rewrite;

TEST(Rewrite, ReplacesALaunch) {
  EXPECT_EQ(rewrite("k<<<8, nullptr, s>>>(a, b);").text, "::twin::launcher<decltype(k), k>(8, nullptr, s)(a, b);");
}
TEST(Rewrite, KeepsTemplateArgumentsAndNamespaces) {
  EXPECT_EQ(rewrite("x = 1; ns::k<float, A<B<int>>><<<n, nullptr, s>>>(a);").text,
            "x = 1; ::twin::launcher<decltype(ns::k<float, A<B<int>>>), ns::k<float, A<B<int>>>>(n, nullptr, s)(a);");
}
TEST(Rewrite, UnderstandsArgumentsWithBracketsAndShifts) {
  EXPECT_EQ(rewrite("k<<<f(a >> 1, b[2]), nullptr, s>>>(c);").text,
            "::twin::launcher<decltype(k), k>(f(a >> 1, b[2]), nullptr, s)(c);");
}
TEST(Rewrite, LeavesStringsCommentsAndShiftsAlone) {
  for (const char* text : {"const char* s = \"k<<<1>>>(x)\";", "// k<<<1>>>(x)\n", "/* k<<<1>>>(x) */",
                           "auto r = R\"x(k<<<1>>>(y))x\";", "a = b << 3 >> c;", "char c = '<'; int n = 1'000'000;"}) {
    const auto s = rewrite(text);
    EXPECT_EQ(s.text, text);
    EXPECT_FALSE(s.launches);
    EXPECT_EQ(s.error, "");
  }
}
TEST(Rewrite, KeepsLineNumbersAndDropsAByteOrderMark) {
  const auto s = rewrite("\xEF\xBB\xBFint a;\nk<<<1,\n nullptr, s>>>\n(x);\nint b;");
  EXPECT_EQ(std::count(s.text.begin(), s.text.end(), '\n'), 4);
  EXPECT_EQ(s.text.substr(0, 6), "int a;");
}
TEST(Rewrite, NamesWhatIsWrong) {
  EXPECT_EQ(rewrite("\n\nk<<<1, nullptr, s>>>;").error, "line 3: a launch without arguments: '(' expected after '>>>'");
  EXPECT_EQ(rewrite("k<<<1, nullptr;").error, "line 1: '<<<' without its '>>>'");
  EXPECT_EQ(rewrite("(3)<<<1>>>(x)").error, "line 1: '<<<' without a kernel's name before it");
}
TEST(Rewrite, ReadsKernels) {
  const auto s = rewrite(
      "extern \"C\" __global__ __aicore__ void one(GM_ADDR x, std::pair<int, int> p) { "
      "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0); }\n"
      "template <class T> __global__ __mix__(1, 2) void two(GM_ADDR x) {}\n"
      "__global__ __cube__ void three();\n");
  ASSERT_EQ(s.kernels.size(), 3u);
  EXPECT_EQ(s.kernels[0].name, "one");
  EXPECT_EQ(s.kernels[0].type, "KERNEL_TYPE_MIX_AIV_1_0");
  EXPECT_EQ(s.kernels[0].parameters, (std::vector<std::string>{"GM_ADDR x", "std::pair<int, int> p"}));
  EXPECT_TRUE(s.kernels[1].is_template);
  EXPECT_EQ(s.kernels[1].type, "KERNEL_TYPE_MIX_AIC_1_2");
  EXPECT_TRUE(s.names_core_kind);
  EXPECT_EQ(s.kernels[2].type, "KERNEL_TYPE_AIC_ONLY");
  EXPECT_FALSE(s.kernels[2].defined);
  EXPECT_EQ(s.kernels[2].line, 3);
}
TEST(Rewrite, SurvivesAnyText) {
  const std::string pieces[] = {"<<<",
                                ">>>",
                                "k",
                                "<",
                                ">",
                                "(",
                                ")",
                                "{",
                                "}",
                                "[",
                                "]",
                                ",",
                                ";",
                                "::",
                                "\"",
                                "'",
                                "R\"(",
                                ")\"",
                                "//",
                                "/*",
                                "*/",
                                "\n",
                                "\\",
                                "__global__",
                                "__mix__",
                                "KERNEL_TASK_TYPE",
                                "1'0",
                                "#include",
                                "\xEF\xBB\xBF",
                                "=",
                                "decltype"};
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (unsigned n = random() % 24; n > 0; --n) text += pieces[random() % std::size(pieces)];
    const auto s = rewrite(text);
    const bool untouched = s.error.empty() && !s.launches && text.compare(0, 3, "\xEF\xBB\xBF") != 0;
    ASSERT_TRUE(!untouched || s.text == text) << text;
  }
}

}  // namespace
