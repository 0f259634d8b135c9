// SPDX-License-Identifier: Apache-2.0
#include "cli/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "cli/temporary_file.hpp"

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

// Where a link points, so that the file behind it is replaced and the link stays.
std::string target_of(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_symlink(path, error) ? std::filesystem::weakly_canonical(path, error).string() : path.string();
}

Status check_kind(const std::filesystem::path& path) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error);
  if (!std::filesystem::exists(kind) || std::filesystem::is_regular_file(kind)) return {};
  return Status::invalid(path.string() + ": not a regular file; nothing was written");
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

Status check_writable(const std::filesystem::path& path) {
  if (auto status = check_kind(path); !status.ok()) return status;
  const TemporaryFile file(target_of(path));
  return file.fd() < 0 ? system_error(path, "cannot write") : Status();
}

Status check_output(const std::string& output, std::span<const std::string> inputs) {
  if (output.empty()) return {};
  std::error_code error;
  for (const auto& input : inputs) {
    if (std::filesystem::equivalent(input, output, error))
      return Status::invalid(output + ": that is an input; nothing was written");
  }
  return check_writable(output);
}

Status write_file(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts) {
  if (auto status = check_kind(path); !status.ok()) return status;
  TemporaryFile file(target_of(path));
  if (file.fd() < 0) return system_error(path, "cannot write");
  for (const auto& part : parts) {
    if (auto status = write_all(file.fd(), path, part); !status.ok()) return status;
  }
  if (::fchmod(file.fd(), 0666 & ~creation_mask()) != 0) return system_error(path, "cannot set permissions");
  return file.keep() ? Status() : system_error(path, "cannot write");
}

Status write_file(const std::filesystem::path& path, std::string_view text) {
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  return write_file(path, std::span(&part, 1));
}

}  // namespace tessera::cli
