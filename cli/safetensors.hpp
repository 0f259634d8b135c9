// SPDX-License-Identifier: Apache-2.0
// Files of named tensors in the safetensors format: 8 bytes of header length (little endian), a JSON header, the data.
// https://github.com/huggingface/safetensors#format. A file is not trusted: nothing is read out of bounds, and no
// allocation is larger than a small multiple of what the file really holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/types.hpp"

namespace tessera::cli {

inline constexpr std::uint64_t kMaxHeaderBytes = 16u << 20;  // 150 thousand tensors; the format's own limit is 100 MB
inline constexpr std::size_t kMaxRank = 16;

/// One tensor of a file. Bytes [begin, end) of the data section; `end - begin` is dtype times shape for a known dtype.
struct TensorInfo {
  std::string name;
  std::string dtype;  // as written: "F32", "BF16", "I64", ...; one that is not known is an error only when it is used
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t bytes() const noexcept { return end - begin; }
  std::int64_t elements() const noexcept;
  std::string shape_text() const;  // "[1, 1024, 9, 64]"
};

/// Bits of an element of a dtype of the format, or 0 when the name is not known.
int bits_of_dtype(std::string_view dtype) noexcept;

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;  // in the order of the header
  std::map<std::string, std::string> metadata;
  std::uint64_t data_begin = 0;  // of the data section, in the file

  const TensorInfo* find(std::string_view name) const noexcept;
};

/// The length of the header from the first 8 bytes of a file of `file_bytes` bytes.
Result<std::uint64_t> safetensors_header_length(std::span<const std::byte> prefix, std::uint64_t file_bytes);

/// Parses and checks the JSON of a header whose data section has `data_bytes` bytes: names are unique, offsets are
/// ordered, inside the section, without overlap or hole, and agree with dtype and shape.
Result<SafetensorsHeader> parse_safetensors_header(std::string_view json, std::uint64_t data_bytes);

/// The same for a whole file in memory; the entry for fuzzing.
Result<SafetensorsHeader> parse_safetensors(std::span<const std::byte> file);

/// Memory aligned to 64 bytes, for tensors and workspaces. Empty when the allocation was refused.
class AlignedBuffer {
 public:
  static Result<AlignedBuffer> make(std::size_t bytes, std::string_view what);
  AlignedBuffer() = default;

  std::byte* data() noexcept { return data_.get(); }
  const std::byte* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return size_; }
  template <class T>
  T* as() noexcept {
    return reinterpret_cast<T*>(data_.get());
  }
  template <class T>
  const T* as() const noexcept {
    return reinterpret_cast<const T*>(data_.get());
  }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

/// A file on disk: the header is read at once, a tensor's data when it is asked for.
class SafetensorsFile {
 public:
  static Result<SafetensorsFile> open(const std::filesystem::path& path);

  const SafetensorsHeader& header() const noexcept { return header_; }
  const std::filesystem::path& path() const noexcept { return path_; }
  Result<AlignedBuffer> load(const TensorInfo& tensor) const;

 private:
  struct Descriptor {
    explicit Descriptor(int fd) noexcept : fd(fd) {}
    ~Descriptor();
    int fd;
  };
  std::filesystem::path path_;
  std::shared_ptr<Descriptor> file_;
  SafetensorsHeader header_;
};

struct TensorToWrite {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  const void* data = nullptr;
  std::uint64_t bytes = 0;
};

/// Writes to a temporary file beside `path`, then renames it: the file is there whole or not at all. An existing
/// regular file is replaced; anything else at `path` (a device, a folder) is an error.
Status write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                         const std::map<std::string, std::string>& metadata);

}  // namespace tessera::cli
