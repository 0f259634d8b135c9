// SPDX-License-Identifier: Apache-2.0
#include "cli/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tessera::cli {
namespace {

using testing::HasSubstr;

Timeline two_threads() {
  Timeline timeline;
  timeline.problem = "f32 <&> \"quoted\"";
  timeline.impl = "portable";
  timeline.duration_ns = 1000;
  timeline.lanes = {{{0, 250, 0, TraceStage::pack}, {250, 500, 0, TraceStage::qk}, {400, 600, 1, TraceStage::softmax}},
                    {{900, 1000, 2, TraceStage::merge}}};
  return timeline;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Timeline, UseAddsUpAndCountsAnOverlapOnce) {
  const auto timeline = two_threads();
  const auto use = use_of(timeline, 0);
  EXPECT_DOUBLE_EQ(use.stage[0], 0.25);
  EXPECT_DOUBLE_EQ(use.stage[1], 0.25);
  EXPECT_DOUBLE_EQ(use.stage[2], 0.10);
  EXPECT_DOUBLE_EQ(use.idle, 0.40);
  EXPECT_DOUBLE_EQ(use_of(timeline, 1).idle, 0.90);
}

TEST(Timeline, AnEmptyOneIsIdle) {
  Timeline timeline;
  timeline.lanes.resize(2);
  EXPECT_DOUBLE_EQ(use_of(timeline, 1).idle, 1);
  EXPECT_THAT(svg(timeline), HasSubstr("</svg>"));
}

TEST(Timeline, ChromeTraceIsJsonInMicroseconds) {
  const auto json = nlohmann::json::parse(chrome_json(two_threads()));
  std::size_t events = 0;
  for (const auto& e : json["traceEvents"]) {
    if (e["ph"] != "X") continue;
    ++events;
    EXPECT_TRUE(e.contains("ts") && e.contains("dur") && e.contains("tid"));
    if (e["name"] == "softmax") {
      EXPECT_DOUBLE_EQ(e["ts"], 0.4);
      EXPECT_DOUBLE_EQ(e["dur"], 0.2);
      EXPECT_EQ(e["args"]["item"], 1);
    }
  }
  EXPECT_EQ(events, 4u);
  EXPECT_EQ(json["otherData"]["problem"], two_threads().problem);
}

TEST(Timeline, SummariesSayTheSame) {
  const auto json = nlohmann::json::parse(summary_json(two_threads()));
  ASSERT_EQ(json["use"].size(), 2u);
  EXPECT_DOUBLE_EQ(json["use"][0]["idle"], 0.40);
  EXPECT_THAT(summary_text(two_threads()), HasSubstr("40.0 %"));
}

TEST(Timeline, PicturesEscapeTheirText) {
  for (const auto& text : {svg(two_threads()), html(two_threads())}) {
    EXPECT_THAT(text, HasSubstr("f32 &lt;&amp;&gt; &quot;quoted&quot;"));
    EXPECT_EQ(text.find("<&>"), std::string::npos);
  }
}

TEST(Timeline, SvgDrawsEveryEventOrDividesColumns) {
  auto timeline = two_threads();
  const auto few = svg(timeline);
  EXPECT_EQ(count(few, "item "), 4u);
  EXPECT_EQ(count(few, "<rect"), count(few, "/>\n") + count(few, "</rect>") - count(few, "<line"));
  timeline.duration_ns = 1000000;
  timeline.lanes[0].clear();
  for (std::int64_t i = 0; i < 100000; ++i)
    timeline.lanes[0].push_back({i * 10, i * 10 + 5 + i % 5, 0, i % 2 ? TraceStage::qk : TraceStage::pv});
  const auto many = svg(timeline);
  EXPECT_LT(many.size(), 2000000u) << "a picture does not grow with the events";
  EXPECT_THAT(many, HasSubstr("100001 events"));
}

}  // namespace
}  // namespace tessera::cli
