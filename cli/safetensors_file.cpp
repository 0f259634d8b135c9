// SPDX-License-Identifier: Apache-2.0
// Files on disk: reading by pread, so that a file which shrinks meanwhile is an error and not a signal; writing by rename.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/safetensors.hpp"

namespace tessera::cli {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMaxTransfer = 1u << 30;  // Linux moves at most 2 GiB a call

Status failed(const std::filesystem::path& path, std::string_view what) {
  return Status::invalid(path.string() + ": " + std::string(what) + ": " + std::strerror(errno));
}

Status read_exactly(int fd, const std::filesystem::path& path, std::byte* to, std::uint64_t bytes, std::uint64_t offset) {
  while (bytes > 0) {
    const auto got = ::pread(fd, to, std::min<std::uint64_t>(bytes, kMaxTransfer), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(path, "cannot read");
    if (got == 0) return Status::invalid(path.string() + ": the file became shorter while it was read");
    to += got;
    bytes -= static_cast<std::uint64_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

Status write_all(int fd, const std::filesystem::path& path, const void* data, std::uint64_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const auto put = ::write(fd, from, std::min<std::uint64_t>(bytes, kMaxTransfer));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed(path, "cannot write");
    from += put;
    bytes -= static_cast<std::uint64_t>(put);
  }
  return {};
}

// Wide elements first, so that each tensor is aligned to its element; stable, so that the file is reproducible.
std::vector<std::size_t> order_of(std::span<const TensorToWrite> tensors) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return bits_of_dtype(tensors[a].dtype) > bits_of_dtype(tensors[b].dtype); });
  return order;
}

std::string header_of(std::span<const TensorToWrite> tensors, std::span<const std::size_t> order,
                      const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t at = 0;
  for (const auto i : order) {
    const auto& tensor = tensors[i];
    header[tensor.name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {at, at + tensor.bytes}}};
    at += tensor.bytes;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data begin on a multiple of 8
  return text;
}

}  // namespace

void AlignedBuffer::Free::operator()(std::byte* p) const noexcept { std::free(p); }

Result<AlignedBuffer> AlignedBuffer::make(std::size_t bytes, std::string_view what) {
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  auto* memory = rounded < bytes ? nullptr : static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
  if (memory == nullptr)
    return Status::out_of_memory(std::string(what) + " needs " + std::to_string(bytes) + " bytes of memory");
  AlignedBuffer buffer;
  buffer.data_.reset(memory);
  buffer.size_ = bytes;
  return buffer;
}

SafetensorsFile::Descriptor::~Descriptor() { ::close(fd); }

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return failed(path, "cannot open");
  SafetensorsFile file;
  file.path_ = path;
  file.file_ = std::make_shared<Descriptor>(fd);
  struct stat info {};
  if (::fstat(fd, &info) != 0) return failed(path, "cannot stat");
  if (!S_ISREG(info.st_mode)) return Status::invalid(path.string() + ": not a regular file");
  const auto size = static_cast<std::uint64_t>(info.st_size);

  std::byte prefix[8] = {};
  if (auto status = read_exactly(fd, path, prefix, std::min<std::uint64_t>(size, 8), 0); !status) return status;
  const auto length = safetensors_header_length(std::span(prefix), size);
  if (!length) return Status::invalid(path.string() + ": " + length.status().message());
  std::string json(*length, '\0');
  if (auto status = read_exactly(fd, path, reinterpret_cast<std::byte*>(json.data()), *length, 8); !status) return status;
  auto header = parse_safetensors_header(json, size - 8 - *length);
  if (!header) return Status::invalid(path.string() + ": " + header.status().message());
  file.header_ = std::move(header).value();
  file.header_.data_begin = 8 + *length;
  return file;
}

Result<AlignedBuffer> SafetensorsFile::load(const TensorInfo& tensor) const {
  auto buffer = AlignedBuffer::make(tensor.bytes(), "tensor \"" + tensor.name + "\"");
  if (!buffer) return buffer.status();
  if (auto status = read_exactly(file_->fd, path_, buffer->data(), tensor.bytes(), header_.data_begin + tensor.begin);
      !status) {
    return status;
  }
  return buffer;
}

Status write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                         const std::map<std::string, std::string>& metadata) {
  std::error_code error;
  const auto target = std::filesystem::is_symlink(path, error) ? std::filesystem::weakly_canonical(path, error) : path;
  if (const auto kind = std::filesystem::status(target, error);
      std::filesystem::exists(kind) && !std::filesystem::is_regular_file(kind)) {
    return Status::invalid(path.string() + ": not a regular file; nothing was written");
  }
  std::string temporary = target.string() + ".tmp.XXXXXX";
  const int fd = ::mkstemp(temporary.data());
  if (fd < 0) return failed(path, "cannot write");
  const auto mask = ::umask(0);
  ::umask(mask);

  const auto order = order_of(tensors);
  const auto header = header_of(tensors, order, metadata);
  std::byte prefix[8];
  for (int i = 0; i < 8; ++i) prefix[i] = static_cast<std::byte>(static_cast<std::uint64_t>(header.size()) >> (8 * i));
  auto status = write_all(fd, path, prefix, 8);
  if (status.ok()) status = write_all(fd, path, header.data(), header.size());
  for (const auto i : order) {
    if (status.ok()) status = write_all(fd, path, tensors[i].data, tensors[i].bytes);
  }
  if (status.ok() && ::fchmod(fd, 0666 & ~mask) != 0) status = failed(path, "cannot set permissions");
  if (::close(fd) != 0 && status.ok()) status = failed(path, "cannot write");
  if (status.ok() && std::rename(temporary.c_str(), target.c_str()) != 0) status = failed(path, "cannot rename");
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

}  // namespace tessera::cli
