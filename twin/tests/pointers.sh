#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pointers.sh TWINCC FOLDER: accesses through pointers into GM in programs that twincc makes: with each compiler and level, in two
# steps, without debug information, and where the twin is not to look.
set -eu
twincc=$1 dir=$2
mkdir -p "$dir"
cat >"$dir/pointers.asc" <<'KERNEL'
#include "acl/acl.h"
#include "kernel_operator.h"
#include <cstdlib>
#include <cstring>
using namespace AscendC;
struct Tiling {
  uint32_t n[40];
};
__aicore__ inline uint32_t word(__gm__ uint32_t* p, int i) {
  return p[i];  // LINE word
}
__global__ __aicore__ void reads(GM_ADDR x, GM_ADDR y, int what, int n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
  auto* in = (__gm__ uint32_t*)x;
  auto* out = (__gm__ uint32_t*)y;
  if ASCEND_IS_AIC return;
  if (what == 0) out[0] = word(in, n) + in[1];
  if (what == 1) {
    Tiling t = *(__gm__ Tiling*)(x + 4 * (n - 16));  // LINE struct
    uint32_t sum = 0;
    for (int i = 0; i < 40; ++i) sum += t.n[(i * n) % 40];
    out[0] = sum;
  }
  if (what == 2) {
    for (int i = 0; i < 40; ++i) out[n + i] = in[i];  // LINE loop
  }
  if (what == 3) *(volatile uint32_t*)(uintptr_t)word(in, n) = 1;  // outside of every allocation it is null
}
int main(int, char** argv) {
  void *x, *y;
  uint32_t host[64] = {1, 2, 3};
  aclrtMalloc(&x, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMalloc(&y, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemcpy(x, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE);
  reads<<<1, nullptr, nullptr>>>(x, y, atoi(argv[1]), atoi(argv[2]));
}
KERNEL
line() { grep -n "LINE $1\$" "$dir/pointers.asc" | cut -d: -f1; }
finds() { # program, arguments, what its report says
  if TWIN=timing=off "$dir/$1" $2 >"$dir/said.txt" 2>&1 || ! grep -q -F "$3" "$dir/said.txt" || ! grep -q "^twin: 1 finding" "$dir/said.txt"; then
    echo "$1 $2: not one finding with: $3"
    cat "$dir/said.txt"
    exit 1
  fi
}
silent() { # program, arguments
  "$dir/$1" $2 >"$dir/said.txt" 2>&1 && [ ! -s "$dir/said.txt" ] || {
    echo "$1 $2:"
    cat "$dir/said.txt"
    exit 1
  }
}
cycles() { TWIN=timing "$dir/$1" $2 2>&1 | sed -n 's/.*(\([0-9]*\) cycles).*/\1/p'; }
checked() { # program
  finds "$1" "0 64" "pointers.asc:$(line word): out-of-bounds: pointer load reads GM outside of every allocation"
  finds "$1" "1 44" "pointers.asc:$(line struct): out-of-bounds: pointer load reads"
  finds "$1" "2 30" "pointers.asc:$(line loop): out-of-bounds: pointer store writes"
  silent "$1" "0 63"
  silent "$1" "1 40"
  silent "$1" "2 24"
}
crashes() { # program: and prints what was found before
  finds "$1" "3 64" "pointers.asc:$(line word): out-of-bounds: pointer load reads GM outside of every allocation"
  grep -q "twin: the program ends with signal 11 (Segmentation fault); what was found before:" "$dir/said.txt"
}
make() { # program, options
  program=$1
  shift
  "$twincc" --device-check=off -Wall -Wextra -Werror "$@" "$dir/pointers.asc" -o "$dir/$program"
}
for compiler in g++ clang++; do
  command -v $compiler >/dev/null || continue
  for level in -O0 -O2; do
    make "pointers_$compiler$level" --cxx=$compiler $level
    checked "pointers_$compiler$level"
  done
done
# Two lines of 64 bytes and fourteen words more in them, read once; the same of what is written.
[ "$(cycles pointers_g++-O0 '2 0')" = "$(cycles pointers_g++-O2 '2 0')" ] || { echo "the time depends on the compiler's level"; exit 1; }

"$twincc" --device-check=off -Og -fno-pie -c "$dir/pointers.asc" -o "$dir/pointers.o"
"$twincc" -no-pie "$dir/pointers.o" -o "$dir/pointers_apart"
checked pointers_apart
crashes pointers_apart
make pointers_ubsan -fsanitize=undefined
checked pointers_ubsan
make pointers_nameless -g0
finds pointers_nameless "0 64" "(no line is known: -g would tell it, or a lower -O where the compiler has joined several): out-of-bounds: pointer load reads"

make pointers_unseen --no-gm-pointers
silent pointers_unseen "0 64"
[ "$(cycles pointers_unseen '2 0')" = 0 ]
