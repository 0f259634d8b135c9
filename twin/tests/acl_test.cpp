// SPDX-License-Identifier: Apache-2.0
#include "acl/acl.h"

#include <gtest/gtest.h>

#include "kernel_operator.h"
#include "tiling/platform/platform_ascendc.h"
#include "twin/report.hpp"

namespace {

void fill(GM_ADDR x) {
  AscendC::GlobalTensor<float> g;
  g.SetGlobalBuffer(reinterpret_cast<float*>(x), 64);
  AscendC::LocalTensor<float> t(AscendC::TPosition::VECCALC, 0, 64);
  AscendC::Duplicate(t, 1.0f, 64);
  AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(0);
  AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(0);
  AscendC::DataCopy(g, t, 64);
}

TEST(Acl, EventsTellModelledTime) {
  aclrtEvent a, b;
  ASSERT_EQ(aclrtCreateEvent(&a), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEventWithFlag(&b, ACL_EVENT_TIME_LINE), ACL_SUCCESS);
  float ms = -1;
  EXPECT_NE(aclrtEventElapsedTime(&ms, a, b), ACL_SUCCESS) << "not recorded yet";
  void* x;
  ASSERT_EQ(aclrtMalloc(&x, 256, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  aclrtRecordEvent(a, nullptr);
  twin::launcher<decltype(fill), fill>(1)(x);
  aclrtRecordEvent(b, nullptr);
  ASSERT_EQ(aclrtEventElapsedTime(&ms, a, b), ACL_SUCCESS);
  EXPECT_FLOAT_EQ(ms, static_cast<float>(twin::last_timing().microseconds / 1000));
  EXPECT_GT(ms, 0);
  aclrtEventRecordedStatus status;
  EXPECT_EQ(aclrtQueryEventStatus(b, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(aclrtDestroyEvent(a), ACL_SUCCESS);
  EXPECT_NE(aclrtDestroyEvent(a), ACL_SUCCESS) << "destroyed twice";
  EXPECT_EQ(aclrtDestroyEvent(b), ACL_SUCCESS);
  aclrtFree(x);
  EXPECT_TRUE(twin::take_findings().empty());
}

TEST(Acl, CopiesRowsWithPitch) {
  std::uint8_t host[3 * 8], back[3 * 4] = {};
  for (int i = 0; i < 24; ++i) host[i] = static_cast<std::uint8_t>(i);
  void* x;
  ASSERT_EQ(aclrtMalloc(&x, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy2d(x, 4, host, 8, 4, 3, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy(back, 12, x, 12, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(back[4], 8);
  EXPECT_EQ(back[11], 19);
  EXPECT_NE(aclrtMemcpy2d(x, 4, host, 8, 5, 3, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("width 5"), std::string::npos);
  aclrtFree(x);
}

TEST(Acl, KnowsTheDevice) {
  std::int32_t id = -1;
  EXPECT_EQ(aclrtGetDevice(&id), ACL_SUCCESS);
  EXPECT_EQ(id, 0);
  EXPECT_STREQ(aclrtGetSocName(), "Ascend910B2");
  EXPECT_NE(aclrtGetDevice(nullptr), ACL_SUCCESS);
  std::size_t free = 0, total = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  EXPECT_EQ(total, std::size_t{64} << 30);
  EXPECT_EQ(aclFloat16ToFloat(aclFloatToFloat16(0.5f)), 0.5f);
  EXPECT_EQ(aclDataTypeSize(ACL_BF16), 2u);
}

TEST(Acl, PlatformHasTheDevicesNumbers) {
  auto* platform = platform_ascendc::PlatformAscendCManager::GetInstance();
  EXPECT_EQ(platform->GetCoreNumAic(), 24u);
  EXPECT_EQ(platform->GetCoreNumAiv(), 48u);
  std::uint64_t size = 0;
  platform->GetCoreMemSize(platform_ascendc::CoreMemType::UB, size);
  EXPECT_EQ(size, 196352u);
  EXPECT_EQ(platform->CalcTschBlockDim(48, 24, 48), 24u);
}

}  // namespace
