// SPDX-License-Identifier: Apache-2.0
// The ordered list of implementations, each with what runs it.
#pragma once

#include <span>

#include "cpu/kernels/kernel.hpp"
#include "tessera/implementations.hpp"

namespace tessera::runtime {

struct Candidate {
  ImplementationInfo info;
  const cpu::KernelTable* table = nullptr;  // null: the reference
};

std::span<const Candidate> candidates() noexcept;

/// The candidate of that name, or an error that lists the names. `who` is the argument that gave the name.
Result<const Candidate*> find_candidate(std::string_view name, std::string_view who);

/// The only candidate to try, or null for all: from the option, force_implementation or TESSERA_FORCE_IMPL, in this order.
Result<const Candidate*> forced_candidate(std::string_view option);

}  // namespace tessera::runtime
