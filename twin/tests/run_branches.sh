#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_branches.sh TWINCC FOLDER: the numbers in a kernel's source, and those of -D, are tried in place of skipped values, and
# the line that reads is named; without the branch on it the same read is silent.
set -eu
twincc=$1 dir=$2
mkdir -p "$dir"
cat >"$dir/branch.asc" <<'KERNEL'
#include "acl/acl.h"
#include "kernel_operator.h"
using namespace AscendC;
constexpr float kLow = 123.25f;
__global__ __aicore__ void branch(GM_ADDR x) {
  GlobalTensor<float> g;
  g.SetGlobalBuffer((__gm__ float*)x);
  LocalTensor<float> t(TPosition::VECCALC, 0, 64);
  DataCopy(t, g, 64);
  SetFlag<HardEvent::MTE2_S>(0);
  WaitFlag<HardEvent::MTE2_S>(0);
  const float v = t.GetValue(0);
  if (CONDITION) Adds(t, t, 1.0f, 64);
  PipeBarrier<PIPE_V>();
  Muls(t, t, v, 64);
}
int main() {
  void* x;
  aclrtMalloc(&x, 256, ACL_MEM_MALLOC_HUGE_FIRST);
  branch<<<1, nullptr, nullptr>>>((GM_ADDR)x);
}
KERNEL
for condition in "v > kLow && v < 123.5f" "v == LIMIT" "v > LIMIT - 1.0f && v < LIMIT" false; do
  "$twincc" "$dir/branch.asc" "-DCONDITION=$condition" -DLIMIT=77.125f -o "$dir/branch" --device-check=off
  if TWIN=timing-only "$dir/branch" >"$dir/branch.txt" 2>&1; then found=no; else found=yes; fi
  if [ "$condition" = false ]; then expected=no; else expected=yes; fi
  if [ $found != $expected ] || { [ $found = yes ] && ! grep -q "branch.asc:12: skipped-data: " "$dir/branch.txt"; }; then
    echo "CONDITION=$condition: found: $found"
    cat "$dir/branch.txt"
    exit 1
  fi
done
