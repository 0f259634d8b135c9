// SPDX-License-Identifier: Apache-2.0
// Files on disk, read by pread: one that shrinks meanwhile is an error and not a signal.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>

#include "bench/available_memory.hpp"
#include "cli/files.hpp"
#include "cli/safetensors.hpp"

namespace tessera::cli {
namespace {

constexpr std::size_t kAlignment = 64;
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
  constexpr std::size_t kSmall = 64u << 20;
  if (const std::size_t available = bytes > kSmall ? bench::available_memory() : kSmall; bytes > available) {
    return Status::out_of_memory(std::string(what) + " needs " + std::to_string(bytes) + " bytes of memory; " +
                                 std::to_string(available) + " are available");
  }
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
  if (fd < 0) return system_error(path, "cannot open");
  SafetensorsFile file;
  file.path_ = path;
  file.file_ = std::make_shared<Descriptor>(fd);
  struct stat info {};
  if (::fstat(fd, &info) != 0) return system_error(path, "cannot stat");
  if (!S_ISREG(info.st_mode)) return Status::invalid(path.string() + ": not a regular file");
  const auto size = static_cast<std::uint64_t>(info.st_size);

  std::byte prefix[8] = {};
  if (auto status = read_exactly(fd, path, std::span(prefix).first(std::min<std::uint64_t>(size, 8)), 0); !status)
    return status;
  const auto length = safetensors_header_length(std::span(prefix), size);
  if (!length) return Status::invalid(path.string() + ": " + length.status().message());
  std::string json(*length, '\0');
  if (auto status = read_exactly(fd, path, std::as_writable_bytes(std::span(json)), 8); !status) return status;
  auto header = parse_safetensors_header(json, size - 8 - *length);
  if (!header) return Status::invalid(path.string() + ": " + header.status().message());
  file.header_ = std::move(header).value();
  file.header_.data_begin = 8 + *length;
  return file;
}

Result<AlignedBuffer> SafetensorsFile::load(const TensorInfo& tensor) const {
  auto buffer = AlignedBuffer::make(tensor.bytes(), "tensor \"" + tensor.name + "\"");
  if (!buffer) return buffer.status();
  if (auto status =
          read_exactly(file_->fd, path_, std::span(buffer->data(), buffer->size()), header_.data_begin + tensor.begin);
      !status) {
    return status;
  }
  return buffer;
}

Status write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                         const std::map<std::string, std::string>& metadata) {
  const auto order = order_of(tensors);
  const auto header = header_of(tensors, order, metadata);
  std::byte length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<std::byte>(static_cast<std::uint64_t>(header.size()) >> (8 * i));
  std::vector<std::span<const std::byte>> parts = {length, std::as_bytes(std::span(header))};
  for (const auto i : order) parts.emplace_back(static_cast<const std::byte*>(tensors[i].data), tensors[i].bytes);
  return write_file(path, parts);
}

}  // namespace tessera::cli
