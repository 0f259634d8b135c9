// SPDX-License-Identifier: Apache-2.0
// The time of cores that a container is given. A process on 96 cores with a quota of four is stopped for most of each
// period when it uses them all.
#pragma once

#include <string>

namespace tessera::runtime {

/// Cores' worth of time that the control groups of this process leave it, rounded up; 0: no limit. The least of its own
/// group and those above. Version 2 (cpu.max) and 1 (cpu.cfs_quota_us). Source: Linux,
/// Documentation/admin-guide/cgroup-v2.rst, "CPU Interface Files"; Documentation/scheduler/sched-bwc.rst.
int cpu_quota(const std::string& membership = "/proc/self/cgroup", const std::string& root = "/sys/fs/cgroup");

}  // namespace tessera::runtime
