// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <vector>
#include "acl/acl.h"
#include "aclrtlaunch_twice.h"
int main() {
  uint32_t n = 256;
  std::vector<uint16_t> h(n, 7), o(n);
  void *x, *y, *t;
  aclrtStream s;
  aclrtCreateStream(&s);
  aclrtMalloc(&x, 512, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMalloc(&y, 512, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMalloc(&t, 4, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemcpy(x, 512, h.data(), 512, ACL_MEMCPY_HOST_TO_DEVICE);
  aclrtMemcpy(t, 4, &n, 4, ACL_MEMCPY_HOST_TO_DEVICE);
  ACLRT_LAUNCH_KERNEL(twice)(1, s, x, y, t);
  aclrtSynchronizeStream(s);
  aclrtMemcpy(o.data(), 512, y, 512, ACL_MEMCPY_DEVICE_TO_HOST);
  printf("%d\n", o == h);
  return o == h ? 0 : 1;
}
