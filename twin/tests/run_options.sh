#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_options.sh TWINCC FOLDER: options that change how a source is read: a kernel's type by a macro of a header that -include
# or -isystem brings, and -g, with which gdb stops at every line of a kernel in turn.
set -eu
twincc=$1 dir=$2
mkdir -p "$dir/system/inner"
cat >"$dir/kernel.asc" <<'KERNEL'
#include "acl/acl.h"
#include "kernel_operator.h"
#ifdef BY_SYSTEM
#include <outer.h>
#endif
using namespace AscendC;
__global__ __aicore__ void kernel(GM_ADDR x) {
  OP_TYPE();
  LocalTensor<float> t(TPosition::VECCALC, 0, 64);
  Duplicate(t, 1.0f, 64);
  SyncAll();
}
int main() {
  kernel<<<48, nullptr, nullptr>>>(nullptr);
}
KERNEL
echo '#include "inner/inner.h"' >"$dir/system/outer.h"
echo '#define OP_TYPE() SAID(KERNEL_TYPE_MIX_AIV_1_0)' >"$dir/system/inner/inner.h"
echo '#define SAID(type) KERNEL_TASK_TYPE_DEFAULT(type)' >>"$dir/system/inner/inner.h"
for options in "-isystem $dir/system -DBY_SYSTEM" "-isystem$dir/system -DBY_SYSTEM" "-include $dir/system/outer.h" "-include outer.h -isystem $dir/system"; do
  # shellcheck disable=SC2086 # several options
  "$twincc" "$dir/kernel.asc" $options -o "$dir/kernel" --device-check=off
  "$dir/kernel" >"$dir/kernel.txt" 2>&1 || { echo "$options: the type is not seen"; cat "$dir/kernel.txt"; exit 1; }
done

command -v gdb >/dev/null || { echo "no gdb: not stepped"; exit 0; }
cat >"$dir/steps.asc" <<'KERNEL'
#include "acl/acl.h"
#include "kernel_operator.h"
using namespace AscendC;
__aicore__ inline float Half(float v) {
  float half = v / 2;
  return half;
}
__global__ __aicore__ void steps(GM_ADDR x, int n) {
  LocalTensor<float> t(TPosition::VECCALC, 0, 64);
  float sum = 0;
  for (int i = 0; i < 2; ++i) {
    sum += 1;
    sum = Half(sum);
  }
  int count = n + 1;
  Duplicate(t, sum, 64);
  PipeBarrier<PIPE_V>();
  Adds(t, t, 1.0f, 64);
  count = 2;
  PipeBarrier<PIPE_ALL>();
}
int main() {
  steps<<<1, nullptr, nullptr>>>(nullptr, 6);
}
KERNEL
lines="9 10 11 12 13 11 12 13 11 15 16 17 18 19 20 21"
"$twincc" -g "$dir/steps.asc" -o "$dir/steps" --device-check=off
{
  echo "set debuginfod enabled off"
  echo "break steps.asc:9"
  echo run
  for line in $lines; do printf 'echo @\nframe\nnext\n'; done
} >"$dir/steps.gdb"
gdb -q -batch -x "$dir/steps.gdb" "$dir/steps" >"$dir/steps.txt" 2>&1 || true
seen=$(sed -n 's/^@#0 .*steps.asc:\([0-9]*\)$/\1/p' "$dir/steps.txt" | tr '\n' ' ')
[ "$seen" = "$lines " ] || { echo "gdb stops at lines $seen"; echo "not at        $lines"; cat "$dir/steps.txt"; exit 1; }
