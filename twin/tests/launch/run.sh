#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh TWINCC FOLDER: one kernel, launched through ACLRT_LAUNCH_KERNEL and through ICPU_RUN_KF; and messages for what cannot be.
set -eu
here=$(dirname "$0")
"$1" -Wall -Wextra -Werror "$here/main.cpp" "$here/kernel.cpp" -o "$2/launch_acl" && "$2/launch_acl"
"$1" -Wall -Wextra -Werror "$here/cpu.cpp" "$here/kernel.cpp" -o "$2/launch_cpu" && "$2/launch_cpu"
refuses() { # message, source
  printf '#include "kernel_operator.h"\n__global__ void k(GM_ADDR x) { (void)x; %s }\nint main() { k<<<1, nullptr, nullptr>>>(nullptr); }\n' "$2" >"$dir/refused.asc"
  if "$twincc" "$dir/refused.asc" -o "$dir/refused" 2>"$dir/refused.txt"; then
    echo "compiled: $2"
    exit 1
  fi
  grep -q "$1" "$dir/refused.txt" || { cat "$dir/refused.txt"; exit 1; }
}
twincc=$1 dir=$2
refuses "AscendC::Sort32 is not covered by the twin yet" "AscendC::Sort32(1, 2);"
refuses "Exp does not take this element type on the 910B" "AscendC::LocalTensor<int32_t> t; AscendC::Exp(t, t, 8);"
refuses "the launch passes another number of arguments" "} void f() { k<<<1, nullptr, nullptr>>>(nullptr, nullptr);"
