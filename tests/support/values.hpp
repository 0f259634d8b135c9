// SPDX-License-Identifier: Apache-2.0
// What tensors hold, by logical position: the same whatever the layout, the batch or the order of pages.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <vector>

namespace tessera::test {

/// An element of Q, K or V. `sequence` is a name, not a place: see Values::sequence_ids.
struct At {
  std::int64_t sequence, token, head, channel;
};
using Field = std::function<double(const At&)>;

/// A score: query `query` of query head `head` against key `key`.
struct ScoreAt {
  std::int64_t sequence, head, query, key;
};
using BiasField = std::function<double(const ScoreAt&)>;
using MaskField = std::function<bool(const ScoreAt&)>;

/// 64 well mixed bits of a position (splitmix64's finaliser, applied once for each coordinate).
inline std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
inline std::uint64_t hash(std::uint64_t seed, const At& at) noexcept {
  const auto u = [](std::int64_t x) { return static_cast<std::uint64_t>(x); };
  return mix(mix(mix(seed ^ (u(at.sequence) << 40)) ^ u(at.token)) ^ (u(at.head) << 20) ^ u(at.channel));
}
inline double unit(std::uint64_t bits) noexcept { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }  // (0, 1)
inline double normal_of(std::uint64_t bits) noexcept {
  return std::sqrt(-2 * std::log(unit(bits))) * std::cos(2 * std::numbers::pi * unit(mix(bits)));
}

inline Field constant(double x) {
  return [x](const At&) { return x; };
}
inline Field token_index() {
  return [](const At& at) { return static_cast<double>(at.token); };
}
inline Field uniform(std::uint64_t seed, double low = -1, double high = 1) {
  return [=](const At& at) { return low + (high - low) * unit(hash(seed, at)); };
}
inline Field normal(std::uint64_t seed, double sigma = 1) {
  return [=](const At& at) { return sigma * normal_of(hash(seed, at)); };
}
/// Nearly normal and cheap: the sum of four uniform numbers of 16 bits.
inline Field bell(std::uint64_t seed) {
  return [=](const At& at) {
    const std::uint64_t bits = hash(seed, at);
    const auto sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    return (static_cast<double>(sum) - 2 * 65535.0) * (1.7320508 / 65536);
  };
}
/// Student's t with two degrees of freedom, cut at 50: one value in a hundred lies beyond 10.
inline Field heavy_tailed(std::uint64_t seed) {
  return [=](const At& at) {
    const double u = unit(hash(seed, at));
    return std::fmin(std::fmax((2 * u - 1) / std::sqrt(2 * u * (1 - u)), -50), 50);
  };
}

struct Values {
  Field q = constant(0);
  Field k = constant(0);
  Field v = token_index();
  BiasField bias = [](const ScoreAt&) { return 0.0; };
  MaskField mask = [](const ScoreAt&) { return true; };
  std::vector<float> alibi_slopes;         // [num_q_heads]; default 2^(-8 (h + 1) / num_q_heads)
  std::vector<float> sink;                 // [num_q_heads]; default 0.5 - h / 4
  std::vector<std::int64_t> sequence_ids;  // name of each batch entry; default 0, 1, 2 ...

  std::int64_t id(std::int64_t b) const { return sequence_ids.empty() ? b : sequence_ids[static_cast<std::size_t>(b)]; }
};

enum class Distribution { bell, normal, uniform, heavy_tailed };

/// Random Q, K, V, a bias with some -inf entries and a mask that lets three of four keys through.
inline Values random_values(std::uint64_t seed, Distribution distribution = Distribution::bell) {
  const auto field = [&](std::uint64_t tensor) {
    const std::uint64_t s = mix(seed * 4 + tensor);
    switch (distribution) {
      case Distribution::normal:
        return normal(s);
      case Distribution::uniform:
        return uniform(s);
      case Distribution::heavy_tailed:
        return heavy_tailed(s);
      case Distribution::bell:
        break;
    }
    return bell(s);
  };
  const auto score_hash = [seed](std::uint64_t salt, const ScoreAt& at) {
    return hash(mix(seed + salt), {at.sequence, at.query, at.head, at.key});
  };
  Values values;
  values.q = field(0);
  values.k = field(1);
  values.v = field(2);
  values.bias = [score_hash](const ScoreAt& at) {
    const std::uint64_t bits = score_hash(101, at);
    return bits % 8 == 0 ? -INFINITY : normal_of(bits);
  };
  values.mask = [score_hash](const ScoreAt& at) { return score_hash(202, at) % 4 != 0; };
  return values;
}

}  // namespace tessera::test
