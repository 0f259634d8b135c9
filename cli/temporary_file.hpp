// SPDX-License-Identifier: Apache-2.0
// A file that becomes another one when it is whole, and vanishes when it does not come to that.
#pragma once

#include <string>

namespace tessera::cli {

/// A new file beside `target`, open for writing. It is removed unless `keep` succeeds: by the destructor, and by SIGINT,
/// SIGTERM and SIGHUP, which end the process as they would have. One at a time in a process.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// -1: it could not be made, and errno says why.
  int fd() const noexcept { return fd_; }

  /// Closes it, and gives it the name of the target. On false errno says why.
  bool keep();

 private:
  std::string target_, name_;
  int fd_ = -1;
};

}  // namespace tessera::cli
