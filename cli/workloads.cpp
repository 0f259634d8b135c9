// SPDX-License-Identifier: Apache-2.0
#include "cli/workloads.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/failure.hpp"

namespace tessera::cli {

std::string workload_file(const std::string& name) {
  std::error_code error;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto installed =
      (executable.parent_path() / TESSERA_INSTALLED_DATA / "tessera" / "workloads" / name).lexically_normal();
  const auto in_source = std::filesystem::path(TESSERA_WORKLOADS) / name;
  for (const auto& path : {installed, in_source}) {
    if (std::filesystem::is_regular_file(path, error)) return path.string();
  }
  throw Failure(kBadInput, fmt::format("the list {} is neither at {} nor at {}; name problems, or a list as @FILE", name,
                                       installed.string(), in_source.string()));
}

}  // namespace tessera::cli
