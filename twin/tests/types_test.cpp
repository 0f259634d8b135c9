// SPDX-License-Identifier: Apache-2.0
#include "types.hpp"

#include <gtest/gtest.h>

#include "rewrite.hpp"

namespace {

using twincc::rewrite;
using twincc::TypeReader;

std::string kernel(const std::string& body) { return "__global__ __vector__ void k(GM_ADDR x) {\n" + body + "\n}\n"; }

// Unclear types are left to the preprocessor, with what the qualifiers say if it finds none.
void expect_unclear(const std::string& source) {
  const auto s = rewrite(source, {"SETTYPE"});
  EXPECT_TRUE(s.unclear_types) << source;
  EXPECT_NE(s.text.find("} TWIN_TYPES_OF(k, AivOnly) TWIN_KERNEL(k, k, "), std::string::npos) << s.text;
  EXPECT_EQ(s.text.find("TWIN_KERNEL_TYPE("), std::string::npos) << s.text;
}
TEST(KernelTypes, AreThePreprocessorsWhereTheWordsAloneDoNotTell) {
  const std::string aiv = "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);";
  const std::string mix = "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);";
  expect_unclear(kernel("#if FUSE\n" + mix + "\n#else\n" + aiv + "\n#endif"));
  expect_unclear(kernel("#ifdef FUSE\n" + mix + "\n#endif"));
  expect_unclear(kernel(mix + aiv));
  expect_unclear(kernel("KERNEL_TASK_TYPE_DEFAULT(KTYPE);"));
  expect_unclear(kernel("KERNEL_TASK_TYPE_DEFAULT(PICK(KERNEL_TYPE_AIV_ONLY));"));
  expect_unclear(kernel("KERNEL_TASK_TYPE(7, KTYPE);"));
  expect_unclear(kernel("KERNEL_TASK_TYPE(KEY(1, 2), KERNEL_TYPE_AIC_ONLY);"));
  expect_unclear(kernel("SETTYPE(KERNEL_TYPE_AIV_ONLY);"));
  expect_unclear("#define MAKE(T) __global__ __vector__ void k(GM_ADDR x) { KERNEL_TASK_TYPE_DEFAULT(T); }\n");
  EXPECT_TRUE(rewrite("void f() { KERNEL_TASK_TYPE_DEFAULT(KTYPE); }").unclear_types);
  EXPECT_TRUE(rewrite("#if FUSE\nvoid f() { " + mix + " }\n#endif\n").unclear_types);
}
TEST(KernelTypes, AreTheWordsWhereTheyTell) {
  const std::string mix = "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);";
  for (const std::string& source :
       {kernel(mix), kernel(mix + mix), kernel("#if A\nint a;\n#endif\n" + mix), "#if A\n" + kernel(mix) + "#endif\n",
        "#ifndef GUARD\n#define GUARD\n" + kernel(mix) + "void f() {" + mix + "}\n#endif\n", kernel("// SETTYPE\n" + mix),
        "#define MAKE __global__ void k(GM_ADDR x) { " + mix + " }\n#define SETTYPE(T) KERNEL_TASK_TYPE_DEFAULT(T)\n"}) {
    const auto s = rewrite(source, {"SETTYPE"});
    EXPECT_FALSE(s.unclear_types) << source;
    EXPECT_NE(s.text.find("TWIN_KERNEL_TYPE(k, MixAic12, -1)"), std::string::npos) << s.text;
  }
}
TEST(KernelTypes, MacrosThatGiveThemAreFoundThroughOthers) {
  const auto s = rewrite(
      "#define A(t) B(t)\n#define B(t) \\\n  KERNEL_TASK_TYPE_DEFAULT(t)\n#define C KERNEL_TYPE_AIV_ONLY\n#define D(t) "
      "\\\n\n"
      "KERNEL_TASK_TYPE_DEFAULT(t)\n#define E KERNEL_TASK_TYPE(1, C)\n");
  EXPECT_EQ(twincc::typing_macros(s.macros), (std::set<std::string>{"A", "B", "E"}));
}

const std::string kMix = "KERNEL_TASK_TYPE_DEFAULT( KERNEL_TYPE_MIX_AIC_1_2 ); ";
TEST(KernelTypes, AreReadOutOfThePreprocessorsOutput) {
  TypeReader r;
  const std::string pass =
      "# 1 \"/a.asc\"\nvoid clear() { KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY); } \n"
      "void k(char* x) { if (x) { " +
      kMix +
      "} } twin_types_of(k, TWIN_UNIT_TYPE) more\n"
      "void n() { KERNEL_TASK_TYPE((1\n# 7 \"/a.asc\"\n + 2), KERNEL_TYPE_AIC_ONLY); } twin_types_of(n, TWIN_UNIT_TYPE) "
      "more\n"
      "void v() { KERNEL_TASK_TYPE(5, KERNEL_TYPE_AIC_ONLY); } twin_types_of(v, AivOnly) more\n"
      "void none() {} twin_types_of(none, TWIN_UNIT_TYPE) more\n";
  r.read(pass);
  r.read(pass);
  EXPECT_EQ(r.error(), "");
  EXPECT_TRUE(r.mix());
  EXPECT_EQ(r.defaults(), (std::set<std::string>{"KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_MIX_AIC_1_2"}));
  EXPECT_EQ(r.registrations(),
            (std::map<std::string, std::string>{{"k", "TWIN_KERNEL_TYPE(k, MixAic12, -1)"},
                                                {"n", "TWIN_KERNEL_TYPE(n, AicOnly, ( 1 + 2 ))"},
                                                {"v", "TWIN_KERNEL_TYPE(v, AicOnly, 5) TWIN_KERNEL_TYPE(v, AivOnly, -1)"},
                                                {"none", "TWIN_KERNEL_TYPE(none, TWIN_UNIT_TYPE, -1)"}}));
}
std::string error_of(const std::string& pass, const std::string& next = "") {
  TypeReader r;
  r.read(pass);
  r.read(next);
  return r.error();
}
TEST(KernelTypes, ThatContradictEachOtherAreErrors) {
  const std::string two =
      "/b.asc:6: kernel k is of type KERNEL_TYPE_AIV_ONLY here and of type KERNEL_TYPE_MIX_AIC_1_2 at /b.asc:5: a launch "
      "must "
      "know one for all its cores";
  const std::string head = "# 4 \"/b.asc\"\nvoid k() {\n", end = "} twin_types_of(k, TWIN_UNIT_TYPE) more\n";
  const std::string aiv = "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);\n";
  EXPECT_EQ(error_of(head + kMix + "\n" + aiv + end), two);
  EXPECT_EQ(error_of(head + kMix + "\n" + end, head + "\n" + aiv + end), two);
  EXPECT_EQ(error_of(head + kMix + end, head + end), "");  // only some passes say it
  EXPECT_EQ(error_of(head + "KERNEL_TASK_TYPE_DEFAULT(KTYPE);" + end).substr(0, 61),
            "/b.asc:5: kernel k: 'KTYPE' is no kernel type of this device:");
  EXPECT_EQ(error_of("# 4 \"/b.asc\"\nvoid f() { KERNEL_TASK_TYPE_DEFAULT(KTYPE); }\n").substr(0, 51),
            "/b.asc:4: 'KTYPE' is no kernel type of this device:");
  EXPECT_EQ(error_of(head + kMix + end + head + end).substr(0, 61),
            "/b.asc:5: two kernels named k have different types, and a mac");
}
TEST(KernelTypes, SurviveAnyText) {
  for (const char* text : {"twin_types_of(k, x)", "} twin_types_of(k, x) m", "twin_types_of", "} } twin_types_of(k, x) m n",
                           "KERNEL_TASK_TYPE(", "KERNEL_TASK_TYPE_DEFAULT(()", "# 1\nKERNEL_TASK_TYPE(,,)", ""}) {
    TypeReader r;
    r.read(text);
  }
}

}  // namespace
