// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "support.hpp"

using namespace AscendC;

namespace {

int times = 0;
void works(GM_ADDR p) {
  const LocalTensor<float> a(TPosition::VECCALC, 0, 64), b(TPosition::VECCALC, 256, 64);
  GlobalTensor<float> g;
  g.SetGlobalBuffer((__gm__ float*)p);
  Duplicate(a, 1.0f, 64);
  for (int i = 0; i < times; ++i) {
    PipeBarrier<PIPE_V>();
    Exp(b, a, 64);  // </script>
  }
  SetFlag<HardEvent::V_MTE3>(0);
  WaitFlag<HardEvent::V_MTE3>(0);
  DataCopy(g[GetBlockIdx() * 64], b, 64);
}
std::string page(int n, int cores) {
  times = n;
  const twin_test::Device<float> p(64 * 48);
  twin::settings().keep_trace = true;
  RUN(works, cores).as(twin::KernelType::AivOnly)(p);
  twin::settings().keep_trace = false;
  EXPECT_SILENT();
  return twin::last_html_report();
}

TEST(HtmlReport, NeedsNoNetworkAndSaysThatItIsModelled) {
  const std::string html = page(3, 2);
  for (const char* outside : {"http://", "https://", "src=", "href=", "import("}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
  EXPECT_NE(html.find("modelled on 910B2</title>"), std::string::npos);
  EXPECT_NE(html.find("\"modelled\": true"), std::string::npos);
  for (const char* part : {"SCALAR", "FIXP", "\"critical_path\"", "AIV 1"}) EXPECT_NE(html.find(part), std::string::npos);
}
TEST(HtmlReport, HasTheKernelsSourceAndItCannotEndTheScript) {
  // The compiler may have been given a relative path; the page reads it from where the program runs.
  const auto before = std::filesystem::current_path();
  for (int up = 0; up < 3 && !std::filesystem::exists(__FILE__); ++up) std::filesystem::current_path("..");
  const std::string html = page(3, 1);
  std::filesystem::current_path(before);
  const auto source = html.find("Exp(b, a, 64);  // ");
  ASSERT_NE(source, std::string::npos);
  EXPECT_EQ(html.compare(source, 28, "Exp(b, a, 64);  // <\\/script"), 0) << html.substr(source, 40);
}
TEST(HtmlReport, StaysSmall) {
  const std::string html = page(4000, 48);  // 192,000 instructions
  EXPECT_LT(html.size(), 1u << 20);
  EXPECT_NE(html.find("\"merged\":true"), std::string::npos);
  EXPECT_NE(html.find("\"merged\":false"), std::string::npos);  // the first block is kept
}

}  // namespace
