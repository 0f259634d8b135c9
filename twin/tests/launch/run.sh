#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh TWINCC FOLDER: one kernel, launched through ACLRT_LAUNCH_KERNEL and through ICPU_RUN_KF; and messages for what cannot be.
set -eu
here=$(dirname "$0")
"$1" --device-check=off -Wall -Wextra -Werror "$here/main.cpp" "$here/kernel.cpp" -o "$2/launch_acl" && "$2/launch_acl"
"$1" --device-check=off -Wall -Wextra -Werror "$here/cpu.cpp" "$here/kernel.cpp" -o "$2/launch_cpu" && "$2/launch_cpu"
refuses() { # message, source
  printf '#include "kernel_operator.h"\n__global__ void k(GM_ADDR x) { (void)x; %s }\nint main() { k<<<1, nullptr, nullptr>>>(nullptr); }\n' "$2" >"$dir/refused.asc"
  if "$twincc" --device-check=off "$dir/refused.asc" -o "$dir/refused" 2>"$dir/refused.txt"; then
    echo "compiled: $2"
    exit 1
  fi
  grep -q "$1" "$dir/refused.txt" || { cat "$dir/refused.txt"; exit 1; }
}
twincc=$1 dir=$2
missing=$(sed -n 's/^TWIN_MISSING(\(.*\))$/\1/p' "$here/../../include/ascendc/missing.inc" | head -1)
[ -z "$missing" ] || refuses "AscendC::$missing is not covered by the twin yet" "AscendC::$missing(1, 2);"
refuses "Exp does not take this element type on the 910B" "AscendC::LocalTensor<int32_t> t; AscendC::Exp(t, t, 8);"
refuses "the launch passes another number of arguments" "} void f() { k<<<1, nullptr, nullptr>>>(nullptr, nullptr);"
refuses "<lib/no_such_part.h> of the vendor is not in the twin" "
#include \"lib/no_such_part.h\"
"
refuses "Matmul: A and B are half, bfloat16_t, float, int8_t or int4b_t" "} 
#include \"lib/matmul_intf.h\"
void f() { using I = matmul::MatmulType<AscendC::TPosition::GM, CubeFormat::ND, int32_t>; matmul::Matmul<I, I, I> m;"
refuses "Matmul: with C of CO1 the kernel gives Iterate the tensor for its block" "} 
#include \"lib/matmul_intf.h\"
void f() { using H = matmul::MatmulType<AscendC::TPosition::TSCM, CubeFormat::NZ, half>;
using C = matmul::MatmulType<AscendC::TPosition::CO1, CubeFormat::NZ, float>; matmul::Matmul<H, H, C> m; m.Iterate();"

# Host and kernel compiled apart: the header that neither command can make in full still launches, and complaints name the kernel.
"$1" --device-check=off -c "$here/kernel.cpp" -o "$2/kernel.o"
"$1" --device-check=off "$here/main.cpp" "$2/kernel.o" -o "$2/launch_apart" && "$2/launch_apart"
sed 's/(1, s, x, y, t)/(1, s, x, y)/' "$here/main.cpp" >"$2/main_wrong.cpp"
"$1" --device-check=off "$2/main_wrong.cpp" "$2/kernel.o" -o "$2/launch_wrong"
if "$2/launch_wrong" 2>"$2/wrong.txt"; then
  echo "launched with an argument too few"
  exit 1
fi
grep -q "ACLRT_LAUNCH_KERNEL(twice): another number of arguments than the kernel takes" "$2/wrong.txt"

# Two files with a kernel of one name in unnamed namespaces, of two types: each file launches its own.
for value in 2 3; do
  type=KERNEL_TYPE_MIX_AIC_1_2
  [ $value = 2 ] || type=KERNEL_TYPE_AIV_ONLY
  cat >"$dir/unnamed_$value.cpp" <<KERNEL
#include "kernel_operator.h"
namespace {
__global__ __aicore__ void k(GM_ADDR x) {
  KERNEL_TASK_TYPE_DEFAULT($type);
  if ASCEND_IS_AIV {
    if (AscendC::GetBlockIdx() != 0) return;
    AscendC::LocalTensor<float> t(AscendC::TPosition::VECCALC, 0, 8);
    AscendC::GlobalTensor<float> g;
    g.SetGlobalBuffer((__gm__ float*)x, 8);
    AscendC::Duplicate(t, $value + 0.1f * AscendC::GetTaskRation(), 8);
    AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(0);
    AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(0);
    AscendC::DataCopy(g, t, 8);
  }
}
}
void launch_$value(void* x) { k<<<1, nullptr, nullptr>>>(x); }
KERNEL
done
cat >"$dir/unnamed_main.cpp" <<'MAIN'
#include "acl/acl.h"
void launch_2(void* x);
void launch_3(void* x);
int main() {
  float host[8], sum = 0;
  void* x;
  aclrtMalloc(&x, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST);
  for (int k = 0; k < 2; ++k) {
    k == 0 ? launch_2(x) : launch_3(x);
    aclrtMemcpy(host, sizeof host, x, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST);
    sum = 10 * sum + host[7];
  }
  return sum > 25.05f && sum < 25.15f ? 0 : 1;  // 10 · 2.2 + 3.1: one file's vector cores come in pairs
}
MAIN
"$twincc" --device-check=off "$dir/unnamed_main.cpp" "$dir/unnamed_2.cpp" "$dir/unnamed_3.cpp" -o "$dir/unnamed" && "$dir/unnamed" || {
  echo "a kernel of another file's unnamed namespace ran"
  exit 1
}
