// SPDX-License-Identifier: Apache-2.0
#include "tessera/merge.hpp"

#include <vector>

#include "capi/capi.hpp"

namespace capi = tessera::capi;
using tessera::Status;

extern "C" tessera_code tessera_default_executor(tessera_executor* executor, tessera_error* error) {
  return capi::fenced(error, [&]() -> Status {
    if (executor == nullptr) return capi::null_argument("executor");
    *executor = {&tessera::default_executor(),
                 [](void* self) { return static_cast<tessera::Executor*>(self)->concurrency(); },
                 [](void* self, int count, void (*task)(void*, int), void* context) {
                   static_cast<tessera::Executor*>(self)->parallel(count, task, context);
                 }};
    return {};
  });
}

extern "C" tessera_code tessera_merge(const tessera_merge_desc* desc, const tessera_partial* partials, size_t num_partials,
                                      const tessera_tensor* o, float* lse, const tessera_executor* executor,
                                      tessera_error* error) {
  return capi::fenced(error, [&]() -> Status {
    const tessera::Result<tessera_merge_desc> known = capi::read_struct(desc, "desc");
    if (!known) return known.status();
    if (known->reserved != 0) return Status::invalid("desc.reserved is " + std::to_string(known->reserved) + ", not 0");
    const tessera::Result<tessera::DType> dtype = capi::to_dtype(known->dtype, "desc.dtype");
    if (!dtype) return dtype.status();
    if (partials == nullptr) return capi::null_argument("partials");
    if (o == nullptr) return capi::null_argument("o");
    if (Status status = capi::check_executor(executor, "executor"); !status) return status;
    if (num_partials > std::vector<tessera::PartialResult>().max_size()) {
      return Status::invalid("num_partials is " + std::to_string(num_partials) + ", more than memory can hold");
    }
    std::vector<tessera::PartialResult> parts(num_partials);
    for (std::size_t i = 0; i < num_partials; ++i) parts[i] = {capi::to_tensor(partials[i].o), partials[i].lse};
    capi::BorrowedExecutor borrowed(executor == nullptr ? tessera_executor{} : *executor);
    return tessera::merge({*dtype, known->batch, known->seqlen_q, known->num_q_heads, known->head_dim_v}, parts,
                          capi::to_tensor(*o), lse, executor == nullptr ? nullptr : &borrowed);
  });
}
