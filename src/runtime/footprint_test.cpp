// SPDX-License-Identifier: Apache-2.0
#include "runtime/footprint.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tessera::runtime {
namespace {

constexpr std::int64_t kSpace = 4096;
alignas(64) const unsigned char kMemory[kSpace] = {};

/// How often each byte of kMemory belongs to a row.
std::vector<int> count_bytes(const Footprint& f) {
  std::vector<int> count(kSpace, 0);
  std::int64_t size[4] = {1, 1, 1, 1}, stride[4] = {};
  for (std::size_t i = 0; i < f.num_axes; ++i) size[i] = f.axes[i].size, stride[i] = f.axes[i].stride;
  const std::int64_t begin = static_cast<const unsigned char*>(f.data) - kMemory;
  for (std::int64_t a = 0; a < size[0]; ++a) {
    for (std::int64_t b = 0; b < size[1]; ++b) {
      for (std::int64_t c = 0; c < size[2]; ++c) {
        for (std::int64_t d = 0; d < size[3]; ++d) {
          const std::int64_t row = begin + a * stride[0] + b * stride[1] + c * stride[2] + d * stride[3];
          for (std::int64_t i = 0; i < f.row_bytes; ++i) ++count[static_cast<std::size_t>(row + i)];
        }
      }
    }
  }
  return count;
}

Footprint random_footprint(std::mt19937& rng) {
  const auto in = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(rng);
  };
  std::vector<Axis> axes;
  for (std::int64_t n = in(0, 4); n > 0; --n) axes.push_back({"", in(1, 5), in(0, 4) == 0 ? 0 : in(1, 200)});
  return Footprint(kMemory + in(0, 400), axes, in(1, 12), 1);
}

std::string text(const Footprint& f) {
  std::string s = "at " + std::to_string(static_cast<const unsigned char*>(f.data) - kMemory) + ", rows of " +
                  std::to_string(f.row_bytes);
  for (std::size_t i = 0; i < f.num_axes; ++i)
    s += ", " + std::to_string(f.axes[i].size) + " by " + std::to_string(f.axes[i].stride);
  return s;
}

TEST(Footprint, OverlapIsThatOfTheBytes) {
  std::mt19937 rng(20);
  int met = 0, apart = 0;
  for (int i = 0; i < 20000; ++i) {
    const Footprint a = random_footprint(rng), b = random_footprint(rng);
    const std::vector<int> in_a = count_bytes(a), in_b = count_bytes(b);
    bool both = false, twice = false;
    for (std::size_t x = 0; x < in_a.size(); ++x) both |= in_a[x] > 0 && in_b[x] > 0, twice |= in_a[x] > 1;
    ASSERT_EQ(overlap(a, b), both) << text(a) << " and " << text(b);
    ASSERT_EQ(overlap(b, a), both) << text(b) << " and " << text(a);
    ASSERT_EQ(overlaps_itself(a), twice) << text(a);
    met += both, apart += !both;
  }
  EXPECT_GT(met, 1000);
  EXPECT_GT(apart, 1000);
}

TEST(Footprint, LargeInterleavedTensorsAreDecided) {
  // [sequence, token, q k v o, head, dim] of floats, 2^40 bytes: four tensors in one.
  const std::int64_t dim = 128, heads = 32, tokens = 1 << 20, batch = 16;
  const Axis axes[] = {{"", batch, tokens * 4 * heads * dim}, {"", tokens, 4 * heads * dim}, {"", heads, dim}};
  const auto* base = reinterpret_cast<const float*>(std::uintptr_t{1} << 44);
  const Footprint q(base, axes, dim, 4), o(base + 3 * heads * dim, axes, dim, 4);
  EXPECT_FALSE(overlap(q, o));
  EXPECT_FALSE(overlaps_itself(o));
  EXPECT_TRUE(overlap(q, Footprint(base + heads * dim - 1, axes, dim, 4)));
  EXPECT_TRUE(overlap(o, Footprint(base + 4 * heads * dim * tokens * batch - 1, 4)));
  EXPECT_FALSE(overlap(o, Footprint(base + 4 * heads * dim * tokens * batch, 4)));
}

TEST(Footprint, NothingMeetsNothing) {
  const Axis none[] = {{"", 0, 8}};
  EXPECT_FALSE(overlap(Footprint(kMemory, none, 8, 1), Footprint(kMemory, 8)));
  EXPECT_FALSE(overlap(Footprint(nullptr, 8), Footprint(nullptr, 8)));
  EXPECT_FALSE(overlap(Footprint(kMemory, 0), Footprint(kMemory, 8)));
}

TEST(Footprint, BothNamesAreInTheError) {
  const NamedFootprint written[] = {{"o", Footprint(kMemory, 64)}, {"lse", Footprint(kMemory + 60, 8)}};
  const NamedFootprint read[] = {{"q", Footprint(kMemory + 64, 16)}};
  EXPECT_EQ(check_apart({written, 1}, read).message(), "");
  EXPECT_EQ(check_apart(written, {}).message(), "o: shares memory with lse");
  EXPECT_EQ(check_apart(written, read).message(), "o: shares memory with lse");
  EXPECT_EQ(check_apart({written + 1, 1}, read).message(), "lse: shares memory with q");
}

}  // namespace
}  // namespace tessera::runtime
