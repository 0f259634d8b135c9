// SPDX-License-Identifier: Apache-2.0
// Tests of the library's functions on rows: all inputs lie one after another in one tensor, so do the results.
#pragma once

#include <cmath>
#include <cstring>
#include <random>

#include "kernels.hpp"
#include "support.hpp"

namespace twin_test {

// The first result: rows of `columns` elements, of which `used` are stored. `more` elements of other results follow it.
struct Rows {
  std::uint32_t rows, columns, used, more;
};

template <class T>
struct InRows {
  AscendC::LocalTensor<T> x, y;  // the inputs; the results, −7 before
  AscendC::LocalTensor<std::uint8_t> work;
  Rows shape;
};
template <class T>
using RowsBody = void (*)(InRows<T>&);

template <class T>
void rows_kernel(GM_ADDR in, GM_ADDR out, int inputs, Rows shape, RowsBody<T> body, bool stands) {
  using namespace AscendC;
  const int whole = static_cast<int>(shape.rows * shape.columns), all = whole + static_cast<int>(shape.more);
  InRows<T> t{ub<T>(0, inputs), ub<T>(65536, all), ub<std::uint8_t>(131072, 32768), shape};
  DataCopy(t.x, gm<T>(in, inputs), inputs);
  Duplicate(t.y, T(-7), all);
  order<HardEvent::MTE2_V>();
  PipeBarrier<PIPE_V>();
  {
    const Standing standing(stands);
    body(t);
  }
  order<HardEvent::V_MTE3>();
  const auto bytes = static_cast<std::uint32_t>(shape.used * sizeof(T));
  const std::uint32_t gap = (static_cast<std::uint32_t>(shape.columns * sizeof(T)) - (bytes + 31) / 32 * 32) / 32;
  DataCopyPad(gm<T>(out, static_cast<int>(shape.rows * shape.used)), t.y,
              DataCopyExtParams(static_cast<std::uint16_t>(shape.rows), bytes, gap, 0, 0));
  if (shape.more) DataCopy(gm<T>(out + shape.rows * bytes, shape.more), t.y[whole], shape.more);
}
template <class T>
std::vector<T> run_rows(const std::vector<T>& in, const Rows& shape, RowsBody<T> body) {
  Device<T> x(in), y(shape.rows * shape.used + shape.more), late(shape.rows * shape.used + shape.more);
  RUN(rows_kernel<T>, 1).auto_sync(false)(x, y, static_cast<int>(in.size()), shape, body, false);
  EXPECT_SILENT();
  RUN(rows_kernel<T>, 1).auto_sync(false)(x, late, static_cast<int>(in.size()), shape, body, true);
  EXPECT_SILENT();
  const std::vector<T> values = y.values(), late_values = late.values();
  EXPECT_EQ(std::memcmp(values.data(), late_values.data(), values.size() * sizeof(T)), 0) << "on a pipe that stands";
  return values;
}

template <class T>
std::vector<T> random_values(unsigned seed, int n, double low, double high) {
  std::mt19937 random(seed);
  std::vector<T> v(n);
  for (T& e : v) e = T(static_cast<float>(low + (high - low) * (random() % 1000) / 1000));
  return v;
}

// Equal but for the last places of T.
template <class T>
void expect_close(T got, double want, const char* what, std::size_t k) {
  const double step = sizeof(T) == 2 ? std::ldexp(1.0, -10) : std::ldexp(1.0, -21);
  EXPECT_NEAR(static_cast<double>(got), want, step * std::fabs(want) + (sizeof(T) == 2 ? std::ldexp(1.0, -24) : 1e-7))
      << what << ", element " << k;
}

}  // namespace twin_test
