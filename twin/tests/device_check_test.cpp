// SPDX-License-Identifier: Apache-2.0
// The call graph of --device-check over modules written by hand, as clang 14 prints them and, with opaque pointers, later
// ones.
#include "device_check.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using twincc::Complaint;

const char* const kMetadata = R"(
attributes #0 = { convergent noinline "disable-tail-calls"="true" "x"="y" }
attributes #1 = { convergent }
attributes #2 = { nounwind "disable-tail-calls"="false" "convergent"="no" }
!1 = !DIFile(filename: "k.asc", directory: "/home/me")
!2 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 10, type: !9, flags: DIFlagPrototyped)
!3 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 2, type: !9, flags: DIFlagPrototyped)
!4 = distinct !DILexicalBlock(scope: !2, file: !1, line: 11, column: 3)
!5 = !DILocation(line: 12, column: 5, scope: !4)
!6 = !DILocation(line: 3, column: 5, scope: !3)
!7 = distinct !DISubprogram(name: "F", scope: !1, file: !1, line: 1, type: !9, flags: DIFlagArtificial | DIFlagPrototyped)
)";

std::string no_source(const twincc::Place&) { return ""; }

std::vector<Complaint> check(const std::string& functions) {
  std::map<std::string, std::set<std::string>> reached;
  return twincc::check_calls(twincc::read_module(functions + kMetadata), "/opt/twin", no_source, &reached);
}

TEST(DeviceCheck, FindsRecursionWithTypedAndOpaquePointers) {
  for (const char* argument : {"i8*", "ptr"}) {
    const std::string p = argument;
    const auto found =
        check("define void @_Z1kPh(" + p + " %0) #0 !dbg !2 {\n  call void @_Z1fi(i32 1), !dbg !5\n  ret void\n}\n" +
              "define linkonce_odr void @_Z1fi(i32 %0) #1 comdat !dbg !3 {\n  invoke void @_Z1fi(i32 %0)\n" +
              "          to label %1 unwind label %2, !dbg !6\n  ret void\n}\n");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].at.file, "/home/me/k.asc");
    EXPECT_EQ(found[0].at.line, 3);
    EXPECT_NE(found[0].what.find("recursion: f(int) -> f(int)"), std::string::npos) << found[0].what;
  }
}
TEST(DeviceCheck, LooksOnlyAtWhatKernelsReach) {
  EXPECT_TRUE(
      check(
          "define i32 @main() #2 !dbg !3 {\n  %1 = call ptr @_Znwm(i64 4), !dbg !6\n  %2 = fadd double %3, %4, !dbg !6\n}\n"
          "define void @k(ptr %0) #0 !dbg !2 {\n  ret void\n}\n")
          .empty());
}
TEST(DeviceCheck, NamesFunctionsWithoutTheMark) {
  const std::string kernel = "define void @k(ptr %0) #0 !dbg !2 {\n  call void @_Z1fi(i32 1), !dbg !5\n}\n";
  auto found = check(kernel + "define void @_Z1fi(i32 %0) #2 !dbg !3 {\n}\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].what, "calls f(int), which is not __aicore__ (declared at line 2)");
  EXPECT_EQ(found[0].at.line, 12) << "the place of the call";
  EXPECT_TRUE(check(kernel + "define void @_Z1fi(i32 %0) #2 !dbg !7 {\n}\n").empty()) << "made by the compiler";
  EXPECT_TRUE(check(kernel + "declare void @_Z1fi(i32) #1\n").empty()) << "declared __aicore__, defined elsewhere";
  EXPECT_EQ(check(kernel + "declare void @_Z1fi(i32) #2\n").size(), 1u);
}
TEST(DeviceCheck, TakesAWordOfATypeForNothingElse) {
  const std::string head = "define void @k(ptr %0) #0 !dbg !2 {\n";
  EXPECT_EQ(check(head + "  %1 = fpext float %2 to double, !dbg !5\n}\n").size(), 1u);
  EXPECT_TRUE(check(head + "  call void @double(i32 1), !dbg !5\n  store i8 0, ptr @\"to double\", !dbg !5\n}\n").empty());
  EXPECT_TRUE(
      check(head +
            "  %1 = fpext float %2 to double, !dbg !5\n  call i32 (ptr, ...) @printf(ptr @s, double %1), !dbg !5\n}\n")
          .empty())
      << "what printf is given";
}
TEST(DeviceCheck, ReadsAnyText) {
  const std::string pieces[] = {"define ",
                                "declare ",
                                "@f",
                                "@\"",
                                "(",
                                ")",
                                " #0",
                                " !dbg ",
                                "!1",
                                " = ",
                                "!DILocation(line: ",
                                "scope: ",
                                "{\n",
                                "}\n",
                                "\n",
                                "call ",
                                " invoke ",
                                "double",
                                "attributes #",
                                "convergent",
                                "\"disable-tail-calls\"=\"true",
                                "\"",
                                "99999999999999999999",
                                "!DIFile(",
                                "catch "};
  std::mt19937 random(11);
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (unsigned n = random() % 40; n > 0; --n) text += pieces[random() % std::size(pieces)];
    check(text);
  }
}

TEST(DeviceCheck, KnowsTheTilingKeysAndTheModuleOfOne) {
  const std::string text =
      "declare noundef zeroext i1 @_ZN4twin13is_tiling_keyEy(i64 noundef) #2\n"
      "define void @_Z1kPh(ptr %0) #0 !dbg !2 {\n  %1 = call noundef zeroext i1 @_ZN4twin13is_tiling_keyEy(i64 noundef 10), "
      "!dbg !5\n  %2 = call i1 @_ZN4twin13is_tiling_keyEy(i64 -1), !dbg !5\n  %3 = call i1 "
      "@_ZN4twin13is_tiling_keyEy(i64 noundef %1), !dbg !5\n  ret void\n}\n";
  const auto module = twincc::read_module(text + kMetadata);
  EXPECT_EQ(module.at("_Z1kPh").tiling_keys, (std::vector<std::string>{"10", "-1", ""}));
  const std::string one = twincc::with_tiling_key(text, "10");
  EXPECT_NE(one.find("define internal zeroext i1 @_ZN4twin13is_tiling_keyEy(i64 %key)"), std::string::npos) << one;
  EXPECT_NE(one.find("icmp eq i64 %key, 10"), std::string::npos) << one;
  EXPECT_EQ(one.find("declare"), std::string::npos) << one;
  EXPECT_EQ(twincc::with_tiling_key("ret void\n", "10"), "ret void\n");
}

}  // namespace
