// SPDX-License-Identifier: Apache-2.0
// What the twin's tests share: device buffers, and launches that return what was found.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "acl/acl.h"
#include "kernel_operator.h"
#include "twin/report.hpp"

namespace twin_test {

template <class T>
class Device {
 public:
  explicit Device(std::size_t n) : n_(n) {
    void* p = nullptr;
    EXPECT_EQ(aclrtMalloc(&p, n * sizeof(T), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    data_ = static_cast<T*>(p);
  }
  explicit Device(const std::vector<T>& values) : Device(values.size()) { set(values); }
  void set(const std::vector<T>& values) {
    EXPECT_EQ(aclrtMemcpy(data_, n_ * sizeof(T), values.data(), n_ * sizeof(T), ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  }
  ~Device() { aclrtFree(data_); }
  Device(const Device&) = delete;
  std::vector<T> values() const {
    std::vector<T> out(n_);
    EXPECT_EQ(aclrtMemcpy(out.data(), n_ * sizeof(T), data_, n_ * sizeof(T), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return out;
  }
  operator GM_ADDR() const { return reinterpret_cast<GM_ADDR>(data_); }  // NOLINT: passed to kernels

 private:
  T* data_ = nullptr;
  std::size_t n_;
};

// Where a test of random programs begins: at 1, or elsewhere with --gtest_random_seed, for longer hunts.
inline unsigned first_seed() { return 1 + 10000u * static_cast<unsigned>(testing::GTEST_FLAG(random_seed)); }

inline std::string text(const std::vector<twin::Finding>& findings) {
  std::string out;
  for (const auto& f : findings) out += to_text(f);
  return out;
}

// The findings since the last look; none, or the test says which.
#define EXPECT_SILENT()                                   \
  do {                                                    \
    const auto found = twin::take_findings();             \
    EXPECT_TRUE(found.empty()) << twin_test::text(found); \
  } while (false)

inline std::string at(int line) { return ":" + std::to_string(line); }
inline bool ends_with(const std::string& s, const std::string& end) {
  return s.size() >= end.size() && s.compare(s.size() - end.size(), end.size(), end) == 0;
}

inline const twin::Finding* find(const std::vector<twin::Finding>& all, twin::Kind kind) {
  for (const auto& f : all) {
    if (f.kind == kind) return &f;
  }
  return nullptr;
}

// The last run's first finding of this kind says `part`.
inline void expect_found(twin::Kind kind, const std::string& part) {
  const auto all = twin::take_findings();
  const twin::Finding* const f = find(all, kind);
  ASSERT_NE(f, nullptr) << part << "\n" << text(all);
  EXPECT_NE(f->what.find(part), std::string::npos) << f->what << ", not " << part;
}

}  // namespace twin_test

#define RUN(kernel, blocks) ::twin::launcher<std::remove_reference_t<decltype(kernel)>, kernel>(blocks)
