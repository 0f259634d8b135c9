// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

namespace {

TEST(DeviceFile, BuiltInDevicesHaveASourceForEachNumber) {
  for (const std::string name : {"910B1", "910B2", "910B3", "910B4"}) {
    std::string error;
    const twin::Device* device = twin::find_device(name, &error);
    ASSERT_NE(device, nullptr) << error;
    EXPECT_EQ(device->name, name);
    for (const auto& [key, value] : device->numbers) EXPECT_FALSE(device->sources.at(key).empty()) << key;
  }
}
TEST(DeviceFile, PeaksAreThoseOfTheProductTable) {
  const std::pair<const char*, double> peaks[] = {{"910B1", 363.7}, {"910B2", 353.9}, {"910B3", 294.9}, {"910B4", 245.8}};
  for (const auto& [name, teraflops] : peaks) {
    std::string error;
    const twin::Device* d = twin::find_device(name, &error);
    ASSERT_NE(d, nullptr);
    EXPECT_NEAR(d->at("cube_cores") * d->at("cube_macs_per_cycle") * 2 * d->mhz() * 1e6 / 1e12, teraflops, 0.1);
  }
}
TEST(DeviceFile, AUsersDeviceStartsFromABuiltInOne) {
  const std::string path = testing::TempDir() + "mine.device";
  std::ofstream(path)
      << "[mine : 910B2]  # slower\nclock_mhz = 900 ; measured\nmove UbToGm = 1024:100 2048:200 limit 50 ; measured\n";
  std::string error;
  const twin::Device* device = twin::find_device(path, &error);
  ASSERT_NE(device, nullptr) << error;
  EXPECT_EQ(device->mhz(), 900);
  EXPECT_EQ(device->moves[int(twin::Path::UbToGm)].cycles(1536), 150);
  EXPECT_EQ(device->moves[int(twin::Path::UbToGm)].cycles(2048 + 500), 210);
}
TEST(DeviceFile, ErrorsNameTheLineAndTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"clock_mhz = 1 ; x", "line 1: a number before the first [device]"},
      {"[a]\nclock_mhz = 1", "line 2: 'clock_mhz' has no source ('; where from')"},
      {"[a]\nclock_mhz = fast ; x", "line 2: 'clock_mhz' needs a positive number, not 'fast'"},
      {"[a]\nclock = 1 ; x", "line 2: unknown name 'clock'"},
      {"[a : b]", "line 1: no device 'b' to start from"},
      {"[a]\ncost Add = 1 ; x", "line 2: 'cost Add': 16-bit cycles a unit is no number: ''"},
      {"[a]\nmove GmToMoon = 1:1 limit 1 ; x", "line 2: unknown path 'GmToMoon'"},
      {"[a]\nmove GmToUb = 2:1 1:1 limit 1 ; x", "line 2: 'move GmToUb': not a rising bytes:cycles point: '1:1'"},
      {"[a]\nclock_mhz 1 ; x", "line 2: 'clock_mhz 1': not 'name = value ; source'"},
      {"[a]\nclock_mhz = 1 ; x\n\nclock_mhz = 2 ; x", "line 4: 'clock_mhz' was given in line 2 already"},
      {"[a]\n[a]", "line 2: there is a device 'a' already"},
      {"# mine\n[a]\nclock_mhz = 1 ; x", "line 2: device 'a' lacks cube_cores"}};
  for (const auto& [text, expected] : cases) {
    std::map<std::string, twin::Device> devices;
    std::string error;
    EXPECT_FALSE(twin::parse_devices(text, &devices, &error));
    EXPECT_EQ(error, expected);
  }
}
TEST(DeviceFile, AUsersMistakeIsNamedWithFileLineAndKey) {
  const std::string path = testing::TempDir() + "wrong.device";
  const auto error_of = [&](const char* text) {
    std::ofstream(path) << text;
    std::string error;
    EXPECT_EQ(twin::find_device(path, &error), nullptr);
    return error;
  };
  const std::string row = error_of("[mine : 910B2]\ncost Exp = 2 + 30 ; measured\n");
  EXPECT_EQ(row.find(path + ": line 2: no instruction uses a cost row 'Exp'; the rows are Axpy, "), 0u) << row;
  EXPECT_NE(row.find(", Transcendental,"), std::string::npos) << row;
  EXPECT_EQ(error_of("[mine : 910B2]\nvector_cores = 2.5 ; measured\n"),
            path + ": line 2: 'vector_cores' needs a whole number, not '2.5'");
  EXPECT_EQ(error_of("[b : 910B2]\n[a : 910B2]\n"), path + ": defines several devices (a, b), and one is used: a file each");
  EXPECT_EQ(error_of("[910B2]\nclock_mhz = 1 ; measured\n"), path + ": line 1: there is a device '910B2' already");
  EXPECT_EQ(error_of("# nothing\n"), path + ": defines no new device");
}
TEST(DeviceFile, SurvivesAnyText) {
  const std::string pieces[] = {"[",     "]",   "a", ":",     "=",  ";",   "\n",    "cost ",     "move ", "GmToUb",
                                "limit", "1:2", "+", "1e300", "-1", "nan", "910B2", "clock_mhz", "#",     " "};
  std::mt19937 random(11);
  for (int round = 0; round < 5000; ++round) {
    std::string text = random() % 2 ? "[a]\n" : "";
    for (unsigned n = random() % 30; n > 0; --n) text += pieces[random() % std::size(pieces)];
    std::map<std::string, twin::Device> devices;
    std::string error;
    const bool parsed = twin::parse_devices(text, &devices, &error);
    EXPECT_EQ(parsed, error.empty());
  }
}

}  // namespace
