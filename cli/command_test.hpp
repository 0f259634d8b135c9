// SPDX-License-Identifier: Apache-2.0
// Runs the command as a user would, in a folder of its own, and makes files for it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "cli/safetensors.hpp"

namespace tessera::cli::test {

struct Outcome {
  int code = -1;
  std::string out, err;
};

inline std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A tensor of a file to be written.
struct Data {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

template <class T>
Data data_of(const char* dtype, std::vector<std::int64_t> shape, const std::vector<T>& values) {
  return {dtype, std::move(shape), std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T))};
}

inline Data normal_data(std::vector<std::int64_t> shape, unsigned seed) {
  std::int64_t count = 1;
  for (const auto n : shape) count *= n;
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (auto& x : values) x = normal(engine);
  return data_of("F32", std::move(shape), values);
}

using Tensors = std::map<std::string, Data>;

class Command : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("tessera_command_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Outcome run(const std::string& arguments, const std::string& environment = "") const {
    const auto out = folder_ / "stdout", err = folder_ / "stderr";
    const auto line = "cd '" + folder_.string() + "' && " + environment + " '" TESSERA_COMMAND "' " + arguments + " >'" +
                      out.string() + "' 2>'" + err.string() + "' </dev/null";
    const int status = std::system(line.c_str());
    Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents_of(out), contents_of(err)};
    std::filesystem::remove(out);
    std::filesystem::remove(err);
    return outcome;
  }

  nlohmann::json run_json(const std::string& arguments) const {
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << arguments << "\n" << outcome.err;
    auto json = nlohmann::json::parse(outcome.out, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << arguments << "\n" << outcome.out;
    return json;
  }

  std::string write(const std::string& name, const Tensors& tensors) const {
    std::vector<TensorToWrite> list;
    for (const auto& [tensor, data] : tensors)
      list.push_back({tensor, data.dtype, data.shape, data.bytes.data(), data.bytes.size()});
    EXPECT_TRUE(write_safetensors(folder_ / name, list, {}).ok());
    return name;
  }

  Tensors read(const std::string& name) const {
    const auto file = SafetensorsFile::open(folder_ / name);
    EXPECT_TRUE(file.ok()) << file.status().message();
    Tensors tensors;
    if (!file) return tensors;
    for (const auto& info : file->header().tensors) {
      const auto data = file->load(info);
      EXPECT_TRUE(data.ok());
      tensors[info.name] = {info.dtype, info.shape, std::string(reinterpret_cast<const char*>(data->data()), data->size())};
    }
    return tensors;
  }

  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()));
  }

  std::filesystem::path folder_;
};

inline std::vector<float> floats_of(const Data& data) {
  std::vector<float> values(data.bytes.size() / 4);
  std::copy(data.bytes.begin(), data.bytes.end(), reinterpret_cast<char*>(values.data()));
  return values;
}

}  // namespace tessera::cli::test
