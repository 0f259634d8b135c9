// SPDX-License-Identifier: Apache-2.0
#include "unit.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include "literals.hpp"

namespace fs = std::filesystem;

namespace twincc {
namespace {

std::string line_mark(const fs::path& path) { return "#line 1 \"" + path.string() + "\"\n"; }

}  // namespace

bool Unit::mix() const {
  return any(&Source::names_core_kind) || (uses_cube() && uses_vector()) || starts_with(type(), "MixAic") || types_.mix();
}

bool Unit::serves_matmul() const {
  const bool cube_only = any(&Source::cube_only) || std::any_of(o_.flags.begin(), o_.flags.end(), [](const std::string& f) {
                           return f.find("ASCENDC_CUBE_ONLY") != std::string::npos;
                         });
  return any(&Source::uses_matmul) && !cube_only;
}

bool Unit::has_kernels() const {
  return std::any_of(all_.begin(), all_.end(), [](const auto& s) { return !s.second.kernels.empty(); });
}

bool Unit::is_device_line(const std::string& path, int line) const {
  const auto s = all_.find(fs::path(path).lexically_normal());
  return s != all_.end() && std::any_of(s->second.device_lines.begin(), s->second.device_lines.end(),
                                        [&](const auto& range) { return range.first <= line && line <= range.second; });
}

std::string Unit::type() const {
  std::set<std::string> types;
  for (const auto& [path, s] : all_) {
    if (!s.type.empty()) types.insert(s.type);
  }
  if (types_read_) types = types_.defaults();
  // The vendor's build of an operator project makes MIX_AIV_1_0 of a vector kernel that meets the others.
  if (types.empty() && !uses_cube() && any(&Source::meets_all) && any(&Source::takes_tiling)) return "MixAiv10";
  return engine_type(types.size() == 1 ? *types.begin() : "", uses_cube(), uses_vector());
}

std::vector<std::string> Unit::own_library_names() const {
  // Those that ascendc/ guards by TWIN_OWN_<name>: names of whole operators, and of constants that no page lists.
  static const std::set<std::string> kLibrary = {"PI",
                                                 "TWO",
                                                 "FULL_MASK",
                                                 "BRCB_BROADCAST_NUMBER",
                                                 "B8_BYTE_SIZE",
                                                 "B16_BYTE_SIZE",
                                                 "B32_BYTE_SIZE",
                                                 "B64_BYTE_SIZE",
                                                 "B16_DATA_NUM_PER_BLOCK",
                                                 "B32_DATA_NUM_PER_BLOCK",
                                                 "B16_DATA_NUM_PER_REPEAT",
                                                 "B32_DATA_NUM_PER_REPEAT",
                                                 "AdjustSoftMaxRes",
                                                 "BroadCast",
                                                 "Arange",
                                                 "Coord",
                                                 "CoreType",
                                                 "TransData",
                                                 "Stride",
                                                 "Shape",
                                                 "Layout",
                                                 "BatchNorm",
                                                 "DeepNorm",
                                                 "DropOut",
                                                 "GroupNorm",
                                                 "LayerNorm",
                                                 "LayerNormGrad",
                                                 "LayerNormGradBeta",
                                                 "LogSoftMax",
                                                 "Normalize",
                                                 "ReduceXorSum",
                                                 "RmsNorm",
                                                 "SoftmaxFlash",
                                                 "SoftmaxFlashV3",
                                                 "SoftmaxGrad",
                                                 "SoftmaxGradFront",
                                                 "TensorTrait",
                                                 "TopK",
                                                 "WelfordFinalize",
                                                 "WelfordUpdate"};
  std::set<std::string> own, called;
  for (const auto& [path, s] : all_) {
    for (const std::string& n : s.own_names) {
      if (kLibrary.count(n)) own.insert(n);
    }
    called.insert(s.qualified_names.begin(), s.qualified_names.end());
  }
  std::vector<std::string> out;
  std::set_difference(own.begin(), own.end(), called.begin(), called.end(), std::back_inserter(out));
  return out;
}

std::vector<Kernel> Unit::kernels() const {
  std::vector<Kernel> out;
  std::set<std::string> known;
  for (const auto& [path, s] : all_) {
    for (const Kernel& k : s.kernels) {
      if (k.defined && !k.in_macro && !k.is_template && known.insert(k.name).second) out.push_back(k);
    }
  }
  return out;
}

fs::path Unit::write() {
  // A file that includes a rewritten one by its place must lie beside it.
  std::set<fs::path> moved = {file_};
  for (const auto& [path, s] : all_) {
    if (s.changed) moved.insert(path);
  }
  for (bool more = true; more;) {
    more = false;
    for (const auto& [path, included] : includes_) {
      const bool has = std::any_of(included.begin(), included.end(), [&](const fs::path& i) { return moved.count(i) != 0; });
      more |= has && moved.insert(path).second;
    }
  }
  for (const fs::path& path : moved) {
    fs::path out = mirrored(path);
    if (path == file_) out += ".cpp";
    write_file(out, line_mark(path) + all_[path].text + (path == file_ ? "\n" + literals() : ""));
    if (std::find(mirrored_folders_.begin(), mirrored_folders_.end(), path.parent_path()) == mirrored_folders_.end())
      mirrored_folders_.push_back(path.parent_path());
  }
  fs::path out = mirrored(file_);
  return out += ".cpp";
}

std::string Unit::literals() const {
  if (!has_kernels()) return "";
  std::string text[2];  // of code for the device, of all other
  std::set<double> known[2];
  const auto add = [&](int which, double value) {
    if (!known[which].insert(value).second || known[which].size() > 200) return;
    char digits[32];
    std::snprintf(digits, sizeof digits, "%s%.17g", text[which].empty() ? "" : ", ", value);
    text[which] += digits;
  };
  for (const auto& [path, s] : all_) {
    for (const auto& [line, value] : s.literals) add(is_device_line(path.string(), line) ? 0 : 1, value);
  }
  for (const std::string& definition : definitions()) {
    for (const auto& [line, value] : literals_of(Words(definition))) add(1, value);
  }
  return "#ifndef TWIN_DEVICE_CHECK\nnamespace {\n[[maybe_unused]] const bool twin_literals = ::twin::register_literals({" +
         text[0] + "}, {" + text[1] + "});\n}\n#endif\n";
}

std::vector<std::string> Unit::search_options() const {
  std::vector<std::string> out = {"-iquote", file_.parent_path().string()};
  for (const fs::path& folder : mirrored_folders_) {
    if (folder != file_.parent_path()) out.insert(out.end(), {"-iquote", folder.string()});
  }
  // A header found through -I is taken from the work folder if it was rewritten.
  for (const fs::path& dir : o_.include_dirs) {
    const fs::path copy = mirrored(fs::absolute(dir).lexically_normal());
    std::error_code error;
    if (fs::exists(copy, error)) out.push_back("-I" + copy.string());
  }
  return out;
}

bool Unit::any(bool Source::*what) const {
  return std::any_of(all_.begin(), all_.end(), [&](const auto& s) { return s.second.*what; });
}

}  // namespace twincc
