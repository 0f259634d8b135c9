/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface of Tessera (C99): plan, then run. Every function is thread-safe and keeps no state between calls;
 * nothing throws, prints or aborts.
 *
 * Errors. A function that can fail returns a tessera_code and takes `tessera_error* error` as its last argument: null, or
 * where to write a message that names the argument and the value. On success the message is empty. Every pointer is
 * checked for null before anything is read or written.
 *
 * Structs grow. Each struct of options begins with `struct_size`, which the caller sets to sizeof of the struct that he
 * was compiled with; the tessera_*_init functions do so and fill in defaults. A library that is older than its caller
 * refuses options that it does not know (TESSERA_UNSUPPORTED); it never drops one in silence.
 *
 * Handles. tessera_problem and tessera_plan are immutable once made: any number of threads may use one at the same time.
 * Destroying null is allowed.
 *
 * What attention computes, and the contracts (layouts, masks, empty rows, precision, invariance), are written at the
 * top of problem.hpp and attention.hpp and hold here as well. */
#ifndef TESSERA_TESSERA_H_
#define TESSERA_TESSERA_H_

#include <stddef.h>
#include <stdint.h>

#include "tessera/export.hpp"

#ifdef __cplusplus
extern "C" {
#endif

#define TESSERA_VERSION_MAJOR 0
#define TESSERA_VERSION_MINOR 1
#define TESSERA_VERSION_PATCH 0

/* "0.1.0": the version of the library that is linked, which may be newer than this header. */
TESSERA_EXPORT const char* tessera_version(void);

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

typedef enum tessera_code {
  TESSERA_OK = 0,
  TESSERA_INVALID = 1,       /* the caller's mistake; the message names the argument and the value */
  TESSERA_UNSUPPORTED = 2,   /* nobody here does it; the message says which part */
  TESSERA_OUT_OF_MEMORY = 3, /* an allocation was refused; nothing was lost */
  TESSERA_INTERNAL = 4       /* a defect, or an exception from a caller's executor; the message says which */
} tessera_code;

typedef struct tessera_error {
  char message[512]; /* ends with a zero; longer messages are cut */
} tessera_error;

/* ---- The problem: shapes, lengths, masks, layout of the KV cache ------------------------------------------------ */

/* Values of `dtype` fields: elements of q, k, v and o. Scores, softmax and sums are always float32. */
enum { TESSERA_F32 = 0, TESSERA_F16 = 1, TESSERA_BF16 = 2 };

/* Values of `alignment`: query i stands at i + seqlen_kv - seqlen_q, or at i. */
enum { TESSERA_BOTTOM_RIGHT = 0, TESSERA_TOP_LEFT = 1 };

/* Values of `kv_layout`. */
enum {
  TESSERA_KV_CONTIGUOUS = 0,        /* [batch, seqlen_kv, num_kv_heads, dim], or [total_kv, num_kv_heads, dim] */
  TESSERA_KV_PAGED_TOKEN_MAJOR = 1, /* [pages, page_size, num_kv_heads, dim] */
  TESSERA_KV_PAGED_HEAD_MAJOR = 2   /* [pages, num_kv_heads, page_size, dim] */
};

typedef struct tessera_problem_desc {
  size_t struct_size;
  int32_t dtype;        /* TESSERA_F32, _F16 or _BF16 */
  int32_t kv_layout;    /* TESSERA_KV_* */
  int64_t batch;        /* 1 to 2^31 - 2 */
  int64_t num_q_heads;  /* a multiple of num_kv_heads */
  int64_t num_kv_heads; /* query head h reads kv head h / (num_q_heads / num_kv_heads) */
  int64_t head_dim_qk;  /* 1 to 256 */
  int64_t head_dim_v;   /* 1 to 256 */
  int64_t seqlen_q;     /* queries of each sequence; unused with cu_seqlens_q */
  int64_t seqlen_kv;    /* keys of each sequence; with seqlens_kv the capacity of a padded cache */
  int64_t page_size;    /* tokens a page, paged layouts only; else 0 */

  const int32_t* cu_seqlens_q;  /* [batch + 1] or null: ragged queries, sequence b is rows [c[b], c[b + 1]) */
  const int32_t* cu_seqlens_kv; /* [batch + 1] or null: ragged keys, contiguous layout only */
  const int32_t* seqlens_kv;    /* [batch] or null: key length of each sequence */

  int32_t causal;       /* 0 or 1 */
  int32_t alignment;    /* TESSERA_BOTTOM_RIGHT or TESSERA_TOP_LEFT */
  int64_t window_left;  /* keys before the query's position that it may see; -1: all */
  int64_t window_right; /* keys after it; -1: all. With causal, min(window_right, 0) */
  double softmax_scale; /* NaN: 1 / sqrt(head_dim_qk); in [-1e30, 1e30] */
  double softcap;       /* 0: none; else in [1e-30, 1e30] */

  int32_t has_alibi; /* 0 or 1: the run is given alibi_slopes */
  int32_t has_sink;  /* 0 or 1: the run is given sink */
  int32_t has_bias;  /* 0 or 1: the run is given a bias */
  int32_t has_mask;  /* 0 or 1: the run is given a mask */

  int64_t kv_chunk; /* keys a chunk of split-KV; 0: the planner's choice */
} tessera_problem_desc;

/* Writes struct_size and the defaults: bf16, batch 1, one head of 128, one query, no key, contiguous, nothing masked.
 * `struct_size` is sizeof(tessera_problem_desc). Does nothing when `desc` is null. */
TESSERA_EXPORT void tessera_problem_desc_init(tessera_problem_desc* desc, size_t struct_size);

typedef struct tessera_problem tessera_problem;

/* Makes a problem of `desc`, whose arrays are copied. Each field is checked alone and against the others. */
TESSERA_EXPORT tessera_code tessera_problem_create(const tessera_problem_desc* desc, tessera_problem** problem,
                                                   tessera_error* error);

/* Makes a problem of a problem string, such as "bf16 b4 hq32 hkv8 d128 sq1 skv4096 causal page128". An unknown or
 * repeated token is an error that names it. */
TESSERA_EXPORT tessera_code tessera_problem_parse(const char* text, tessera_problem** problem, tessera_error* error);

TESSERA_EXPORT void tessera_problem_destroy(tessera_problem* problem);

/* Writes the fields of `problem` to `desc`, whose struct_size the caller has set. Arrays belong to `problem`. */
TESSERA_EXPORT tessera_code tessera_problem_describe(const tessera_problem* problem, tessera_problem_desc* desc,
                                                     tessera_error* error);

/* Writes the canonical problem string. Text is always written like this: at most `buffer_bytes` bytes with the closing
 * zero, and the bytes that the whole text needs to `needed_bytes`, unless null. `buffer` may be null when
 * `buffer_bytes` is 0. A buffer that is too small is no error: compare needed_bytes. */
TESSERA_EXPORT tessera_code tessera_problem_string(const tessera_problem* problem, char* buffer, size_t buffer_bytes,
                                                   size_t* needed_bytes, tessera_error* error);

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

/* The caller's own pool. Where a `const tessera_executor*` is null, the library's pool is used. */
typedef struct tessera_executor {
  void* self; /* first argument of both functions */
  /* How many tasks may run at once, 1 or more. */
  int (*concurrency)(void* self);
  /* Calls task(context, i) once for every i in [0, count), in any order, on any thread, and returns when all have
   * returned. Tasks never wait for one another, so a serial loop will do. Must not throw. */
  void (*parallel)(void* self, int count, void (*task)(void* context, int index), void* context);
} tessera_executor;

/* Writes the library's own pool: for tessera_merge, which stays on the calling thread when it is lent none. */
TESSERA_EXPORT tessera_code tessera_default_executor(tessera_executor* executor, tessera_error* error);

/* ---- The plan --------------------------------------------------------------------------------------------------- */

typedef struct tessera_plan_options {
  size_t struct_size;
  int32_t max_threads;        /* most threads of a run; 0: every core that the process may use */
  int32_t reserved;           /* 0 */
  const char* implementation; /* a name of tessera_implementation_at; null or empty: the first that accepts */
} tessera_plan_options;

/* Writes struct_size and the defaults. Does nothing when `options` is null. */
TESSERA_EXPORT void tessera_plan_options_init(tessera_plan_options* options, size_t struct_size);

typedef struct tessera_plan tessera_plan;

/* Sees shapes and lengths and does all thinking; a decoder calls it once a step and runs the plan once a layer. `options`
 * may be null. The plan keeps nothing of `problem`. */
TESSERA_EXPORT tessera_code tessera_plan_create(const tessera_problem* problem, const tessera_plan_options* options,
                                                tessera_plan** plan, tessera_error* error);

TESSERA_EXPORT void tessera_plan_destroy(tessera_plan* plan);

/* Bytes of workspace a run needs, for any number of threads up to tessera_plan_max_threads. Null: 0. */
TESSERA_EXPORT size_t tessera_plan_workspace_bytes(const tessera_plan* plan);

/* The most threads that a run of this plan may use. Null: 0. */
TESSERA_EXPORT int tessera_plan_max_threads(const tessera_plan* plan);

/* Name of the implementation that will run; lives as long as the plan. Null: "". */
TESSERA_EXPORT const char* tessera_plan_implementation(const tessera_plan* plan);

/* Values of `format`. */
enum { TESSERA_TEXT = 0, TESSERA_JSON = 1 };

/* Writes tiles, splits, work per thread, workspace, predicted time, and why; text as in tessera_problem_string. */
TESSERA_EXPORT tessera_code tessera_plan_explain(const tessera_plan* plan, int32_t format, char* buffer, size_t buffer_bytes,
                                                 size_t* needed_bytes, tessera_error* error);

/* ---- The run ---------------------------------------------------------------------------------------------------- */

/* Strides in elements of the outer three axes; the head dimension is contiguous. Zero broadcasts, negative is an error. */
typedef struct tessera_const_tensor {
  const void* data;
  int64_t stride_outer; /* batch (contiguous) or page (paged); unused by ragged tensors */
  int64_t stride_seq;   /* token */
  int64_t stride_head;
} tessera_const_tensor;

typedef struct tessera_tensor {
  void* data;
  int64_t stride_outer;
  int64_t stride_seq;
  int64_t stride_head;
} tessera_tensor;

typedef struct tessera_tensors {
  size_t struct_size;
  tessera_const_tensor q; /* [batch, seqlen_q, num_q_heads, head_dim_qk], or [total_q, num_q_heads, head_dim_qk] */
  tessera_const_tensor k; /* [..., num_kv_heads, head_dim_qk], the outer axes as kv_layout says */
  tessera_const_tensor v; /* [..., num_kv_heads, head_dim_v] */
  tessera_tensor o;       /* as q, with head_dim_v. Shares no byte with anything else here, nor do lse and workspace */
  float* lse;             /* null, or [batch, num_q_heads, seqlen_q] ([num_q_heads, total_q]), float32, natural log */

  const int32_t* block_table; /* paged only: [batch, block_table_stride], the page of each page_size tokens */
  int64_t block_table_stride; /* entries a sequence */
  int64_t num_pages;          /* live entries must be in [0, num_pages) */

  const float* alibi_slopes; /* [num_q_heads], positive, when the problem has them; else null */
  const float* sink;         /* [num_q_heads], when the problem has it; else null */

  const void* bias;        /* broadcast to [batch, num_q_heads, seqlen_q, seqlen_kv] */
  int32_t bias_dtype;      /* of the bias alone */
  int32_t reserved;        /* 0 */
  int64_t bias_strides[4]; /* in elements; zero broadcasts */
  const uint8_t* mask;     /* likewise; non-zero: the query may see the key */
  int64_t mask_strides[4];
} tessera_tensors;

/* Writes struct_size and all else zero or null, the last stride of bias and mask 1. Does nothing when null. */
TESSERA_EXPORT void tessera_tensors_init(tessera_tensors* tensors, size_t struct_size);

/* As tessera_tensors_init, then the pointers with the strides of packed tensors of `problem`. Pointers are not
 * followed and may be null here. `tensors->struct_size` must be set. */
TESSERA_EXPORT tessera_code tessera_tensors_packed(const tessera_problem* problem, const void* q, const void* k,
                                                   const void* v, void* o, float* lse, tessera_tensors* tensors,
                                                   tessera_error* error);

typedef struct tessera_run_options {
  size_t struct_size;
  int32_t num_threads;              /* 0: the plan's max_threads. More than that is an error */
  int32_t reserved;                 /* 0 */
  const tessera_executor* executor; /* null: the library's pool */
} tessera_run_options;

/* Writes struct_size and the defaults. Does nothing when `options` is null. */
TESSERA_EXPORT void tessera_run_options_init(tessera_run_options* options, size_t struct_size);

#define TESSERA_WORKSPACE_ALIGNMENT 64 /* bytes */

/* O and LSE of the plan's problem. Block tables and pointers are checked before anything is written. `workspace` has
 * at least tessera_plan_workspace_bytes and is aligned to TESSERA_WORKSPACE_ALIGNMENT; its contents are undefined
 * before and after. Allocates nothing on success, and may run in several threads at once, each with a workspace of its
 * own. `options` may be null. */
TESSERA_EXPORT tessera_code tessera_run(const tessera_plan* plan, const tessera_tensors* tensors, void* workspace,
                                        size_t workspace_bytes, const tessera_run_options* options, tessera_error* error);

/* Plans, allocates a workspace and runs, in one call. For scripts and tests. */
TESSERA_EXPORT tessera_code tessera_attention(const tessera_problem* problem, const tessera_tensors* tensors,
                                              tessera_error* error);

/* ---- Merging partial results ------------------------------------------------------------------------------------ */

typedef struct tessera_merge_desc {
  size_t struct_size;
  int32_t dtype;    /* of every o, in and out */
  int32_t reserved; /* 0 */
  int64_t batch;
  int64_t seqlen_q;
  int64_t num_q_heads;
  int64_t head_dim_v;
} tessera_merge_desc;

typedef struct tessera_partial {
  tessera_const_tensor o; /* [batch, seqlen_q, num_q_heads, head_dim_v] */
  const float* lse;       /* [batch, num_q_heads, seqlen_q], natural log; never null */
} tessera_partial;

/* lse = log(sum_i exp(lse_i)); o = sum_i exp(lse_i - lse) * o_i, in the order given, in float32. Merging x with an empty
 * partial (0, -inf) gives x, bit for bit. `lse` may be null; `o` and `lse` may be those of a partial. With a sink, give
 * it to one partial only. `executor` null: the calling thread; tessera_default_executor has the library's pool. */
TESSERA_EXPORT tessera_code tessera_merge(const tessera_merge_desc* desc, const tessera_partial* partials,
                                          size_t num_partials, const tessera_tensor* o, float* lse,
                                          const tessera_executor* executor, tessera_error* error);

/* ---- Implementations -------------------------------------------------------------------------------------------- */

typedef struct tessera_implementation {
  const char* name;    /* "avx512bf16", "avx512", "avx2", "portable", "reference" */
  const char* backend; /* "cpu" or "reference" */
  const char* reason;  /* why this machine cannot run it; "" when it can */
  int32_t available;   /* 1: this machine can run it */
  int32_t reserved;
} tessera_implementation;

TESSERA_EXPORT size_t tessera_implementation_count(void);

/* Writes the implementation of this index, best first. Strings live as long as the program. */
TESSERA_EXPORT tessera_code tessera_implementation_at(size_t index, tessera_implementation* implementation,
                                                      tessera_error* error);

/* Forces one implementation for plans made from now on, in the whole process; null or empty takes it back. The
 * environment variable TESSERA_FORCE_IMPL does the same from outside; tessera_plan_options for one plan. */
TESSERA_EXPORT tessera_code tessera_force_implementation(const char* name, tessera_error* error);

/* TESSERA_OK, or the one reason why `name` does not take `problem`. */
TESSERA_EXPORT tessera_code tessera_accepts(const char* name, const tessera_problem* problem, tessera_error* error);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_TESSERA_H_ */
