// SPDX-License-Identifier: Apache-2.0
// Moves: many equal copies on one core.
#include "micro.hpp"

namespace twin_calibration {
namespace {

int first_byte = 0;
void gm_to_ub(GM_ADDR p) {
  for (int i = 0; i < times; ++i) DataCopy(at<half>(TPosition::VECIN, 0, bytes), gm<half>(p)[first_byte / 2], bytes / 2);
}
void read_again(GM_ADDR p) {
  gm_to_ub(p);
  PipeBarrier<PIPE_ALL>();
  gm_to_ub(p);
}
void ub_to_ub(GM_ADDR) {
  Duplicate(at<half>(TPosition::VECIN, 0, bytes), half(0), bytes / 2);
  PipeBarrier<PIPE_V>();
  for (int i = 0; i < times; ++i)
    DataCopy(at<half>(TPosition::VECIN, 65536 + i * 1024, bytes), at<half>(TPosition::VECIN, 0, bytes), bytes / 2);
}
void ub_to_gm(GM_ADDR p) {
  Duplicate(at<half>(TPosition::VECIN, 0, bytes), half(0), bytes / 2);
  PipeBarrier<PIPE_ALL>();
  for (int i = 0; i < times; ++i)
    DataCopy(gm<half>(p)[static_cast<std::uint64_t>(i) * (bytes / 2)], at<half>(TPosition::VECIN, 0, bytes), bytes / 2);
}
void gm_to_l1(GM_ADDR p) {
  for (int i = 0; i < times; ++i) DataCopy(at<half>(TPosition::A1, 0, bytes), gm<half>(p), bytes / 2);
}
void gm_to_l1_nz(GM_ADDR p) {
  const int rows = bytes / 512;
  for (int i = 0; i < times; ++i)
    DataCopy(at<half>(TPosition::A1, 0, bytes), gm<half>(p), Nd2NzParams(1, rows, 256, 0, 256, rows, 1, 0));
}
template <TPosition to>
void l1_to_l0(GM_ADDR) {
  InitConstValue(at<half>(TPosition::A1, 0, bytes), InitConstValueParams<half>(1, bytes / 32, 0, half(0)));
  PipeBarrier<PIPE_ALL>();
  const auto from = at<half>(TPosition::A1, 0, bytes);
  for (int i = 0; i < times; ++i)
    LoadData(at<half>(to, 0, bytes), from, LoadData2DParams(0, bytes / 512, 1, 0, 0, false, 0));
}
void l0c_to_gm(GM_ADDR p) {
  const int columns = bytes / 4 / 16 < 256 ? bytes / 4 / 16 : 256, rows = bytes / 4 / columns;
  InitConstValue(at<half>(TPosition::A2, 0, 65536), InitConstValueParams<half>(1, 128, 0, half(0)));
  InitConstValue(at<half>(TPosition::B2, 0, 65536), InitConstValueParams<half>(1, 128, 0, half(0)));
  PipeBarrier<PIPE_ALL>();
  Mmad(at<float>(TPosition::CO1, 0, bytes), at<half>(TPosition::A2, 0, 65536), at<half>(TPosition::B2, 0, 65536),
       MmadParams(rows, columns, 16, false));
  PipeBarrier<PIPE_ALL>();
  for (int i = 0; i < times; ++i)
    Fixpipe(gm<float>(p), at<float>(TPosition::CO1, 0, bytes), FixpipeParamsV220(columns, rows, rows, columns, false));
}

}  // namespace

struct Point {
  int bytes;
  double cycles;
};
void moves(std::vector<Row>* rows) {
  GM_ADDR p = static_cast<GM_ADDR>(device_memory(32 << 20));
  const auto path = [&](const char* name, const std::function<void()>& launch, std::initializer_list<Point> points) {
    for (const Point& point : points) {
      bytes = point.bytes;
      rows->push_back({std::string(name) + ", " + std::to_string(bytes / 1024) + " KB", "cycles", point.cycles,
                       each(launch, 40, 80), kTable});
    }
  };
  constexpr auto kVector = KernelType::AivOnly;
  constexpr auto kCube = KernelType::AicOnly;
  path("GM to L1",
       [&] {
         LAUNCH(gm_to_l1, 1, kCube)
         (p);
       },
       {{1024, 173}, {16384, 295}, {32768, 373}, {65536, 623}, {131072, 945}});
  path("GM to L1, ND to NZ",
       [&] {
         LAUNCH(gm_to_l1_nz, 1, kCube)
         (p);
       },
       {{4096, 781}, {16384, 794}, {32768, 784}, {65536, 824}, {131072, 1149}});
  path("GM to UB",
       [&] {
         LAUNCH(gm_to_ub, 1, kVector)
         (p);
       },
       {{1024, 225}, {16384, 300}, {32768, 485}, {65536, 747}, {131072, 1229}});
  path("UB to GM", [&] { LAUNCH(ub_to_gm, 1, kVector)(p); }, {{1024, 151}, {16384, 316}, {32768, 507}, {65536, 993}});
  path("L0C to GM",
       [&] {
         LAUNCH(l0c_to_gm, 1, kCube)
         (p);
       },
       {{1024, 83}, {16384, 135}, {32768, 273}, {65536, 559}, {131072, 1116}});
  path("L1 to L0A",
       [&] {
         LAUNCH(l1_to_l0<TPosition::A2>, 1, kCube)
         (p);
       },
       {{1024, 6}, {16384, 64}, {32768, 127}, {65536, 251}});
  path("L1 to L0B",
       [&] {
         LAUNCH(l1_to_l0<TPosition::B2>, 1, kCube)
         (p);
       },
       {{1024, 10}, {16384, 127}, {32768, 251}, {65536, 500}});
  path("UB to UB", [&] { LAUNCH(ub_to_ub, 1, kVector)(p); }, {{1024, 4}});

  // Beyond the tables only the limits are published: two sizes there, and the bytes a cycle between them.
  const auto limit = [&](const char* name, double published, int small, int large, const std::function<void()>& launch) {
    bytes = small;
    const double less = each(launch, 40, 80);
    bytes = large;
    rows->push_back(
        {std::string(name) + ", limit", "B/cycle", published, (large - small) / (each(launch, 40, 80) - less), kTable});
  };
  limit("GM to L1", 156, 131072, 262144, [&] { LAUNCH(gm_to_l1, 1, kCube)(p); });
  limit("GM to L1, ND to NZ", 122, 131072, 262144, [&] { LAUNCH(gm_to_l1_nz, 1, kCube)(p); });
  limit("GM to UB", 111, 131072, 163840, [&] { LAUNCH(gm_to_ub, 1, kVector)(p); });
  limit("UB to GM", 66, 65536, 131072, [&] { LAUNCH(ub_to_gm, 1, kVector)(p); });

  // The published latencies, from one read: of lines that nobody had before, and of the same ones again.
  bytes = 16384;
  times = 1;
  LAUNCH(gm_to_ub, 1, kVector)(p);
  const double cold = twin::last_timing().cycles;
  LAUNCH(read_again, 1, kVector)(p);
  const double again = twin::last_timing().cycles - cold;
  rows->push_back({"Latency of a read from HBM", "cycles", 310, cold - 300, kTable});
  rows->push_back({"Latency of a read that hits L2", "cycles", 240, again - 300, kTable});

  bytes = 32768;
  const double aligned = each([&] { LAUNCH(gm_to_ub, 1, kVector)(p); }, 40, 80);
  first_byte = 32;
  const double shifted = each([&] { LAUNCH(gm_to_ub, 1, kVector)(p); }, 40, 80);
  first_byte = 0;
  rows->push_back(
      {"GM to UB from a multiple of 32, not 512 bytes", "% of the bandwidth", 70, 100 * aligned / shifted, kTable});
  aclrtFree(p);
}

}  // namespace twin_calibration
