/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface: a problem, a plan, a workspace, a run. Four queries see themselves and what came before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tessera/tessera.h"

enum { kQueries = 4, kHeads = 2, kDim = 8, kElems = kQueries * kHeads * kDim };

static int failed(const char* what, const tessera_error* error) {
  fprintf(stderr, "%s: %s\n", what, error->message);
  return 1;
}

int main(void) {
  float q[kElems] = {0}, k[kElems] = {0}, v[kElems], o[kElems], lse[kHeads * kQueries];
  tessera_problem* problem = NULL;
  tessera_plan* plan = NULL;
  tessera_error error;
  tessera_tensors tensors;
  int i;

  for (i = 0; i < kElems; ++i) v[i] = (float)(i / (kHeads * kDim)); /* V[j] = j */
  if (tessera_problem_parse("f32 hq2 hkv2 d8 sq4 skv4 causal", &problem, &error) != TESSERA_OK)
    return failed("problem", &error);
  if (tessera_plan_create(problem, NULL, &plan, &error) != TESSERA_OK) return failed("plan", &error);
  tensors.struct_size = sizeof tensors;
  if (tessera_tensors_packed(problem, q, k, v, o, lse, &tensors, &error) != TESSERA_OK) return failed("tensors", &error);

  /* Room for the workspace, and for moving its start up to the alignment. */
  const size_t bytes = tessera_plan_workspace_bytes(plan);
  void* memory = malloc(bytes + TESSERA_WORKSPACE_ALIGNMENT);
  if (memory == NULL) return 1;
  const size_t off = (size_t)((uintptr_t)memory % TESSERA_WORKSPACE_ALIGNMENT);
  void* workspace = (char*)memory + (TESSERA_WORKSPACE_ALIGNMENT - off);
  if (tessera_run(plan, &tensors, workspace, bytes, NULL, &error) != TESSERA_OK) return failed("run", &error);

  printf("%s:", tessera_plan_implementation(plan));
  for (i = 0; i < kQueries; ++i) printf(" %.2f", (double)o[i * kHeads * kDim]); /* q = 0: means of 0; 0 1; 0 1 2; ... */
  printf("\n");
  for (i = 0; i < kQueries; ++i) {
    if (fabs((double)o[i * kHeads * kDim] - i / 2.0) > 1e-6) return 1;
  }
  free(memory);
  tessera_plan_destroy(plan);
  tessera_problem_destroy(problem);
  return 0;
}
