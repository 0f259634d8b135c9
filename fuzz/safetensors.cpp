// SPDX-License-Identifier: Apache-2.0
// A hostile file never makes the reader look outside it; what it accepts keeps every promise of its header.
#include <cstddef>
#include <cstdint>
#include <span>

#include "cli/safetensors.hpp"
#include "fuzz/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto header = tessera::cli::parse_safetensors(std::as_bytes(std::span(data, size)));
  if (!header) {
    FUZZ_CHECK(!header.status().message().empty(), "an error without a message");
    return 0;
  }
  FUZZ_CHECK(header->data_begin <= size, "data begins at %llu of %zu", static_cast<unsigned long long>(header->data_begin),
             size);
  const std::uint64_t data_bytes = size - header->data_begin;
  for (const auto& tensor : header->tensors) {
    FUZZ_CHECK(tensor.begin <= tensor.end && tensor.end <= data_bytes, "'%s' lies outside the file", tensor.name.c_str());
    FUZZ_CHECK(header->find(tensor.name) == &tensor, "'%s' is not found", tensor.name.c_str());
    const int bits = tessera::cli::bits_of_dtype(tensor.dtype);
    if (bits == 0) continue;
    FUZZ_CHECK(
        static_cast<unsigned __int128>(tensor.elements()) * bits == static_cast<unsigned __int128>(tensor.bytes()) * 8,
        "'%s' %s has %llu bytes", tensor.name.c_str(), tensor.shape_text().c_str(),
        static_cast<unsigned long long>(tensor.bytes()));
  }
  return 0;
}
