// SPDX-License-Identifier: Apache-2.0
// One source with the headers that it includes by a path of its own, rewritten into the work folder.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "options.hpp"
#include "rewrite.hpp"
#include "types.hpp"

namespace twincc {

class Unit {
 public:
  // Reads the file and its headers; ends with a message where one cannot be rewritten.
  Unit(const Options& o, const std::filesystem::path& file, std::filesystem::path work);

  bool mix() const;
  bool uses_cube() const { return any(&Source::uses_cube) || any(&Source::uses_matmul); }
  bool uses_vector() const { return any(&Source::uses_vector) || serves_matmul(); }
  bool has_kernels() const;
  // A kernel's type is chosen by #if or given by a macro: before it is compiled take_types() must have what the
  // preprocessor makes of it.
  bool unclear_types() const { return any(&Source::unclear_types); }
  void take_types(TypeReader types) { types_ = std::move(types), types_read_ = true; }
  const TypeReader& types() const { return types_; }
  // The kernel type where a kernel does not name its own, in the engine's words.
  std::string type() const;
  // Definitions of kernels that a host file can name, in the file and in its headers, one for each name.
  std::vector<Kernel> kernels() const;
  // Names in #include "aclrtlaunch_NAME.h" whose header is nowhere.
  const std::vector<std::string>& launch_headers() const { return launch_headers_; }
  // Headers of the vendor that are included and that neither the user nor the twin has.
  const std::vector<std::string>& missing_headers() const { return missing_headers_; }
  // Functions of the library that must stay undeclared, since the unit gives their names to something of its own.
  std::vector<std::string> own_library_names() const;
  const std::filesystem::path& file() const { return file_; }
  // The line is part of a function for the device.
  bool is_device_line(const std::string& path, int line) const;

  // Writes what was changed; the source to compile. Afterwards search_options() finds its headers.
  std::filesystem::path write();
  std::vector<std::string> search_options() const;

 private:
  Source& load(const std::filesystem::path& path);
  void see_typing_macros();
  // A registration of the numbers in the sources, for the timing-only mode; "" without kernels.
  std::string literals() const;
  std::vector<std::string> definitions() const;  // of -D: NAME=words
  // Headers that are only read, since they are nobody's own: of -include and -isystem.
  void read_only(const std::filesystem::path& path);
  void headers(const Source& s, const std::filesystem::path& folder);
  bool any(bool Source::*what) const;
  // Vector cores call Matmul, and cube cores serve them.
  bool serves_matmul() const;
  // Where a rewritten file lies: the same path, below the work folder.
  std::filesystem::path mirrored(const std::filesystem::path& path) const { return work_ / "tree" / path.relative_path(); }

  const Options& o_;
  std::filesystem::path file_, work_;
  std::map<std::filesystem::path, Source> all_;
  std::map<std::filesystem::path, Source> read_only_;
  std::map<std::filesystem::path, std::vector<std::filesystem::path>> includes_;
  std::vector<std::filesystem::path> mirrored_folders_;
  TypeReader types_;
  bool types_read_ = false;
  std::vector<std::string> launch_headers_, missing_headers_;
};

// aclrtlaunch_NAME.h: for a kernel of the same command, and for one that is compiled in another.
std::string launch_header(const Kernel& kernel);
std::string launch_header(const std::string& name);
// In place of a header that the twin does not have: an error that says so, if it is really included.
std::string missing_header(const std::string& name);

}  // namespace twincc
