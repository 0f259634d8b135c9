#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# device_check.sh TWINCC FOLDER: each thing that the device compiler refuses is reported with its line and stops
# --device-check; kernels that have none of them pass without a word. One file of each sort: a file is seconds of compiler.
# That the examples and the kernels of tests/wild pass is what run_example.sh sees.
set -eu
twincc=$1 dir=$2
mkdir -p "$dir"

head='#include "kernel_operator.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
using namespace AscendC;'
# Adds a kernel to $2, whose helpers stand in namespace c<number>: helpers in its first line, the body in its second.
cases=0
kernel() { # file, helpers, body
  cases=$((cases + 1))
  printf 'namespace c%d { %s\n__global__ __aicore__ void k%d(GM_ADDR x, int n, float s) { %s } }\n' $cases "$2" $cases "$3" >>"$1"
}
echo "$head" >"$dir/refused.asc"
: >"$dir/expected.txt"
refuses() { # 1: in the helpers, 2: in the body; message, helpers, body
  kernel "$dir/refused.asc" "$3" "$4"
  echo "$((5 + 2 * cases - 2 + $1)) $2" >>"$dir/expected.txt"
}

refuses 1 "recursion: c1::f(int) -> c1::f(int)" "__aicore__ inline int f(int n) { return n < 2 ? 1 : n * f(n - 1); }" "(void)f(n);"
refuses 1 "recursion: c2::f(int) -> c2::g(int) -> c2::f(int)" \
  "__aicore__ inline int g(int n); __aicore__ inline int f(int n) { return n ? g(n - 1) : 0; } __aicore__ inline int g(int n) { return f(n); }" \
  "(void)f(n);"
refuses 1 "virtual functions (c3::V)" "struct V { __aicore__ virtual int f() { return 1; } };" "V v; (void)v.f();"
refuses 2 "allocates memory (new or delete)" "" "int* p = new int[4]; p[0] = n; delete[] p;"
refuses 2 "allocates memory (malloc)" "" "*(volatile char*)malloc(4) = 0;"
refuses 1 "uses exceptions" "__aicore__ inline void f(int n) { if (n > 3) throw n; }" "f(n);"
refuses 2 "uses exceptions" "__aicore__ inline void f(int) {}" "try { f(n); } catch (int) {}"
refuses 2 "computes with double" "" "float y = s * 0.5; (void)y;"
refuses 2 "computes with double" "" "double y = n; (void)y;"
refuses 2 "calls c10::f(int), which is not __aicore__ (declared at line 24)" "inline int f(int n) { return n; }" "(void)f(n);"
refuses 2 "of the host's library" "" "int m = std::max(n, 3); (void)m;"
refuses 2 "calls sqrtf of the host's library" "" "float y = sqrtf(s); (void)y;"
refuses 2 "calls exp of the host's library (__builtin_expf)" "" "float y = __builtin_expf(s); (void)y;"
refuses 2 "calls expf of the host's library" "" "float y = expf(s); (void)y;"
refuses 2 "calls std::sqrt(float) of the host's library" "" "float y = std::sqrt(s); (void)y;"
refuses 2 "static local that is initialised at run time" "__aicore__ inline int f(int n) { return n; }" "static int once = f(n); (void)once;"
refuses 2 "cannot initialize a variable" "" "uint8_t* p = x; (void)p;"
refuses 2 "cannot initialize a variable" "" "__ubuf__ uint8_t* p = x; (void)p;"
refuses 2 "cannot initialize a variable" "" "LocalTensor<float> t(TPosition::VECCALC, 0, 64); float* p = t.GetPhyAddr(); (void)p;"
refuses 2 "no matching" "struct P { int a; int b; };" "__gm__ P* p = (__gm__ P*)x; P q = *p; (void)q;"

if "$twincc" --device-check -c "$dir/refused.asc" -o "$dir/refused.o" 2>"$dir/refused.txt"; then
  echo "refused.asc passed"
  exit 1
fi
while read -r line message; do
  grep -F "refused.asc:$line: error: " "$dir/refused.txt" | grep -F '[device-check]' | grep -qF "$message" || {
    echo "expected line $line, '$message' of:"
    sed -n "$line"p "$dir/refused.asc"
    cat "$dir/refused.txt"
    exit 1
  }
done <"$dir/expected.txt"
# A line without a mistake gets no report.
sed 's/.*refused.asc:\([0-9]*\): .*/\1/' "$dir/refused.txt" | sort -un | while read -r line; do
  grep -q "^$line " "$dir/expected.txt" || { echo "line $line was refused:"; cat "$dir/refused.txt"; exit 1; }
done

cases=0
echo "$head
#include <stdexcept>
#include <vector>" >"$dir/passed.asc"
passes() { kernel "$dir/passed.asc" "$1" "$2"; } # helpers, body
passes "" 'TPipe pipe; PRINTF("%%f\\n", s); (void)n;'
passes "__aicore__ inline int g(int n) { return n; } struct A { A() = default; GlobalTensor<half> t; };" \
  "A a; auto f = [&](int i) { return g(i) + n; }; half h = 0.5; h = h * (half)2.0; float y = 0.5; (void)f(2); (void)h; (void)y; (void)a;"
passes "template <class T> struct K { __aicore__ inline K() {} __aicore__ inline void Init(__gm__ T* p) { g.SetGlobalBuffer(p, 8); } GlobalTensor<T> g; };
constexpr int twice(int n) { return 2 * n; }" "K<float> k; k.Init((__gm__ float*)x); constexpr int m = twice(4); int r = twice(n) + m; (void)r;"
passes "" 'ASCENDC_ASSERT((n > 3), { KERNEL_LOG(KERNEL_ERROR, "n is %d", n); });'
passes "" "LocalTensor<float> t(TPosition::VECCALC, 0, 64); __ubuf__ float* p = reinterpret_cast<__ubuf__ float*>(t.GetPhyAddr(8)); *p = s; (void)n;"
# What the compiler makes instructions of the scalar unit of.
passes "" "float y = __builtin_sqrtf(s) + __builtin_fabsf(s) + __builtin_fmaxf(s, 1.0f) + __builtin_fminf(s, 2.0f); int b = __builtin_clz(n) + __builtin_popcount(n) + __builtin_ctz(n); (void)y; (void)b;"
# A class with a Matmul of the kernel's own configuration in a header.
cat >"$dir/product.h" <<'HEADER'
#include "lib/matmul_intf.h"
constexpr MatmulConfig kOwn = GetMDLConfig();
using In = matmul::MatmulType<AscendC::TPosition::GM, CubeFormat::ND, half>;
struct Product { matmul::MatmulImpl<In, In, In, In, kOwn> mm; };
HEADER
echo '#include "product.h"' >>"$dir/passed.asc"
passes "" "Product p; p.mm.End();"
passes "" "int a, b; AscendC::Std::tie(a, b) = AscendC::Std::make_tuple(n, 3); a = Std::get<0>(Std::make_tuple(a, b)); (void)b;"
# Host code in the same file is nobody's business.
passes "inline double host(int n) { std::vector<double> v(8); if (n) throw std::runtime_error(\"no\"); return std::sqrt(v[0]) + (n ? host(n - 1) : 0); }" "(void)n;"
"$twincc" --device-check -c "$dir/passed.asc" -o "$dir/passed.o" 2>"$dir/passed.txt" && [ ! -s "$dir/passed.txt" ] || {
  echo "passed.asc was refused:"
  cat "$dir/passed.txt"
  exit 1
}

# The default only warns, and builds. Code that does not fit the cache is said, and no error.
{
  echo "$head"
  echo '__global__ __aicore__ void big(GM_ADDR x) { LocalTensor<float> t(TPosition::VECCALC, 0, 64);'
  for i in 0 1 2 3 4 5 6 7 8 9; do for j in 0 1 2 3 4 5 6 7 8 9; do for l in 0 1 2 3 4 5; do echo "  Adds(t, t, $i.$j$l""f, 64);"; done; done; done
  echo '  uint8_t* p = x; (void)p; }'
} >"$dir/big.asc"
"$twincc" -c "$dir/big.asc" -o "$dir/big.o" 2>"$dir/big.txt"
grep -q "big.asc:607: warning: .*cannot initialize" "$dir/big.txt" || { cat "$dir/big.txt"; exit 1; }
grep -q "big.asc:6: warning: kernel big(unsigned char\*) is about .* KiB of code (estimated)" "$dir/big.txt" || { cat "$dir/big.txt"; exit 1; }

if "$twincc" --device-check --clang=/no/such/clang "$dir/passed.asc" -o "$dir/passed" 2>"$dir/no.txt"; then exit 1; fi
grep -q "install clang" "$dir/no.txt"
if "$twincc" --device-check=yes "$dir/passed.asc" 2>"$dir/no.txt"; then exit 1; fi
grep -q "error, warn or off, not 'yes'" "$dir/no.txt"

# Each tiling key is a program of its own: what counts is the largest, not all together.
branch() { # file, key, instructions
  echo "  if (TILING_KEY_IS($2)) {" >>"$1"
  i=0
  while [ $i -lt "$3" ]; do
    echo "  Adds(t, t, $2.$i""f, 64);" >>"$1"
    i=$((i + 1))
  done
  echo '  }' >>"$1"
}
{
  echo "$head"
  echo 'template <int n> __aicore__ inline void more(LocalTensor<float> t) { Muls(t, t, 1.0f * n, 64); if constexpr (n > 0) more<n - 1>(t); }'
  echo '__global__ __aicore__ void keys(GM_ADDR x) { (void)x; LocalTensor<float> t(TPosition::VECCALC, 0, 64);'
} >"$dir/keys.asc"
cp "$dir/keys.asc" "$dir/large.asc"
for key in 1 2 3; do branch "$dir/keys.asc" $key 150; done
branch "$dir/large.asc" 1 150
branch "$dir/large.asc" 12 100
echo '  if (TILING_KEY_IS(12)) more<300>(t); }' >>"$dir/large.asc"
echo '  if (TILING_KEY_IS(4)) more<100>(t); }' >>"$dir/keys.asc"
"$twincc" -c "$dir/keys.asc" -o "$dir/keys.o" 2>"$dir/keys.txt" && [ ! -s "$dir/keys.txt" ] || { cat "$dir/keys.txt"; exit 1; }
"$twincc" -c "$dir/large.asc" -o "$dir/large.o" 2>"$dir/large.txt"
grep -q "large.asc:7: warning: kernel keys(unsigned char\*) with tiling key 12 is about .* KiB of code" "$dir/large.txt" || { cat "$dir/large.txt"; exit 1; }
# A key that is known at run time only: all together.
sed 's/TILING_KEY_IS(3)/TILING_KEY_IS(*(__gm__ uint64_t*)x)/' "$dir/keys.asc" >"$dir/unknown.asc"
"$twincc" -c "$dir/unknown.asc" -o "$dir/unknown.o" 2>"$dir/unknown.txt"
grep -q "unknown.asc:7: warning: kernel keys(unsigned char\*) is about .* KiB of code" "$dir/unknown.txt" || { cat "$dir/unknown.txt"; exit 1; }
