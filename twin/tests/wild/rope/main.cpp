// SPDX-License-Identifier: Apache-2.0
#include "../host.h"
#include "kernel_operator.h"
#include "rope_host.h"

template <class T>
double run(rotary::Type type, bool neox) {
  const int heads = 3, dim = 64, tokens = 5, places = 16;
  Values values;
  std::vector<T> x(tokens * heads * dim), cache(places * dim);
  for (T& v : x) v = T(values.next());
  for (int p = 0; p < places; ++p) {
    for (int i = 0; i < dim / 2; ++i) {
      const double angle = p * std::pow(10000.0, -2.0 * i / dim);
      cache[p * dim + i] = T(std::cos(angle));
      cache[p * dim + dim / 2 + i] = T(std::sin(angle));
    }
  }
  const std::vector<int64_t> positions = {3, 0, 15, 7, 4};
  DeviceArray<T> dx(x), dc(cache), dy(x.size());
  DeviceArray<int64_t> dp(positions);
  rotary::rope_impl(type, neox, nullptr, (int64_t*)dp.data, dx.data, dc.data, dy.data, heads, dim, tokens, 4);
  CHECK_ACL(aclrtSynchronizeDevice());
  const std::vector<T> y = dy.read();
  double worst = 0;
  for (int t = 0; t < tokens; ++t) {
    const T* trig = &cache[positions[t] * dim];
    for (int h = 0; h < heads; ++h) {
      for (int i = 0; i < dim / 2; ++i) {
        const int base = (t * heads + h) * dim, a = base + (neox ? i : 2 * i), b = base + (neox ? i + dim / 2 : 2 * i + 1);
        const double c = float(trig[i]), s = float(trig[dim / 2 + i]), p = float(x[a]), q = float(x[b]);
        worst = larger(worst, std::fabs(p * c - q * s - float(y[a])));
        worst = larger(worst, std::fabs(q * c + p * s - float(y[b])));
      }
    }
  }
  return worst;
}

int main() {
  const double f16 = std::max(run<half>(rotary::Type::FP16, true), run<half>(rotary::Type::FP16, false));
  const double bf16 = std::max(run<bfloat16_t>(rotary::Type::BF16, true), run<bfloat16_t>(rotary::Type::BF16, false));
  const double f32 = std::max(run<float>(rotary::Type::FP32, true), run<float>(rotary::Type::FP32, false));
  return verdict("rope half", f16, 2e-3) | verdict("rope bfloat16", bf16, 8e-3) | verdict("rope float", f32, 1e-6);
}
