// SPDX-License-Identifier: Apache-2.0
#include "runtime/candidates.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>

#include "runtime/cpu/machine.hpp"

namespace tessera::cpu {
#define TESSERA_ISA(name)            \
  namespace name {                   \
  const KernelTable& kernel_table(); \
  }
#include "cpu/kernels/kernels.inc"
#undef TESSERA_ISA
}  // namespace tessera::cpu

namespace tessera::runtime {
namespace {

constexpr std::size_t kCount = 1
#define TESSERA_ISA(name) +1
#include "cpu/kernels/kernels.inc"
#undef TESSERA_ISA
    ;

struct List {
  std::array<Candidate, kCount> candidates;
  std::array<ImplementationInfo, kCount> infos;
  std::array<std::array<char, 64>, kCount> reasons;
};

std::string_view say_missing(std::array<char, 64>& buffer, std::string_view feature) noexcept {
  std::string_view text = "this processor or system lacks ";
  std::size_t n = 0;
  for (const std::string_view part : {text, feature}) {
    for (char c : part) {
      if (n < buffer.size()) buffer[n++] = c;
    }
  }
  return {buffer.data(), n};
}

/// Built once and in place: nothing is allocated, so nothing can fail.
const List& list() noexcept {
  static List list;
  static const bool built = [] {
    std::size_t n = 0;
    const auto add = [&](std::string_view name, std::string_view backend, const cpu::KernelTable* table) {
      const std::string_view missing = table ? missing_for(name) : std::string_view{};
      ImplementationInfo info{name, backend, missing.empty(), {}};
      if (!missing.empty()) info.reason = say_missing(list.reasons[n], missing);
      list.candidates[n] = {info, table};
      list.infos[n++] = info;
    };
#define TESSERA_ISA(name) add(#name, "cpu", &cpu::name::kernel_table());
#include "cpu/kernels/kernels.inc"
#undef TESSERA_ISA
    add("reference", "reference", nullptr);
    return true;
  }();
  (void)built;
  return list;
}

std::atomic<const Candidate*> g_forced{nullptr};

Status check_available(const Candidate& candidate, std::string_view who) {
  if (candidate.info.available) return {};
  return Status::unsupported(std::string(who) + ": \"" + std::string(candidate.info.name) +
                             "\" cannot run here: " + std::string(candidate.info.reason));
}

}  // namespace

std::span<const Candidate> candidates() noexcept { return list().candidates; }

Result<const Candidate*> find_candidate(std::string_view name, std::string_view who) {
  for (const Candidate& c : candidates()) {
    if (c.info.name == name) return &c;
  }
  std::string names;
  for (const Candidate& c : candidates()) {
    names += (names.empty() ? "" : ", ") + std::string(c.info.name);
  }
  return Status::invalid(std::string(who) + ": there is no implementation \"" + std::string(name) + "\"; there are " +
                         names);
}

Result<const Candidate*> forced_candidate(std::string_view option) {
  const char* variable = std::getenv("TESSERA_FORCE_IMPL");
  std::string_view name = option, who = "implementation";
  if (option.empty()) {
    if (const Candidate* forced = g_forced.load(std::memory_order_acquire)) return forced;
    if (variable == nullptr || *variable == 0) return nullptr;
    name = variable, who = "TESSERA_FORCE_IMPL";
  }
  auto found = find_candidate(name, who);
  if (!found) return found;
  if (Status status = check_available(**found, who); !status) return status;
  return found;
}

}  // namespace tessera::runtime

namespace tessera {

std::span<const ImplementationInfo> implementations() noexcept { return runtime::list().infos; }

Status force_implementation(std::string_view name) {
  if (name.empty()) {
    runtime::g_forced.store(nullptr, std::memory_order_release);
    return {};
  }
  const auto found = runtime::find_candidate(name, "force_implementation");
  if (!found) return found.status();
  if (Status status = runtime::check_available(**found, "force_implementation"); !status) return status;
  runtime::g_forced.store(*found, std::memory_order_release);
  return {};
}

}  // namespace tessera
