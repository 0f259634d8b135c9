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

# A kernel's type that #if chooses or that a macro of another file gives is the one that the compiler's preprocessor finds; one
# whose words are clear needs no such run.
cat >"$dir/typed.h" <<'HEADER'
#pragma once
#define SET_TYPE(type) KERNEL_TASK_TYPE_DEFAULT(type)
HEADER
cat >"$dir/typed.asc" <<'KERNEL'
#include "kernel_operator.h"
#include "typed.h"
using namespace AscendC;
#define SAY(name) AscendC::printf(name "%d%s\n", (int)GetTaskRation(), g_coreType == AIC ? "c" : "v");
__global__ __aicore__ void chosen() {
#if FUSE
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
#else
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
#endif
  SAY("chosen")
}
__global__ __aicore__ void given() {
  KERNEL_TASK_TYPE_DEFAULT(KTYPE);
  SAY("given")
}
__global__ __aicore__ void wrapped() {
  SET_TYPE(KERNEL_TYPE_MIX_AIC_1_1);
  SAY("wrapped")
}
__global__ __aicore__ void plain() {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  SAY("plain")
}
int main() {
  chosen<<<1, nullptr, nullptr>>>();
  given<<<1, nullptr, nullptr>>>();
  wrapped<<<1, nullptr, nullptr>>>();
  plain<<<1, nullptr, nullptr>>>();
}
KERNEL
typed() { # what the cores say, options
  expected=$1
  shift
  "$twincc" --device-check=off -Wall -Wextra -Werror "$@" "$dir/typed.asc" -o "$dir/typed" && "$dir/typed" >"$dir/typed.txt"
  said=$(LC_ALL=C sort "$dir/typed.txt" | tr '\n' ' ')
  [ "$said" = "$expected " ] || {
    echo "$*: the cores say $said, not $expected"
    exit 1
  }
}
typed "chosen2c chosen2v chosen2v given1v plain1v wrapped1c wrapped1v" -DFUSE=1 -DKTYPE=KERNEL_TYPE_AIV_ONLY
typed "chosen1v given2c given2v given2v plain1v wrapped1c wrapped1v" -D FUSE=0 -D KTYPE=KERNEL_TYPE_MIX_AIC_1_2
if "$twincc" --device-check=off -c "$dir/typed.asc" -o "$dir/typed.o" 2>"$dir/typed.txt"; then
  echo "compiled: a kernel of type KTYPE"
  exit 1
fi
grep -q "typed.asc:14: kernel given: 'KTYPE' is no kernel type of this device" "$dir/typed.txt" || { cat "$dir/typed.txt"; exit 1; }
"$twincc" -v --device-check=off -c "$here/kernel.cpp" -o "$dir/typed.o" 2>"$dir/typed.txt"
if grep -q -e " -E " "$dir/typed.txt"; then
  echo "kernels of a clear type were preprocessed for one"
  exit 1
fi

# Kernels that one template makes are told apart, whatever the compiler prints of their arguments.
cat >"$dir/template.asc" <<'KERNEL'
#include "kernel_operator.h"
template <int kValue>
__global__ __aicore__ void say() {
  AscendC::printf("%d", kValue);
}
int main() {
  say<1><<<1, nullptr, nullptr>>>();
  say<2><<<1, nullptr, nullptr>>>();
}
KERNEL
for compiler in g++ clang++; do
  command -v $compiler >/dev/null || continue
  "$twincc" --cxx=$compiler --device-check=off "$dir/template.asc" -o "$dir/template"
  said=$("$dir/template")
  [ "$said" = 12 ] || {
    echo "$compiler: kernels 1 and 2 of a template say $said"
    exit 1
  }
done
