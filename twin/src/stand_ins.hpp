// SPDX-License-Identifier: Apache-2.0
// What stands in for a value that the timing-only mode has skipped. The first run of a launch gets 1; later ones get values
// at which a comparison may turn: common ones, the kernel's own numeric literals and the scalars that it was given, what
// lies beside each of those, and the middle between two neighbours.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "twin/types.hpp"

namespace twin {

struct Launched;

struct StandIn {
  double value = 1;
  int step = 0;  // so many of the type's numbers above it
};
// As an element of the type; the value that it is then.
double write_stand_in(const StandIn& stand_in, DType dtype, void* value, std::uint32_t size_bytes);
std::string stand_in_text(double value);

// In the order in which they are tried, for floating-point numbers and for integers.
struct StandIns {
  explicit StandIns(const std::vector<double>& thresholds);
  const std::vector<StandIn>& of(DType dtype) const;
  std::vector<StandIn> reals, integers;
};
// The program's literals and the scalars of the launch that runs, those of device code first, without repetitions.
std::vector<double> thresholds_of(const Launched& launched);

// Which read gets which value in a later run. One object serves all runs: it knows what each line was given so far.
class Rerun {
 public:
  enum class Way : std::uint8_t {
    Same,   // all reads one value
    ACore,  // each core that reads a line another one
    ARead   // each read of a line another one
  };
  // Where the last value went, and in which run: in memory that survives a run which ends badly.
  struct Last {
    Way way = Way::Same;
    std::size_t shift = 0;
    std::uint32_t site = 0;
    std::uint8_t state = 0;
    double value = 1;
  };

  Rerun(const Launched& first, Last* last);
  // What comes next, until each line that reads has been given every value: false then.
  bool next();
  // The same once more, with 1 for every line but this; for all with kNobody.
  void repeat(std::uint32_t only_site) { repeat(way_, shift_, only_site); }
  void repeat(Way way, std::size_t shift, std::uint32_t only_site);
  static constexpr std::uint32_t kNoSite = ~0u, kNobody = ~0u - 1;
  double give(int core, std::uint32_t site, std::uint8_t state, DType dtype, void* value, std::uint32_t size_bytes);
  std::vector<std::uint32_t> sites() const;
  // Of the line that was given the fewest: how many, and of how many.
  std::pair<std::size_t, std::size_t> tried() const;

 private:
  struct Line {
    std::size_t place = 0;  // among the lines
    DType dtype = DType::F32;
    std::vector<bool> given;
    std::size_t count = 0;  // of `given`
    std::size_t reads = 0;  // in this run
    std::map<int, std::size_t> cores;
  };
  const Line* fewest() const;

  StandIns values_;
  std::map<std::uint32_t, Line> lines_;
  Last* last_;
  Way way_ = Way::Same;
  std::size_t round_ = 0, shift_ = 0;
  std::uint32_t only_ = kNoSite;
};

}  // namespace twin
