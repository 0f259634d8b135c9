#include "tessera/attention.hpp"
#include <cstdio>
#include <numeric>
#include <vector>

int main() {  // 8 query heads over 2 kv heads, one query against a thousand keys
  const auto problem = tessera::Problem::parse("f32 hq8 hkv2 d64 sq1 skv1000");
  std::vector<float> q(8 * 64), k(1000 * 2 * 64), v(1000 * 2 * 64), o(8 * 64), lse(8);
  std::iota(v.begin(), v.end(), 0.0f);  // q is 0, so o is the mean of V over all keys
  const auto tensors = tessera::packed_tensors(*problem, q.data(), k.data(), v.data(), o.data(), lse.data());
  if (const auto status = tessera::attention(*problem, tensors); !status) return std::puts(status.message().c_str()), 1;
  std::printf("o[0] = %.1f, lse[0] = %.4f (ln 1000 = 6.9078)\n", o[0], lse[0]);
}
