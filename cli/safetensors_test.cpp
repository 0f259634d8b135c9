// SPDX-License-Identifier: Apache-2.0
#include "cli/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <numeric>

#include "bench/available_memory.hpp"
#include "cli/files.hpp"
#include "cli/temporary_file.hpp"

namespace tessera::cli {
namespace {

using testing::HasSubstr;

std::string file_of(std::string_view header, std::size_t data_bytes, std::uint64_t length) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(length >> (8 * i));
  return file.append(header).append(data_bytes, 'x');
}
std::string file_of(std::string_view header, std::size_t data_bytes) { return file_of(header, data_bytes, header.size()); }

Result<SafetensorsHeader> parse(std::string_view file) { return parse_safetensors(std::as_bytes(std::span(file))); }

std::string entry(std::string_view name, std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return "\"" + std::string(name) + "\":{\"dtype\":\"" + std::string(dtype) + "\",\"shape\":" + std::string(shape) +
         ",\"data_offsets\":" + std::string(offsets) + "}";
}

TEST(Safetensors, ReadsNamesShapesAndMetadata) {
  const auto header = parse(file_of("{\"__metadata__\":{\"made\":\"by hand\"}," + entry("q", "F32", "[2,3]", "[0,24]") +
                                        "," + entry("k", "BF16", "[5]", "[24,34]") + "}   ",
                                    34));
  ASSERT_TRUE(header.ok()) << header.status().message();
  EXPECT_EQ(header->metadata.at("made"), "by hand");
  ASSERT_EQ(header->tensors.size(), 2u);
  EXPECT_EQ(header->find("q")->shape_text(), "[2, 3]");
  EXPECT_EQ(header->find("k")->elements(), 5);
  EXPECT_EQ(header->find("v"), nullptr);
}

TEST(Safetensors, TakesScalarsEmptyTensorsAndUnknownDtypes) {
  EXPECT_TRUE(parse(file_of("{}", 0)).ok());
  EXPECT_TRUE(parse(file_of("{" + entry("a", "F32", "[]", "[0,4]") + "," +
                                entry("b", "I64", "[0,9223372036854775807,7]", "[4,4]") + "}",
                            4))
                  .ok());
  EXPECT_TRUE(parse(file_of("{" + entry("a", "Q4_9", "[3]", "[0,5]") + "}", 5)).ok());
}

struct Malformed {
  const char* what;
  std::string file;
  const char* message;
};

std::vector<Malformed> malformed_files() {
  const auto one = [](std::string_view dtype, std::string_view shape, std::string_view offsets, std::size_t bytes) {
    return file_of("{" + entry("q", dtype, shape, offsets) + "}", bytes);
  };
  return {
      {"empty", "", "too short"},
      {"seven bytes", "1234567", "too short"},
      {"length over the file", file_of("{}", 0, 3), "the file has 2"},
      {"length of 2^64 - 1", file_of("{}", 0, ~0ull), "over the limit"},
      {"length that wraps when 8 is added", file_of("{}", 0, ~0ull - 7), "over the limit"},
      {"length over the cap", file_of("{}", 0, kMaxHeaderBytes + 1), "over the limit"},
      {"length zero", file_of("", 4), "does not begin with '{'"},
      {"leading space", file_of(" {}", 0), "does not begin with '{'"},
      {"an array", file_of("[]", 0), "does not begin with '{'"},
      {"not JSON", file_of("{\"q\"", 0), "not JSON"},
      {"two objects", file_of("{}{}", 0), "not JSON"},
      {"deep nesting", file_of("{\"q\":" + std::string(100000, '['), 0), "an array where none may stand"},
      {"deep objects", file_of("{\"q\":{\"shape\":{\"a\":1}}}", 0), "an object where none may stand"},
      {"bad UTF-8", file_of("{\"\xff\":{}}", 0), "not JSON"},
      {"empty tensor", file_of("{\"q\":{}}", 0), "are required"},
      {"a number for a tensor", file_of("{\"q\":1}", 0), "where none may stand"},
      {"null for a tensor", file_of("{\"q\":null}", 0), "a null"},
      {"no offsets", file_of("{\"q\":{\"dtype\":\"F32\",\"shape\":[0]}}", 0), "are required"},
      {"dtype twice", file_of("{\"q\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", 0), "dtype appears twice"},
      {"unknown key", file_of("{\"q\":{\"strides\":[1]}}", 0), "unknown key"},
      {"a number as dtype", file_of("{\"q\":{\"dtype\":3}}", 0), "where none may stand"},
      {"a string as shape", file_of("{\"q\":{\"shape\":\"3\"}}", 0), "where none may stand"},
      {"no name", file_of("{" + entry("", "F32", "[1]", "[0,4]") + "}", 4), "without a name"},
      {"the same name twice",
       file_of("{" + entry("q", "F32", "[1]", "[0,4]") + "," + entry("q", "F32", "[1]", "[4,8]") + "}", 8), "appears twice"},
      {"metadata twice", file_of("{\"__metadata__\":{},\"__metadata__\":{}}", 0), "appears twice"},
      {"metadata key twice", file_of("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}", 0), "appears twice"},
      {"metadata of numbers", file_of("{\"__metadata__\":{\"a\":1}}", 0), "where none may stand"},
      {"metadata nested", file_of("{\"__metadata__\":{\"a\":{}}}", 0), "where none may stand"},
      {"one offset", one("F32", "[1]", "[4]", 4), "two numbers"},
      {"three offsets", one("F32", "[1]", "[0,4,4]", 4), "two numbers"},
      {"negative offset", one("F32", "[1]", "[-4,0]", 4), "negative"},
      {"fractional offset", one("F32", "[1]", "[0,4.0]", 4), "4.0"},
      {"offset over 2^64", one("F32", "[1]", "[0,18446744073709551616]", 4),
       "18446744073709551616\", which is no whole number"},
      {"end before begin", one("F32", "[1]", "[4,0]", 4), "not inside"},
      {"end past the data", one("F32", "[2]", "[0,8]", 4), "not inside"},
      {"end of 2^64 - 1", one("F32", "[1]", "[0,18446744073709551615]", 4), "not inside"},
      {"negative size", one("F32", "[-1]", "[0,4]", 4), "negative"},
      {"size over 2^63", one("F32", "[18446744073709551615]", "[0,4]", 4), "over 2^63"},
      {"elements overflow", one("F32", "[4294967296,4294967296]", "[0,0]", 0), "overflows"},
      {"unknown dtype, elements overflow", one("X", "[4294967296,4294967296]", "[0,0]", 0), "overflows"},
      {"bytes overflow", one("F64", "[2305843009213693952]", "[0,0]", 0), "does not fill"},
      {"too many axes", one("F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]", 4), "axes"},
      {"too few bytes", one("F32", "[2]", "[0,4]", 4), "does not fill"},
      {"half a byte", one("F4", "[3]", "[0,1]", 1), "does not fill"},
      {"bytes behind the last", one("F32", "[1]", "[0,4]", 5), "cover 4 bytes"},
      {"a hole", file_of("{" + entry("a", "F32", "[1]", "[0,4]") + "," + entry("b", "F32", "[1]", "[8,12]") + "}", 12),
       "hole"},
      {"a hole at the begin", one("F32", "[1]", "[4,8]", 8), "hole"},
      {"overlap", file_of("{" + entry("a", "F32", "[2]", "[0,8]") + "," + entry("b", "F32", "[1]", "[4,8]") + "}", 8),
       "overlap"},
      {"the same bytes twice",
       file_of("{" + entry("a", "F32", "[1]", "[0,4]") + "," + entry("b", "F32", "[1]", "[0,4]") + "}", 4), "overlap"},
  };
}

TEST(Safetensors, RefusesMalformedFilesAndSaysWhy) {
  for (const auto& [what, file, message] : malformed_files()) {
    const auto header = parse(file);
    ASSERT_FALSE(header.ok()) << what;
    EXPECT_EQ(header.status().code(), StatusCode::invalid) << what;
    EXPECT_THAT(header.status().message(), HasSubstr(message)) << what;
  }
}

TEST(Safetensors, RefusesEveryTruncation) {
  const auto whole = file_of("{" + entry("q", "F32", "[2]", "[0,8]") + "}", 8);
  ASSERT_TRUE(parse(whole).ok());
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(parse(std::string_view(whole).substr(0, n)).ok()) << n;
}

TEST(Safetensors, SurvivesEveryChangedByteOfAHeader) {
  const auto whole = file_of("{" + entry("q", "F32", "[2]", "[0,8]") + "}", 8);
  for (std::size_t i = 0; i < whole.size() - 8; ++i) {
    for (int c = 0; c < 256; ++c) {
      auto changed = whole;
      changed[i] = static_cast<char>(c);
      const auto header = parse(changed);
      if (!header) continue;
      for (const auto& tensor : header->tensors) EXPECT_LE(tensor.end, 8u);
    }
  }
}

TEST(Safetensors, ShowsHostileNamesWithoutControlCharacters) {
  const auto header = parse(file_of("{\"\\u001b[2J" + std::string(500, 'a') + "\":1}", 0));
  ASSERT_FALSE(header.ok());
  EXPECT_EQ(header.status().message().find('\x1b'), std::string::npos);
  EXPECT_LT(header.status().message().size(), 200u);
}

class SafetensorsFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("tessera_safetensors_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()));
  }
  std::filesystem::path folder_;
};

TEST_F(SafetensorsFiles, RoundTrip) {
  std::vector<std::uint16_t> halves(3);
  std::vector<float> floats(4);
  std::iota(halves.begin(), halves.end(), 7);
  std::iota(floats.begin(), floats.end(), 0.5f);
  const TensorToWrite tensors[] = {
      {"o", "BF16", {3}, halves.data(), 6}, {"lse", "F32", {2, 2}, floats.data(), 16}, {"none", "F32", {0, 4}, nullptr, 0}};
  const auto path = folder_ / "a.safetensors";
  ASSERT_TRUE(write_safetensors(path, tensors, {{"format", "test"}}).ok());
  ASSERT_TRUE(write_safetensors(path, tensors, {{"format", "test"}}).ok()) << "an existing file is replaced";
  EXPECT_EQ(files(), 1u);

  const auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->header().metadata.at("format"), "test");
  EXPECT_EQ(file->header().find("lse")->begin % 4, 0u) << "wide elements stand first";
  const auto o = file->load(*file->header().find("o"));
  const auto lse = file->load(*file->header().find("lse"));
  ASSERT_TRUE(o.ok() && lse.ok() && file->load(*file->header().find("none")).ok());
  EXPECT_TRUE(std::equal(halves.begin(), halves.end(), o->as<std::uint16_t>()));
  EXPECT_TRUE(std::equal(floats.begin(), floats.end(), lse->as<float>()));
}

TEST_F(SafetensorsFiles, NamesThePathInErrors) {
  EXPECT_THAT(SafetensorsFile::open(folder_ / "none").status().message(), HasSubstr((folder_ / "none").string()));
  EXPECT_THAT(SafetensorsFile::open(folder_).status().message(), HasSubstr("not a regular file"));
  EXPECT_THAT(SafetensorsFile::open("/dev/zero").status().message(), HasSubstr("not a regular file"));
  std::ofstream(folder_ / "short") << "abc";
  EXPECT_THAT(SafetensorsFile::open(folder_ / "short").status().message(), HasSubstr("too short"));
}

TEST_F(SafetensorsFiles, AFileThatShrinksIsAnError) {
  const auto path = folder_ / "shrinks";
  std::ofstream(path) << file_of("{" + entry("q", "F32", "[2]", "[0,8]") + "}", 8);
  const auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file.ok());
  std::filesystem::resize_file(path, 20);
  EXPECT_THAT(file->load(*file->header().find("q")).status().message(), HasSubstr("shorter"));
}

TEST_F(SafetensorsFiles, WritesNothingWhereItMayNot) {
  EXPECT_FALSE(write_safetensors(folder_, {}, {}).ok());
  EXPECT_THAT(write_safetensors("/dev/null", {}, {}).message(), HasSubstr("not a regular file"));
  EXPECT_FALSE(write_safetensors(folder_ / "no" / "folder", {}, {}).ok());
  EXPECT_EQ(files(), 0u);
}

TEST_F(SafetensorsFiles, SaysBeforehandWhetherAFileCanBeWritten) {
  std::ofstream(folder_ / "old") << "old";
  EXPECT_TRUE(check_writable(folder_ / "new").ok());
  EXPECT_TRUE(check_writable(folder_ / "old").ok());
  EXPECT_FALSE(check_writable(folder_ / "no" / "folder").ok());
  std::filesystem::create_symlink("/dev/null", folder_ / "device");
  for (const auto& path : {folder_, folder_ / "device"}) {
    EXPECT_THAT(check_writable(path).message(), HasSubstr(path.string() + ": not a regular file"));
    EXPECT_THAT(write_file(path, "x").message(), HasSubstr(path.string() + ": not a regular file"));
  }
  std::filesystem::create_symlink("old", folder_ / "link");
  EXPECT_TRUE(write_file(folder_ / "link", "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(std::filesystem::file_size(folder_ / "old"), 3u);
  EXPECT_EQ(files(), 3u);
}

// A child holds an unfinished file when the signal comes. It dies of that signal, the file is gone, the old one is whole.
TEST_F(SafetensorsFiles, ASignalLeavesNoTemporaryFile) {
  std::ofstream(folder_ / "out") << "old";
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = ::fork();
    if (child == 0) {
      const TemporaryFile file((folder_ / "out").string());
      if (files() == 2) ::raise(signal);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << "signal " << signal << ", status " << status;
    EXPECT_EQ(files(), 1u) << "signal " << signal;
    EXPECT_EQ(std::filesystem::file_size(folder_ / "out"), 3u);
  }
}

// One that is ignored, as under nohup, stays so; afterwards signals do what they did before.
TEST_F(SafetensorsFiles, SignalsAreAsBeforeAfterwards) {
  ::signal(SIGHUP, SIG_IGN);
  {
    TemporaryFile file((folder_ / "out").string());
    ::raise(SIGHUP);
    EXPECT_EQ(files(), 1u);
    EXPECT_TRUE(file.keep());
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out"));
  EXPECT_EQ(::signal(SIGHUP, SIG_DFL), SIG_IGN);
  EXPECT_EQ(::signal(SIGINT, SIG_DFL), SIG_DFL);
}

TEST(AlignedBuffer, IsNoMoreThanTheMachineHas) {
  const auto buffer = AlignedBuffer::make(bench::available_memory() + (std::size_t{1} << 30), "the answer");
  ASSERT_EQ(buffer.status().code(), StatusCode::out_of_memory);
  EXPECT_THAT(buffer.status().message(), testing::HasSubstr("the answer needs "));
  EXPECT_THAT(buffer.status().message(), testing::HasSubstr(" are available"));
}

}  // namespace
}  // namespace tessera::cli
