// SPDX-License-Identifier: Apache-2.0
#include "calibration.hpp"

#include <functional>

#include "acl/acl.h"
#include "kernel_operator.h"
#include "twin/report.hpp"

using namespace AscendC;

namespace twin_calibration {
namespace {

using twin::KernelType;

int bytes = 0, times = 0;  // of the micro-kernel that runs
double hit_share = 0;

void* device_memory(std::size_t size) {
  void* p = nullptr;
  aclrtMalloc(&p, size, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemset(p, size, 0, size);
  return p;
}
template <class T>
GlobalTensor<T> gm(GM_ADDR p) {
  GlobalTensor<T> t;
  t.SetGlobalBuffer((__gm__ T*)p);
  return t;
}
template <class T>
LocalTensor<T> at(TPosition position, int offset, int size) {
  return LocalTensor<T>(position, offset, size / sizeof(T));
}

// ---- moves: many equal copies, one core ----
void gm_to_ub(GM_ADDR p) {
  for (int i = 0; i < times; ++i) DataCopy(at<half>(TPosition::VECIN, 0, bytes), gm<half>(p), bytes / 2);
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

// ---- vector: `times` instructions of `bytes` bytes ----
std::function<void()> instruction;
bool dependent = false;
LocalTensor<float> f(int offset) { return at<float>(TPosition::VECCALC, offset, 32768); }
LocalTensor<half> h(int offset) { return at<half>(TPosition::VECCALC, offset, 32768); }
void vectors(GM_ADDR) {
  Duplicate(at<float>(TPosition::VECCALC, 0, 180 * 1024), 0.0f, 180 * 256);
  PipeBarrier<PIPE_ALL>();
  for (int i = 0; i < times; ++i) {
    instruction();
    PipeBarrier<PIPE_V>();
  }
}

// ---- cube ----
void mmads(GM_ADDR) {
  InitConstValue(at<half>(TPosition::A2, 0, 32768), InitConstValueParams<half>(1, 64, 0, half(0)));
  InitConstValue(at<half>(TPosition::B2, 0, 32768), InitConstValueParams<half>(1, 64, 0, half(0)));
  PipeBarrier<PIPE_ALL>();
  const int side = bytes;
  for (int i = 0; i < times; ++i) {
    Mmad(at<float>(TPosition::CO1, 0, 65536), at<half>(TPosition::A2, 0, 32768), at<half>(TPosition::B2, 0, 32768),
         MmadParams(side, side, side, false));
    if (dependent) PipeBarrier<PIPE_M>();
  }
}

// ---- all cores ----
// As a matrix product reads: 128 KB in rows of 512 bytes. hit_share of the copies come from a part that all cores share.
void read_with_hits(GM_ADDR hot, GM_ADDR cold) {
  double owed = 0;
  std::uint64_t misses = 0;
  for (int i = 0; i < times; ++i) {
    owed += hit_share;
    const bool hit = owed >= 1;
    if (hit) owed -= 1;
    const std::uint64_t turn = static_cast<std::uint64_t>(GetBlockIdx()) * times + (hit ? 0 : misses++);
    DataCopy(at<half>(TPosition::A1, i % 2 * 131072, bytes), hit ? gm<half>(hot) : gm<half>(cold)[turn * (bytes / 2)],
             Nd2NzParams(1, 256, 256, 0, 256, 256, 1, 0));
  }
}
void read_stream(GM_ADDR p) {
  for (int i = 0; i < times; ++i) {
    const std::uint64_t turn = static_cast<std::uint64_t>(GetBlockIdx()) * times + i;
    DataCopy(at<half>(TPosition::VECIN, i % 2 * 65536, bytes), gm<half>(p)[turn * (bytes / 2)], bytes / 2);
  }
}
bool no_cache = false, no_conflict = false;
void streaming_add(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  const int n = bytes / 2;
  TPipe pipe;
  TQue<TPosition::VECIN, 2> in_x, in_y;
  TQue<TPosition::VECOUT, 2> out;
  TBuf<TPosition::VECCALC> shift;
  pipe.InitBuffer(in_x, 2, bytes);
  if (no_conflict) pipe.InitBuffer(shift, 256);
  pipe.InitBuffer(in_y, 2, bytes);
  pipe.InitBuffer(out, 2, bytes);
  GlobalTensor<half> gx = gm<half>(x), gy = gm<half>(y);
  if (no_cache) {
    gx.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    gy.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
  }
  for (int i = 0; i < times; ++i) {
    const std::uint64_t first = (static_cast<std::uint64_t>(GetBlockIdx()) * times + i) * n;
    LocalTensor<half> a = in_x.AllocTensor<half>(), b = in_y.AllocTensor<half>();
    DataCopy(a, gx[first], n);
    DataCopy(b, gy[first], n);
    in_x.EnQue(a);
    in_y.EnQue(b);
    a = in_x.DeQue<half>();
    b = in_y.DeQue<half>();
    LocalTensor<half> c = out.AllocTensor<half>();
    Add(c, a, b, n);
    in_x.FreeTensor(a);
    in_y.FreeTensor(b);
    out.EnQue(c);
    c = out.DeQue<half>();
    DataCopy(gm<half>(z)[first], c, n);
    out.FreeTensor(c);
  }
}

#define LAUNCH(kernel, blocks, type) ::twin::launcher<std::remove_reference_t<decltype(kernel)>, kernel>(blocks).as(type)

double cycles() { return twin::last_timing().cycles; }

// Cycles of one more of them, in a queue that is full.
double each(const std::function<void()>& launch, int few, int many) {
  times = few;
  launch();
  const double before = cycles();
  times = many;
  launch();
  return (cycles() - before) / (many - few);
}

struct Point {
  int bytes;
  double cycles;
};
void moves(std::vector<Row>* rows) {
  GM_ADDR p = static_cast<GM_ADDR>(device_memory(16 << 20));
  const auto path = [&](const char* name, const std::function<void()>& launch, std::initializer_list<Point> points) {
    for (const Point& point : points) {
      bytes = point.bytes;
      rows->push_back(
          {std::string(name) + ", " + std::to_string(bytes / 1024) + " KB", "cycles", point.cycles, each(launch, 40, 80)});
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
  aclrtFree(p);
}

void vector_costs(std::vector<Row>* rows) {
  GM_ADDR p = static_cast<GM_ADDR>(device_memory(4096));
  // Cycles a repeat from two lengths; fixed cycles of a single repeat in a chain.
  const auto cost = [&](const char* name, double repeat, double fixed, const std::function<void(int)>& one) {
    const auto chain = [&](int repeats) {
      instruction = [&, repeats] { one(repeats); };
      return each([&] { LAUNCH(vectors, 1, KernelType::AivOnly)(p); }, 20, 60);
    };
    const double few = chain(20), many = chain(100);
    rows->push_back({std::string(name) + ", a repeat", "cycles", repeat, (many - few) / 80});
    if (fixed > 0) rows->push_back({std::string(name) + ", fixed", "cycles", fixed, few - 20 * (many - few) / 80});
  };
  const UnaryRepeatParams u;
  cost("Adds", 1, 24.5, [&](int r) { Adds(f(0), f(0), 1.0f, 64 * r); });
  cost("Add without bank conflicts", 1, 24, [&](int r) { Add(f(0), f(32768), f(65536 + 256), 64 * r); });
  cost("Add with bank conflicts", 2, 0, [&](int r) { Add(f(0), f(32768), f(65536), 64 * r); });
  cost("Axpy", 2, 14, [&](int r) { Axpy(f(0), f(32768), 1.0f, 64 * r); });
  cost("Compare", 2, 14,
       [&](int r) { Compare(at<std::uint8_t>(TPosition::VECCALC, 0, 4096), f(32768), f(65536), CMPMODE::GT, 64 * r); });
  cost("Compares", 1, 14,
       [&](int r) { Compares(at<std::uint8_t>(TPosition::VECCALC, 0, 4096), f(32768), 0.0f, CMPMODE::GT, 64 * r); });
  cost("Select", 2, 14, [&](int r) {
    Select(f(0), at<std::uint8_t>(TPosition::VECCALC, 98304, 4096), f(32768), f(65536), SELMODE::VSEL_TENSOR_TENSOR_MODE,
           64 * r);
  });
  cost("Exp, float", 2, 32, [&](int r) { Exp(f(0), f(32768), 64 * r); });
  cost("Exp, half", 4, 32, [&](int r) { Exp(h(0), h(32768), 128 * r); });
  cost("Div", 4, 31, [&](int r) { Div(f(0), f(32768), f(65536), 64 * r); });
  cost("MulAddDst", 6, 0, [&](int r) { MulAddDst(f(0), f(32768), f(65536), 64 * r); });
  cost("BlockReduceSum, float", 1, 35, [&](int r) { BlockReduceSum(f(0), f(32768), r, 64, 1, 1, 8); });
  cost("BlockReduceSum, half", 7, 35, [&](int r) { BlockReduceSum(h(0), h(32768), r, 128, 1, 1, 8); });
  cost("WholeReduceMax", 7, 46, [&](int r) { WholeReduceMax(f(0), f(32768), 64, r, 1, 1, 8); });
  cost("WholeReduceSum", 7, 46, [&](int r) { WholeReduceSum(f(0), f(32768), 64, r, 1, 1, 8); });
  cost("Cast half to float", 1, 32, [&](int r) { Cast(f(0), h(32768), RoundMode::CAST_NONE, 64 * r); });
  cost("Brcb", 1, 18, [&](int r) { Brcb(f(0), f(65536), static_cast<std::uint8_t>(r), BrcbRepeatParams(1, 8)); });
  cost("Gather, 64 elements", 12.8, 26,
       [&](int r) { Gather(f(0), f(32768), at<std::uint32_t>(TPosition::VECCALC, 65536, 32768), 0, 64 * r); });
  aclrtFree(p);
}

void cube_costs(std::vector<Row>* rows) {
  GM_ADDR p = static_cast<GM_ADDR>(device_memory(4096));
  const auto launch = [&] { LAUNCH(mmads, 1, KernelType::AicOnly)(p); };
  bytes = 128;
  dependent = false;
  rows->push_back({"Mmad 128 x 128 x 128 in a full queue", "cycles", 512 + 2.5, each(launch, 40, 80)});
  bytes = 16;
  dependent = true;
  rows->push_back({"Mmad 16 x 16 x 16 alone", "cycles", 23.5, each(launch, 40, 80)});
  dependent = false;
  aclrtFree(p);
}

void bandwidth(std::vector<Row>* rows) {
  const std::pair<double, double> figures[] = {{0.938, 3.87}, {0.937, 3.73}, {0.893, 3.52}, {0.576, 2.13}, {0.323, 1.62}};
  bytes = 131072;
  times = 64;
  void* cold_memory = nullptr;  // never written: only its addresses matter
  aclrtMalloc(&cold_memory, std::size_t{24} * times * bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  GM_ADDR hot = static_cast<GM_ADDR>(device_memory(bytes)), cold = static_cast<GM_ADDR>(cold_memory);
  for (const auto& [hits, terabytes] : figures) {
    hit_share = hits;
    LAUNCH(read_with_hits, 24, KernelType::AicOnly)(hot, cold);
    const twin::Timing& t = twin::last_timing();
    rows->push_back({"24 cube cores read, " + std::to_string(hits * 100).substr(0, 4) + " % L2 hits", "TB/s", terabytes,
                     t.gm_read_bytes / t.microseconds / 1e6});
  }
  aclrtFree(hot);
  aclrtFree(cold);
  GM_ADDR stream = static_cast<GM_ADDR>(device_memory(std::size_t{48} * 8 * 32768));
  for (const auto& [size, terabytes] : {std::pair(8192, 1.25), std::pair(32768, 1.46)}) {
    bytes = size;
    times = 8 * 32768 / size;
    LAUNCH(read_stream, 48, KernelType::AivOnly)(stream);
    const twin::Timing& t = twin::last_timing();
    rows->push_back({"48 vector cores read, " + std::to_string(size / 1024) + " KB copies", "TB/s", terabytes,
                     t.gm_read_bytes / t.microseconds / 1e6});
  }
  aclrtFree(stream);
}

void streaming_adds(std::vector<Row>* rows) {
  const std::string before = twin::settings().device;
  twin::settings().device = "910B1";
  const std::size_t size = std::size_t{8192} * 8192 * 2;
  // 48 cores × 171 copies of 16 KB are 8192² halves and 0.2 % more.
  const std::size_t room = std::size_t{48} * 171 * 16384;
  GM_ADDR x = static_cast<GM_ADDR>(device_memory(room)), y = static_cast<GM_ADDR>(device_memory(room)),
          z = static_cast<GM_ADDR>(device_memory(room));
  const auto form = [&](const char* name, double microseconds, bool hint, bool shifted) {
    bytes = 16384;
    times = 171;
    no_cache = hint;
    no_conflict = shifted;
    LAUNCH(streaming_add, 48, KernelType::AivOnly)(x, y, z);
    rows->push_back({name, "us", microseconds,
                     twin::last_timing().microseconds * static_cast<double>(size) / static_cast<double>(room)});
  };
  form("Add over 8192 x 8192 halves, as it comes", 264, false, false);
  form("the same, inputs past the L2 cache", 188, true, false);
  form("the same, without bank conflicts", 184.5, true, true);
  aclrtFree(x);
  aclrtFree(y);
  aclrtFree(z);
  twin::settings().device = before;
}

}  // namespace

std::vector<Row> run(bool streaming) {
  std::vector<Row> rows;
  moves(&rows);
  vector_costs(&rows);
  cube_costs(&rows);
  bandwidth(&rows);
  if (streaming) streaming_adds(&rows);
  return rows;
}

std::string to_markdown(const std::vector<Row>& rows) {
  std::string out = "| what | unit | published | modelled | error |\n|---|---|---|---|---|\n";
  for (const Row& r : rows) {
    char line[256];
    std::snprintf(line, sizeof line, "| %s | %s | %g | %.4g | %+.1f %% |\n", r.what.c_str(), r.unit.c_str(), r.published,
                  r.modelled, 100 * r.error());
    out += line;
  }
  return out;
}

}  // namespace twin_calibration
