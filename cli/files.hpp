// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "tessera/types.hpp"

namespace tessera::cli {

/// Writes the parts, one after the other, to a temporary file beside `path`, then renames it. An existing regular file is
/// replaced; anything else at `path` (a device, a folder) is an error. SIGINT, SIGTERM and SIGHUP leave no temporary file.
Status write_file(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts);
Status write_file(const std::filesystem::path& path, std::string_view text);

/// Whether write_file could begin: said before work that takes long, not after it. `path` is left as it is.
Status check_writable(const std::filesystem::path& path);

/// The same, for the output of a command: also an error where it is one of the inputs. An empty name is no output.
Status check_output(const std::string& output, std::span<const std::string> inputs);

/// Fills `to` from `offset` of an open file; a file that is too short is an error.
Status read_exactly(int fd, const std::filesystem::path& path, std::span<std::byte> to, std::uint64_t offset);

/// "path: what: reason of the last system error".
Status system_error(const std::filesystem::path& path, std::string_view what);

}  // namespace tessera::cli
