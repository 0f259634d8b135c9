// SPDX-License-Identifier: Apache-2.0
// How a unit is read: the source, the headers that it includes by a path of its own, and the macros of all others.
#include <algorithm>
#include <set>

#include "unit.hpp"

namespace fs = std::filesystem;

namespace twincc {
namespace {

// Folders and names of the vendor's headers, as kernels and their host files include them.
bool is_vendors(const std::string& name) {
  for (const char* prefix :
       {"lib/", "adv_api/", "basic_api/", "kernel_tiling/", "tiling/", "register/", "exe_graph/", "graph/", "runtime/",
        "hccl/", "aclnn/", "aclnnop/", "experiment/", "kernel_operator_", "kernel_basic_", "acl/", "platform/"}) {
    if (starts_with(name, prefix) && name.find("..") == std::string::npos) return true;
  }
  return false;
}

// The first of the folders' files of this name; "" if there is none.
fs::path find_header(const std::vector<fs::path>& where, const std::string& name) {
  for (const fs::path& dir : where) {
    std::error_code error;
    const fs::path path = fs::absolute(dir / name).lexically_normal();
    if (fs::is_regular_file(path, error)) return path;
  }
  return {};
}

}  // namespace

Unit::Unit(const Options& o, const fs::path& file, fs::path work)
    : o_(o), file_(fs::absolute(file).lexically_normal()), work_(std::move(work)) {
  const Source& main = load(file_);
  headers(main, file_.parent_path());
  for (const std::string& name : o.included) {
    std::vector<fs::path> where = {"."};
    where.insert(where.end(), o.include_dirs.begin(), o.include_dirs.end());
    where.insert(where.end(), o.system_dirs.begin(), o.system_dirs.end());
    const fs::path path = find_header(where, name);
    if (!path.empty()) read_only(path);
  }
  see_typing_macros();
}

std::vector<std::string> Unit::definitions() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < o_.flags.size(); ++i) {
    const std::string& flag = o_.flags[i];
    if (!starts_with(flag, "-D")) continue;
    out.push_back(flag == "-D" && i + 1 < o_.flags.size() ? o_.flags[i + 1] : flag.substr(2));
  }
  return out;
}

Source& Unit::load(const fs::path& path) {
  Source s = rewrite(read_file(path));
  if (!s.error.empty()) fail(path.string() + ": " + s.error);
  return all_[path] = std::move(s);
}

// A macro of one file may give the type of a kernel in another.
void Unit::see_typing_macros() {
  std::map<std::string, std::set<std::string>> macros;
  for (const auto* sources : {&all_, &read_only_}) {
    for (const auto& [path, s] : *sources) {
      for (const auto& [name, words] : s.macros) macros[name].insert(words.begin(), words.end());
    }
  }
  for (const std::string& definition : definitions()) {
    const Words words(definition);
    for (std::size_t w = 1; w < words.tokens().size(); ++w) macros[words.text(0)].insert(words.text(w));
  }
  const std::set<std::string> typing = typing_macros(macros);
  if (typing.empty()) return;
  for (auto& [path, s] : all_) s = rewrite(read_file(path), typing);
}

void Unit::headers(const Source& s, const fs::path& folder) {
  const fs::path self = std::find_if(all_.begin(), all_.end(), [&](const auto& a) { return &a.second == &s; })->first;
  const std::vector<Include> includes = s.includes;
  for (const Include& include : includes) {
    std::vector<fs::path> where;
    if (include.quoted) where = {folder, file_.parent_path()};
    where.insert(where.end(), o_.include_dirs.begin(), o_.include_dirs.end());
    const fs::path path = find_header(where, include.name);
    const bool found = !path.empty();
    if (found) {
      includes_[self].push_back(path);
      if (!all_.count(path)) headers(load(path), path.parent_path());
    } else {
      read_only(find_header(o_.system_dirs, include.name));
    }
    const std::string name = fs::path(include.name).filename().string();
    std::error_code error;
    if (!found && is_vendors(include.name) && !fs::exists(include_home() / include.name, error))
      missing_headers_.push_back(include.name);
    if (!found && starts_with(name, "aclrtlaunch_") && ends_with(name, ".h"))
      launch_headers_.push_back(name.substr(12, name.size() - 14));
  }
}

void Unit::read_only(const fs::path& path) {
  if (path.empty() || all_.count(path) != 0 || read_only_.count(path) != 0) return;
  const std::vector<Include> includes = (read_only_[path] = rewrite(read_file(path))).includes;
  for (const Include& include : includes) {
    std::vector<fs::path> where;
    if (include.quoted) where.push_back(path.parent_path());
    where.insert(where.end(), o_.include_dirs.begin(), o_.include_dirs.end());
    where.insert(where.end(), o_.system_dirs.begin(), o_.system_dirs.end());
    read_only(find_header(where, include.name));
  }
}

}  // namespace twincc
