// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/quota.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/cpu/machine.hpp"

namespace tessera::runtime {
namespace {

namespace fs = std::filesystem;

class Quota : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_); }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  int quota() const { return cpu_quota(root_ / "membership", root_); }

  const fs::path root_ = fs::temp_directory_path() / ("tessera_quota_" + std::to_string(::getpid()));
};

TEST_F(Quota, OfVersionTwo) {
  write("membership", "0::/\n");
  EXPECT_EQ(quota(), 0) << "no file is no limit";
  for (const auto& [text, cores] : {std::pair{"max 100000\n", 0},
                                    {"400000 100000\n", 4},
                                    {"150000 100000\n", 2},
                                    {"1000 100000\n", 1},
                                    {"9223372036854775807 1\n", 1 << 20}}) {
    write("cpu.max", text);
    EXPECT_EQ(quota(), cores) << text;
  }
}

TEST_F(Quota, IsTheLeastOfAllGroupsAbove) {
  write("membership", "0::/pods/one\n");
  write("pods/one/cpu.max", "800000 100000\n");
  EXPECT_EQ(quota(), 8);
  write("pods/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3);
  write("cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), 3);
}

TEST_F(Quota, OfAContainerThatSeesItsOwnGroupAsTheRoot) {
  write("membership", "0::/../../somewhere/else\n");
  write("cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2);
}

TEST_F(Quota, OfVersionOne) {
  write("membership", "12:memory:/a\n3:cpu,cpuacct:/a\n2:cpuset:/\n");
  write("cpu/a/cpu.cfs_quota_us", "250000\n");
  write("cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 3);
  write("cpu/a/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota(), 0);
}

TEST_F(Quota, OfFilesThatSayNothing) {
  EXPECT_EQ(quota(), 0);
  for (const char* text : {"", "\n", ":", "0:\n", "0::", "nonsense\n"}) {
    write("membership", text);
    write("cpu.max", "many few\n");
    EXPECT_EQ(quota(), 0) << text;
    write("cpu.max", "100000");
    EXPECT_EQ(quota(), 0) << text;
  }
}

TEST(Machine, UsesNoMoreCoresThanItsQuota) {
  const int quota = cpu_quota();
  EXPECT_GE(detect_machine().cores, 1);
  if (quota > 0) {
    EXPECT_LE(detect_machine().cores, quota);
  }
}

}  // namespace
}  // namespace tessera::runtime
