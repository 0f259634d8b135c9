// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <cstdio>
#include <cstdlib>

#include "code_lines.hpp"

namespace twin {
namespace {

std::map<std::string, Registered>& kernels() {
  static auto* all = new std::map<std::string, Registered>;
  return *all;
}
// By name and tiling key; key -1 is for all that are not there. With its file behind it the name comes first.
using NameAndKey = std::pair<std::string, std::int64_t>;
std::map<NameAndKey, KernelType>& kernel_types() {
  static auto* all = new std::map<NameAndKey, KernelType>;
  return *all;
}

}  // namespace

const Registered& registered(const char* spelling) { return kernels()[spelling]; }

KernelType kernel_type(const std::string& name, const std::string& unit) {
  const std::string plain = name.substr(0, name.find('<'));
  const auto colon = plain.rfind(':');
  const std::string last = colon == std::string::npos ? plain : plain.substr(colon + 1);
  for (const std::string& n : {last + unit, name, last}) {
    for (const std::int64_t key : {static_cast<std::int64_t>(tiling_key()), std::int64_t{-1}}) {
      const auto type = kernel_types().find({n, key});
      if (type != kernel_types().end()) return type->second;
    }
  }
  return KernelType::Unset;
}

// "k<float>" out of how GCC or clang print twin::Launch's arguments.
std::string kernel_name(const std::string& spelling_and_unit) {
  const std::string spelling = spelling_and_unit.substr(0, spelling_and_unit.find(kUnitFollows));
  auto at = spelling.rfind("kKernel = &");
  std::size_t skip = 11;
  if (at == std::string::npos) {
    at = spelling.rfind(") = ");
    skip = 4;
  }
  if (at == std::string::npos) return spelling;
  std::string name = spelling.substr(at + skip);
  name = name.substr(0, name.find_last_of("]"));
  name = name.substr(0, name.find(';'));
  const std::size_t renamed = name.find("twin_kernel_");  // by twincc, since C has a function of its name
  return renamed == std::string::npos ? name : name.erase(renamed, std::strlen("twin_kernel_"));
}

std::string kernel_spelling(const char* pretty, const char* unit) {
  const std::string name = pretty;
  return name.find("anonymous") == std::string::npos ? name : name + kUnitFollows + unit;
}

bool register_kernel(const char* kernel, Pass pass, Invoke invoke, InvokeByName by_name, const char* this_header) {
  headers_lie_at(this_header);
  Registered& r = kernels()[kernel];
  r.invoke[int(pass)] = invoke;
  if (pass == Pass::Host) r.by_name = by_name;
  return true;
}

bool register_kernel_type(const char* name, KernelType type, std::int64_t tiling_key, const char* unit) {
  kernel_types()[{name, tiling_key}] = type;
  kernel_types()[{std::string(name) + kUnitFollows + unit, tiling_key}] = type;
  return true;
}

std::uint32_t launch_by_name(const char* name, void (*)(), BlocksAt at, std::initializer_list<Argument> arguments) {
  const char* wrong = "no kernel of that name is linked";
  for (const auto& [spelling, kernel] : kernels()) {
    const std::string known = kernel_name(spelling);
    if (known != name && known.substr(known.rfind(':') + 1) != name) continue;
    wrong = kernel.by_name(arguments.begin(), arguments.size(), at);
    if (!wrong) return 0;
  }
  std::fprintf(stderr, "twin: %s: ACLRT_LAUNCH_KERNEL(%s): %s\n", to_string(at.site).c_str(), name, wrong);
  std::exit(2);
}

}  // namespace twin
