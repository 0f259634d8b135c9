// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "capi/capi.hpp"

namespace tessera::capi {
namespace {

Status check_reserved(std::int32_t reserved, std::string_view name) {
  if (reserved == 0) return {};
  return Status::invalid(std::string(name) + ".reserved is " + std::to_string(reserved) + ", 0 was expected");
}

Result<AttentionTensors> to_tensors(const tessera_tensors* tensors, bool has_bias) {
  const Result<tessera_tensors> known = read_struct(tensors, "tensors");
  if (!known) return known.status();
  const tessera_tensors& from = *known;
  if (Status status = check_reserved(from.reserved, "tensors"); !status) return status;
  AttentionTensors to;
  to.q = to_tensor(from.q);
  to.k = to_tensor(from.k);
  to.v = to_tensor(from.v);
  to.o = to_tensor(from.o);
  to.lse = from.lse;
  to.block_table = from.block_table;
  to.block_table_stride = from.block_table_stride;
  to.num_pages = from.num_pages;
  to.alibi_slopes = from.alibi_slopes;
  to.sink = from.sink;
  to.bias.data = from.bias;
  to.mask.data = from.mask;
  if (has_bias) {
    const Result<DType> dtype = to_dtype(from.bias_dtype, "tensors.bias_dtype");
    if (!dtype) return dtype.status();
    to.bias.dtype = *dtype;
  }
  std::copy_n(from.bias_strides, 4, to.bias.strides);
  std::copy_n(from.mask_strides, 4, to.mask.strides);
  return to;
}

tessera_tensors default_tensors() noexcept {
  tessera_tensors t = {};
  t.bias_strides[3] = t.mask_strides[3] = 1;
  return t;
}

tessera_const_tensor from_tensor(const ConstTensor& t) noexcept {
  return {t.data, t.strides.outer, t.strides.seq, t.strides.head};
}

}  // namespace

Status check_executor(const tessera_executor* executor, std::string_view name) {
  if (executor == nullptr) return {};
  if (executor->concurrency == nullptr) return null_argument(std::string(name) + ".concurrency");
  if (executor->parallel == nullptr) return null_argument(std::string(name) + ".parallel");
  return {};
}

}  // namespace tessera::capi

namespace capi = tessera::capi;
using tessera::Status;

extern "C" {

void tessera_plan_options_init(tessera_plan_options* options, size_t struct_size) {
  capi::init_struct(tessera_plan_options{}, options, struct_size);
}

tessera_code tessera_plan_create(const tessera_problem* problem, const tessera_plan_options* options, tessera_plan** plan,
                                 tessera_error* error) {
  return capi::fenced(error, [&]() -> Status {
    if (plan == nullptr) return capi::null_argument("plan");
    *plan = nullptr;
    if (problem == nullptr) return capi::null_argument("problem");
    const tessera::Result<tessera_plan_options> known = capi::read_options(options, "options");
    if (!known) return known.status();
    if (Status status = capi::check_reserved(known->reserved, "options"); !status) return status;
    tessera::PlanOptions wanted;
    wanted.max_threads = known->max_threads;
    if (known->implementation != nullptr) wanted.implementation = known->implementation;
    tessera::Result<tessera::Plan> made = tessera::plan(problem->value, wanted);
    if (!made) return made.status();
    std::string name(made->implementation());
    *plan = new tessera_plan{std::move(made).value(), std::move(name)};
    return {};
  });
}

void tessera_plan_destroy(tessera_plan* plan) { delete plan; }

size_t tessera_plan_workspace_bytes(const tessera_plan* plan) { return plan == nullptr ? 0 : plan->value.workspace_bytes(); }

int tessera_plan_max_threads(const tessera_plan* plan) { return plan == nullptr ? 0 : plan->value.max_threads(); }

const char* tessera_plan_implementation(const tessera_plan* plan) {
  return plan == nullptr ? "" : plan->implementation.c_str();
}

tessera_code tessera_plan_explain(const tessera_plan* plan, int32_t format, char* buffer, size_t buffer_bytes,
                                  size_t* needed_bytes, tessera_error* error) {
  return capi::fenced(error, [&]() -> Status {
    if (plan == nullptr) return capi::null_argument("plan");
    if (format != TESSERA_TEXT && format != TESSERA_JSON) {
      return Status::invalid("format is " + std::to_string(format) + ", which is neither TESSERA_TEXT nor TESSERA_JSON");
    }
    return capi::write_text(format == TESSERA_TEXT ? plan->value.explain() : plan->value.explain_json(), buffer,
                            buffer_bytes, needed_bytes);
  });
}

void tessera_tensors_init(tessera_tensors* tensors, size_t struct_size) {
  capi::init_struct(capi::default_tensors(), tensors, struct_size);
}

tessera_code tessera_tensors_packed(const tessera_problem* problem, const void* q, const void* k, const void* v, void* o,
                                    float* lse, tessera_tensors* tensors, tessera_error* error) {
  return capi::fenced(error, [&]() -> Status {
    if (problem == nullptr) return capi::null_argument("problem");
    if (Status status = capi::check_struct_size(tensors, "tensors"); !status) return status;
    const tessera::AttentionTensors packed = tessera::packed_tensors(problem->value, q, k, v, o, lse);
    tessera_tensors t = capi::default_tensors();
    t.q = capi::from_tensor(packed.q);
    t.k = capi::from_tensor(packed.k);
    t.v = capi::from_tensor(packed.v);
    t.o = {packed.o.data, packed.o.strides.outer, packed.o.strides.seq, packed.o.strides.head};
    t.lse = packed.lse;
    capi::write_struct(t, tensors, tensors->struct_size);
    return {};
  });
}

void tessera_run_options_init(tessera_run_options* options, size_t struct_size) {
  capi::init_struct(tessera_run_options{}, options, struct_size);
}

tessera_code tessera_run(const tessera_plan* plan, const tessera_tensors* tensors, void* workspace, size_t workspace_bytes,
                         const tessera_run_options* options, tessera_error* error) {
  return capi::fenced(error, [&]() -> Status {
    if (plan == nullptr) return capi::null_argument("plan");
    const tessera::Result<tessera::AttentionTensors> views = capi::to_tensors(tensors, plan->value.problem().has_bias);
    if (!views) return views.status();
    const tessera::Result<tessera_run_options> known = capi::read_options(options, "options");
    if (!known) return known.status();
    if (Status status = capi::check_reserved(known->reserved, "options"); !status) return status;
    if (Status status = capi::check_executor(known->executor, "options.executor"); !status) return status;
    capi::BorrowedExecutor borrowed(known->executor == nullptr ? tessera_executor{} : *known->executor);
    tessera::RunOptions wanted;
    wanted.num_threads = known->num_threads;
    wanted.executor = known->executor == nullptr ? nullptr : &borrowed;
    return plan->value.run(*views, workspace, workspace_bytes, wanted);
  });
}

tessera_code tessera_attention(const tessera_problem* problem, const tessera_tensors* tensors, tessera_error* error) {
  return capi::fenced(error, [&]() -> Status {
    if (problem == nullptr) return capi::null_argument("problem");
    const tessera::Result<tessera::AttentionTensors> views = capi::to_tensors(tensors, problem->value.has_bias);
    if (!views) return views.status();
    return tessera::attention(problem->value, *views);
  });
}

}  // extern "C"
