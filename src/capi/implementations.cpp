// SPDX-License-Identifier: Apache-2.0
#include "tessera/implementations.hpp"

#include <vector>

#include "capi/capi.hpp"

namespace tessera::capi {
namespace {

struct Names {
  std::string name, backend, reason;
};

/// Copies that end with a zero, made once.
const std::vector<Names>& names() {
  static const std::vector<Names> all = [] {
    std::vector<Names> made;
    for (const ImplementationInfo& info : implementations()) {
      made.push_back({std::string(info.name), std::string(info.backend), std::string(info.reason)});
    }
    return made;
  }();
  return all;
}

}  // namespace
}  // namespace tessera::capi

namespace capi = tessera::capi;
using tessera::Status;

extern "C" {

size_t tessera_implementation_count(void) { return tessera::implementations().size(); }

tessera_code tessera_implementation_at(size_t index, tessera_implementation* implementation, tessera_error* error) {
  return capi::fenced(error, [&]() -> Status {
    if (implementation == nullptr) return capi::null_argument("implementation");
    const auto all = tessera::implementations();
    if (index >= all.size()) {
      return Status::invalid("index is " + std::to_string(index) + ", and there are " + std::to_string(all.size()) +
                             " implementations");
    }
    const capi::Names& text = capi::names()[index];
    *implementation = {text.name.c_str(), text.backend.c_str(), text.reason.c_str(), all[index].available ? 1 : 0, 0};
    return {};
  });
}

tessera_code tessera_force_implementation(const char* name, tessera_error* error) {
  return capi::fenced(error, [&] { return tessera::force_implementation(name == nullptr ? "" : name); });
}

tessera_code tessera_accepts(const char* name, const tessera_problem* problem, tessera_error* error) {
  return capi::fenced(error, [&]() -> Status {
    if (name == nullptr) return capi::null_argument("name");
    if (problem == nullptr) return capi::null_argument("problem");
    return tessera::accepts(name, problem->value);
  });
}

}  // extern "C"
