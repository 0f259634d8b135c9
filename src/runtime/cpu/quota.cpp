// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/quota.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "runtime/cpu/system_file.hpp"

namespace tessera::runtime {
namespace {

/// 0 where `text` does not begin with a number above 0: "max", "-1", nothing.
std::int64_t microseconds(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::max<std::int64_t>(value, 0);
}

/// Cores of "quota period".
int cores(std::string_view quota, std::string_view period) {
  const std::int64_t time = microseconds(quota), each = microseconds(period);
  if (time == 0 || each == 0) return 0;
  return static_cast<int>(std::min<std::int64_t>((time - 1) / each + 1, 1 << 20));
}

int cores_of_group(const std::string& folder, bool unified) {
  if (!unified) return cores(first_line(folder + "/cpu.cfs_quota_us"), first_line(folder + "/cpu.cfs_period_us"));
  const std::string line = first_line(folder + "/cpu.max");
  const std::size_t blank = line.find(' ');
  return blank == std::string::npos ? 0 : cores(line, std::string_view(line).substr(blank + 1));
}

/// Whether a list of controllers, "cpu,cpuacct", has that of CPU time.
bool has_cpu(std::string_view controllers) {
  for (std::size_t begin = 0; begin <= controllers.size();) {
    const std::size_t end = std::min(controllers.find(',', begin), controllers.size());
    if (controllers.substr(begin, end - begin) == "cpu") return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

int cpu_quota(const std::string& membership, const std::string& root) {
  int least = 0;
  const SystemFile file = open_system_file(membership);
  for (std::string line; next_line(file, line);) {  // hierarchy:controllers:group
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool unified = controllers.empty();
    if (!unified && !has_cpu(controllers)) continue;
    const std::string mount = unified ? root : root + "/cpu";
    std::string group = line.substr(second + 1);  // a container sees its own as the root, whatever it is called outside
    for (;;) {
      while (!group.empty() && group.back() == '/') group.pop_back();
      if (const int found = cores_of_group(mount + group, unified); found > 0)
        least = least > 0 ? std::min(least, found) : found;
      if (group.empty()) break;
      group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
    }
  }
  return least;
}

}  // namespace tessera::runtime
