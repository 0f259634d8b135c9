// SPDX-License-Identifier: Apache-2.0
// A program may launch, allocate and copy from several threads: each call of the host has the twin to itself, a launch from
// its first instruction to its last. The lock may be taken again by the thread that holds it, as by what a launch calls.
#pragma once

namespace twin {

class HostLock {
 public:
  HostLock();
  ~HostLock();
  HostLock(const HostLock&) = delete;
  HostLock& operator=(const HostLock&) = delete;
};

}  // namespace twin
