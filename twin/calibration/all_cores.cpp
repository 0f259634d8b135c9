// SPDX-License-Identifier: Apache-2.0
// All cores at once: L2 and HBM shared.
#include "micro.hpp"

namespace twin_calibration {
namespace {

double hit_share = 0;
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

}  // namespace

void all_cores(std::vector<Row>* rows) {
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
                     t.gm_read_bytes / t.microseconds / 1e6, kFit});
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
                     t.gm_read_bytes / t.microseconds / 1e6, kFit});
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
  const auto form = [&](const char* name, double microseconds, bool hint, bool shifted, Basis basis) {
    bytes = 16384;
    times = 171;
    no_cache = hint;
    no_conflict = shifted;
    LAUNCH(streaming_add, 48, KernelType::AivOnly)(x, y, z);
    rows->push_back({name, "us", microseconds,
                     twin::last_timing().microseconds * static_cast<double>(size) / static_cast<double>(room), basis});
  };
  form("Add over 8192 x 8192 halves, as it comes", 264, false, false, kPredicted);
  form("the same, inputs past the L2 cache", 188, true, false, kFit);
  form("the same, without bank conflicts", 184.5, true, true, kFit);
  aclrtFree(x);
  aclrtFree(y);
  aclrtFree(z);
  twin::settings().device = before;
}

}  // namespace twin_calibration
