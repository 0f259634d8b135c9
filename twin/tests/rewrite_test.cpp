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
TEST(Rewrite, FindsTheNumbersOfASource) {
  const auto s =
      rewrite("#if X > 99\n#define A 1'000\n#endif\nif (x > -2.5f && y - 3 < .5e-3F) return -0x1F; // 7\nz1[4] = \"8\";");
  const std::vector<std::pair<int, double>> expected = {{2, 1000}, {4, -2.5}, {4, 3}, {4, 0.5e-3}, {4, -31}, {5, 4}};
  EXPECT_EQ(s.literals, expected);
}
TEST(Rewrite, SeesWhoCallsTheLibrarysMatmul) {
  const auto mix = rewrite("#include \"lib/matmul_intf.h\"\nvoid f() { REGIST_MATMUL_OBJ(&pipe, w, mm, &t); }");
  EXPECT_TRUE(mix.uses_matmul);
  EXPECT_FALSE(mix.cube_only);
  EXPECT_TRUE(rewrite("#define ASCENDC_CUBE_ONLY\nvoid f() { REGIST_MATMUL_OBJ(&pipe, w, mm, &t); }").cube_only);
  EXPECT_FALSE(rewrite("#ifdef ASCENDC_CUBE_ONLY\n#endif\n").cube_only);
}
TEST(Rewrite, KeepsLineNumbersAndDropsAByteOrderMark) {
  const auto s = rewrite("\xEF\xBB\xBFint a;\nk<<<1,\n nullptr, s>>>\n(x);\nint b;");
  EXPECT_EQ(std::count(s.text.begin(), s.text.end(), '\n'), 4);
  EXPECT_EQ(s.text.substr(0, 6), "int a;");
}
TEST(Rewrite, KeepsLineNumbersOfALaunchOverManyLines) {
  EXPECT_EQ(rewrite("k<A, // why\n  B>\n<<<1,\n s>>>(x);").text,
            "::twin::launcher<decltype(k<A, B>), k<A, // why\n  B>\n>(1,\n s)(x);");
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
TEST(Rewrite, RegistersAKernelBehindItsBody) {
  const auto s = rewrite("namespace a { namespace { __global__ void k(GM_ADDR x, int, float y = 1) {\n  f();\n} } }");
  EXPECT_EQ(s.text,
            "namespace a { namespace { __global__ void k(GM_ADDR x, int, float y = 1) {\n  f();\n} "
            "TWIN_KERNEL_TYPE(k, TWIN_UNIT_TYPE, -1) TWIN_KERNEL(k, k, (std::uint32_t twin_blocks, void* twin_stream, "
            "::twin::AnyPointer x, "
            "int twin_argument1, float y), (x, twin_argument1, y)) } }");
}
TEST(Rewrite, LeavesMembersAndDeclarationsUnregistered) {
  for (const char* text : {"struct S { static __global__ void k(GM_ADDR x) {} };", "__global__ void k(GM_ADDR x);",
                           "void f() { extern __global__ void k(); }"}) {
    EXPECT_EQ(rewrite(text).text, text);
  }
}
TEST(Rewrite, UnderstandsKernelsThatMacrosMake) {
  const auto s = rewrite(
      "#define MAKE(T, N) \\\n  extern \"C\" __global__ __aicore__ void op_##N##_##T(__gm__ T* x) \\\n  { f<T>(x); }\n"
      "MAKE(half, a)\n#define GO(T) op_a_##T<<<1, nullptr, s>>>(p)\n");
  ASSERT_EQ(s.kernels.size(), 1u);
  EXPECT_EQ(s.kernels[0].name, "op_##N##_##T");
  EXPECT_TRUE(s.kernels[0].in_macro);
  EXPECT_NE(s.text.find("{ f<T>(x); } TWIN_KERNEL_TYPE(op_##N##_##T, TWIN_UNIT_TYPE, -1)"), std::string::npos) << s.text;
  EXPECT_NE(s.text.find("::twin::launcher<decltype(op_a_##T), op_a_##T>(1, nullptr, s)(p)"), std::string::npos) << s.text;
}
TEST(Rewrite, ReadsTypesByTilingKey) {
  const auto s = rewrite(
      "__global__ void k(GM_ADDR x) { KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY); "
      "KERNEL_TASK_TYPE(7, KERNEL_TYPE_AIC_ONLY); }");
  EXPECT_NE(s.text.find("TWIN_KERNEL_TYPE(k, AicOnly, 7) TWIN_KERNEL_TYPE(k, AivOnly, -1)"), std::string::npos) << s.text;
  EXPECT_EQ(s.type, "KERNEL_TYPE_AIV_ONLY");
}
TEST(Rewrite, TakesTheCompilersOwnSpellings) {
  EXPECT_EQ(rewrite("inline [aicore] void f();").text, "inline __aicore__ void f();");
  EXPECT_EQ(rewrite("inline [host, aicore] void f();").text, "inline __aicore__ void f();");
  EXPECT_EQ(rewrite("inline[aicore] void f();").text, "inline __aicore__ void f();");
  EXPECT_EQ(rewrite("#ifndef __aicore__\n#define __aicore__ \\\n  [aicore]\n#endif\nint a;").text,
            "#ifndef __aicore__\n\n\n#endif\nint a;");
}
TEST(Rewrite, GivesAKernelWithTheNameOfAFunctionOfCAnother) {
  const auto s =
      rewrite("extern \"C\" __global__ void hypot(GM_ADDR x) {}\nvoid f() { hypot<<<1, 0, 0>>>(x); y = hypot(1, 2); }");
  EXPECT_NE(s.text.find("void twin_kernel_hypot(GM_ADDR x) {} "), std::string::npos) << s.text;
  EXPECT_NE(s.text.find("TWIN_KERNEL(hypot, twin_kernel_hypot, "), std::string::npos) << s.text;
  EXPECT_NE(s.text.find("::twin::launcher<decltype(twin_kernel_hypot), twin_kernel_hypot>(1, 0, 0)(x); y = hypot(1, 2);"),
            std::string::npos)
      << s.text;
  EXPECT_EQ(rewrite("ICPU_RUN_KF(exp, 1, x); ICPU_RUN_KF(k, 1, x);").text,
            "ICPU_RUN_KF(twin_kernel_exp, 1, x); ICPU_RUN_KF(k, 1, x);");
}
TEST(Rewrite, SeesKernelsOfProjectsThatMeet) {
  EXPECT_TRUE(rewrite("void f() { SyncAll(); }").meets_all);
  EXPECT_TRUE(rewrite("void f() { GET_TILING_DATA(t, tiling); }").takes_tiling);
  EXPECT_TRUE(rewrite("void f() { GET_TILING_DATA_WITH_STRUCT(T, t, tiling); }").takes_tiling);
  EXPECT_FALSE(rewrite("// SyncAll GET_TILING_DATA\n").meets_all);
}
TEST(Rewrite, ListsIncludes) {
  const auto s = rewrite("#include \"a/b.h\"\n#  include <lib/c.h>\n// #include \"no.h\"\n");
  ASSERT_EQ(s.includes.size(), 2u);
  EXPECT_EQ(s.includes[0].name, "a/b.h");
  EXPECT_TRUE(s.includes[0].quoted);
  EXPECT_EQ(s.includes[1].name, "lib/c.h");
  EXPECT_FALSE(s.includes[1].quoted);
}
TEST(Rewrite, ListsNamesThatAFileGivesToItsOwn) {
  using Names = std::vector<std::string>;
  const auto s = rewrite(
      "class LayerNorm;\ntemplate <typename T, class U> class RmsNorm : B<T> { struct TopK {}; };\n"
      "namespace a { struct DropOut final {}; enum class E : int { Pad }; enum F {}; using G = int; using H::I;\n"
      "void f() { struct J {}; struct K* k; } }\nextern \"C\" { union L { int m; }; }\n"
      "__global__ void N(GM_ADDR x) {}\n#define M struct O {};\nclass P p; struct Q* q;\n"
      "constexpr float PI = 3.14f; static const uint32_t R[2] = {1, 2}; inline constexpr int S{3}; const int t(int u = 4);");
  EXPECT_EQ(s.own_names, (Names{"LayerNorm", "RmsNorm", "DropOut", "E", "F", "G", "L", "N", "M", "PI", "R", "S"}));
  EXPECT_EQ(rewrite("void f() { AscendC::TopK(a); AscendC :: RmsNorm<float>(b); X::Y(c); } int AscendC").qualified_names,
            (Names{"TopK", "RmsNorm"}));
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
                                "class X",
                                "using",
                                "enum",
                                "AscendC::",
                                "decltype"};
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (unsigned n = random() % 24; n > 0; --n) text += pieces[random() % std::size(pieces)];
    const auto s = rewrite(text);
    const bool untouched = s.error.empty() && !s.changed && text.compare(0, 3, "\xEF\xBB\xBF") != 0;
    ASSERT_TRUE(!untouched || s.text == text) << text;
  }
}

}  // namespace
