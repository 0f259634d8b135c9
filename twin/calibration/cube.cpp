// SPDX-License-Identifier: Apache-2.0
// The cube: products in a full queue, and alone.
#include <tuple>

#include "micro.hpp"

namespace twin_calibration {
namespace {

bool dependent = false, hf32 = false;
int m = 0, n = 0, k = 0;
template <class T, class C>
void mmads(GM_ADDR) {
  InitConstValue(at<half>(TPosition::A2, 0, 65536), InitConstValueParams<half>(1, 128, 0, half(0)));
  InitConstValue(at<half>(TPosition::B2, 0, 65536), InitConstValueParams<half>(1, 128, 0, half(0)));
  PipeBarrier<PIPE_ALL>();
  SetHF32Mode(hf32);
  for (int i = 0; i < times; ++i) {
    Mmad(at<C>(TPosition::CO1, 0, 131072), at<T>(TPosition::A2, 0, 65536), at<T>(TPosition::B2, 0, 65536),
         MmadParams(m, n, k, false));
    if (dependent) PipeBarrier<PIPE_M>();
  }
  SetHF32Mode(false);
}

}  // namespace

void cube_costs(std::vector<Row>* rows) {
  GM_ADDR p = static_cast<GM_ADDR>(device_memory(4096));
  const auto cost = [&](const char* name, int side, double published, const std::function<void()>& launch) {
    m = n = k = side;
    rows->push_back({name, "cycles", published, each(launch, 40, 80), kTable});
  };
  const auto halves = [&] { LAUNCH((mmads<half, float>), 1, KernelType::AicOnly)(p); };
  const auto floats = [&] { LAUNCH((mmads<float, float>), 1, KernelType::AicOnly)(p); };
  cost("Mmad 128 x 128 x 128, half, in a full queue", 128, 512 + 2.5, halves);
  cost("Mmad 128 x 128 x 128, int8", 128, 256 + 2.5, [&] {
    LAUNCH((mmads<std::int8_t, std::int32_t>), 1, KernelType::AicOnly)(p);
  });
  cost("Mmad 96 x 96 x 96, float", 96, 6 * 6 * 24 + 2.5, floats);
  hf32 = true;
  cost("Mmad 96 x 96 x 96, HF32", 96, 6 * 6 * 12 + 2.5, floats);
  hf32 = false;
  dependent = true;
  cost("Mmad 16 x 16 x 16, half, alone", 16, 23.5, halves);
  dependent = false;
  const std::string before = twin::settings().device;
  for (const auto& [device, cores, peak] : {std::tuple("910B1", 24, 363.7), std::tuple("910B2", 24, 353.9),
                                            std::tuple("910B3", 20, 294.9), std::tuple("910B4", 20, 245.8)}) {
    twin::settings().device = device;
    m = 128, n = 256, k = 128;
    times = 200;
    LAUNCH((mmads<half, float>), cores, KernelType::AicOnly)(p);
    const twin::Timing& t = twin::last_timing();
    rows->push_back({std::string(device) + ", all cores: Mmad 128 x 256 x 128, half", "TFLOP/s", peak,
                     2 * t.cube_macs / t.microseconds / 1e6, kTable});
  }
  twin::settings().device = before;
  aclrtFree(p);
}

}  // namespace twin_calibration
