#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run_missing.sh TWINCC DIR: what the twin lacks does not compile, and the compiler says so by name.
set -euo pipefail
twincc=$1
dir=$2/missing
mkdir -p "$dir"

refuses() {  # call, message
  cat > "$dir/missing.asc" <<KERNEL
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void missing(GM_ADDR x) {
  LocalTensor<float> a, b;
  LocalTensor<uint32_t> i;
  (void)x;
  $1
}
KERNEL
  if "$twincc" --device-check=off -c "$dir/missing.asc" -o "$dir/missing.o" > "$dir/said" 2>&1; then
    echo "compiled: $1"
    exit 1
  fi
  grep -qF "$2" "$dir/said" || { echo "said of $1:"; cat "$dir/said"; exit 1; }
}

refuses 'AscendQuant<bfloat16_t>(LocalTensor<int8_t>(), LocalTensor<bfloat16_t>(), 1.0f, 0.0f);' 'AscendQuant takes half and float on the 910B'
refuses 'Hccl<> hccl; (void)hccl;' 'AscendC::Hccl is not covered by the twin yet'
refuses 'MrgSort4(a, b);' 'AscendC::MrgSort4 does not exist on the 910B'
refuses 'And(a, a, b, 64);' 'And does not take these element types on the 910B'
echo "every missing name was named"
