#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# device_check.sh TWINCC FOLDER KERNELS...: each thing that the device compiler refuses is reported with its line and stops
# --device-check; a kernel that has none of them, and each of KERNELS, passes without a word.
set -eu
twincc=$1 dir=$2
shift 2
mkdir -p "$dir"

kernel() { # helpers at line 3, body at line 5
  cat <<EOF
#include "kernel_operator.h"
using namespace AscendC;
$1
extern "C" __global__ __aicore__ void k(GM_ADDR x, int n, float s) {
  $2
}
int main() {
  int zero = 0;
  k<<<1, nullptr, nullptr>>>((uint8_t*)nullptr, zero, 1.0f);
}
EOF
}
refuses() { # line, message, helpers, body
  kernel "$3" "$4" >"$dir/refused.asc"
  if "$twincc" --device-check "$dir/refused.asc" -o "$dir/refused" 2>"$dir/refused.txt"; then
    echo "passed: $3 $4"
    exit 1
  fi
  grep -q "refused.asc:$1: error: .*$2.*\[device-check\]" "$dir/refused.txt" || {
    echo "expected line $1, '$2' of: $3 $4"
    cat "$dir/refused.txt"
    exit 1
  }
}
passes() { # helpers, body
  kernel "$1" "$2" >"$dir/passed.asc"
  "$twincc" --device-check "$dir/passed.asc" -o "$dir/passed" 2>"$dir/passed.txt" && [ ! -s "$dir/passed.txt" ] || {
    echo "refused: $1 $2"
    cat "$dir/passed.txt"
    exit 1
  }
}

refuses 3 "recursion: f(int) -> f(int)" "__aicore__ inline int f(int n) { return n < 2 ? 1 : n * f(n - 1); }" "(void)f(n);"
refuses 3 "recursion: f(int) -> g(int) -> f(int)" \
  "__aicore__ inline int g(int n); __aicore__ inline int f(int n) { return n ? g(n - 1) : 0; } __aicore__ inline int g(int n) { return f(n); }" \
  "(void)f(n);"
refuses 3 "virtual functions (V)" "struct V { __aicore__ virtual int f() { return 1; } };" "V v; (void)v.f();"
refuses 5 "allocates memory (new or delete)" "" "int* p = new int[4]; p[0] = n; delete[] p;"
refuses 5 "allocates memory (malloc)" "#include <cstdlib>" "*(volatile char*)malloc(4) = 0;"
refuses 3 "uses exceptions" "__aicore__ inline void f(int n) { if (n > 3) throw n; }" "f(n);"
refuses 5 "uses exceptions" "__aicore__ inline void f(int) {}" "try { f(n); } catch (int) {}"
refuses 5 "computes with double" "" "float y = s * 0.5; (void)y;"
refuses 5 "computes with double" "" "double y = n; (void)y;"
refuses 5 "calls f(int), which is not __aicore__ (declared at line 3)" "inline int f(int n) { return n; }" "(void)f(n);"
refuses 5 "of the host's library" "#include <algorithm>" "int m = std::max(n, 3); (void)m;"
refuses 5 "calls sqrtf of the host's library" "#include <cmath>" "float y = sqrtf(s); (void)y;"
refuses 5 "static local that is initialised at run time" "__aicore__ inline int f(int n) { return n; }" "static int once = f(n); (void)once;"
refuses 5 "cannot initialize a variable" "" "uint8_t* p = x; (void)p;"
refuses 5 "cannot initialize a variable" "" "__ubuf__ uint8_t* p = x; (void)p;"
refuses 5 "no matching" "struct P { int a; int b; };" "__gm__ P* p = (__gm__ P*)x; P q = *p; (void)q;"

# The default only warns, and builds.
"$twincc" "$dir/refused.asc" -o "$dir/refused" 2>"$dir/refused.txt"
grep -q "refused.asc:5: warning: .*no matching" "$dir/refused.txt"
"$twincc" --device-check=off "$dir/refused.asc" -o "$dir/refused" 2>"$dir/refused.txt"
[ ! -s "$dir/refused.txt" ]

passes "" "TPipe pipe; PRINTF(\"%f\\\\n\", s); (void)n;"
passes "__aicore__ inline int g(int n) { return n; } struct A { A() = default; GlobalTensor<half> t; };" \
  "A a; auto f = [&](int i) { return g(i) + n; }; half h = 0.5; h = h * (half)2.0; float y = 0.5; (void)f(2); (void)h; (void)y; (void)a;"
passes "template <class T> struct K { __aicore__ inline K() {} __aicore__ inline void Init(__gm__ T* p) { g.SetGlobalBuffer(p, 8); } GlobalTensor<T> g; };
constexpr int twice(int n) { return 2 * n; }" "K<float> k; k.Init((__gm__ float*)x); constexpr int m = twice(4); int r = twice(n) + m; (void)r;"
# Host code in the same file is nobody's business.
passes "#include <vector>
#include <stdexcept>
#include <cmath>
inline double host(int n) { std::vector<double> v(8); if (n) throw std::runtime_error(\"no\"); return std::sqrt(v[0]) + (n ? host(n - 1) : 0); }" "(void)n;"

# Code that does not fit the cache is said, and no error.
{
  echo '#include "kernel_operator.h"'
  echo 'using namespace AscendC;'
  echo '__global__ __aicore__ void big(GM_ADDR x) { LocalTensor<float> t(TPosition::VECCALC, 0, 64);'
  for i in 0 1 2 3 4 5 6 7 8 9; do for j in 0 1 2 3 4 5 6 7 8 9; do for l in 0 1 2 3 4 5; do echo "  Adds(t, t, $i.$j$l""f, 64);"; done; done; done
  echo '  (void)x; }'
} >"$dir/big.asc"
"$twincc" --device-check -c "$dir/big.asc" -o "$dir/big.o" 2>"$dir/big.txt"
grep -q "big.asc:1: warning: kernel big(unsigned char\*) is about .* KiB of code (estimated)" "$dir/big.txt" || { cat "$dir/big.txt"; exit 1; }

if "$twincc" --device-check --clang=/no/such/clang "$dir/passed.asc" -o "$dir/passed" 2>"$dir/no.txt"; then exit 1; fi
grep -q "install clang" "$dir/no.txt"
if "$twincc" --device-check=yes "$dir/passed.asc" 2>"$dir/no.txt"; then exit 1; fi
grep -q "error, warn or off, not 'yes'" "$dir/no.txt"

for kernel in "$@"; do
  "$twincc" --device-check -c "$kernel" -o "$dir/kernel.o" 2>"$dir/kernel.txt" && [ ! -s "$dir/kernel.txt" ] || {
    echo "refused: $kernel"
    cat "$dir/kernel.txt"
    exit 1
  }
done
