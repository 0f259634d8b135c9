// SPDX-License-Identifier: Apache-2.0
#include "cli/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace tessera::cli {
namespace {

constexpr std::size_t kMaxTransfer = 1u << 30;  // Linux moves at most 2 GiB a call

Status write_all(int fd, const std::filesystem::path& path, std::span<const std::byte> data) {
  while (!data.empty()) {
    const auto put = ::write(fd, data.data(), std::min(data.size(), kMaxTransfer));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_error(path, "cannot write");
    data = data.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

mode_t creation_mask() {
  const auto mask = ::umask(0);  // there is no call that only reads it
  ::umask(mask);
  return mask;
}

}  // namespace

Status system_error(const std::filesystem::path& path, std::string_view what) {
  return Status::invalid(path.string() + ": " + std::string(what) + ": " + std::strerror(errno));
}

Status read_exactly(int fd, const std::filesystem::path& path, std::span<std::byte> to, std::uint64_t offset) {
  while (!to.empty()) {
    const auto got = ::pread(fd, to.data(), std::min(to.size(), kMaxTransfer), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(path, "cannot read");
    if (got == 0) return Status::invalid(path.string() + ": the file became shorter while it was read");
    to = to.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

Status write_file(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts) {
  std::error_code error;
  const auto target = std::filesystem::is_symlink(path, error) ? std::filesystem::weakly_canonical(path, error) : path;
  if (const auto kind = std::filesystem::status(target, error);
      std::filesystem::exists(kind) && !std::filesystem::is_regular_file(kind)) {
    return Status::invalid(path.string() + ": not a regular file; nothing was written");
  }
  std::string temporary = target.string() + ".tmp.XXXXXX";
  const int fd = ::mkstemp(temporary.data());
  if (fd < 0) return system_error(path, "cannot write");
  Status status;
  for (const auto& part : parts) {
    if (status.ok()) status = write_all(fd, path, part);
  }
  if (status.ok() && ::fchmod(fd, 0666 & ~creation_mask()) != 0) status = system_error(path, "cannot set permissions");
  if (::close(fd) != 0 && status.ok()) status = system_error(path, "cannot write");
  if (status.ok() && std::rename(temporary.c_str(), target.c_str()) != 0) status = system_error(path, "cannot rename");
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

Status write_file(const std::filesystem::path& path, std::string_view text) {
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  return write_file(path, std::span(&part, 1));
}

}  // namespace tessera::cli
