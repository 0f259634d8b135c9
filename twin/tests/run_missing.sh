#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run_missing.sh TWINCC DIR: what the twin lacks does not compile, and the compiler says so by name; a kernel's own class has
# whatever name a function of the library guards by TWIN_OWN_.
set -euo pipefail
twincc=$1
dir=$2/missing
mkdir -p "$dir"

refuses() {  # call, message, header, what stands before the kernel
  cat > "$dir/missing.asc" <<KERNEL
#include "${3:-kernel_operator.h}"
using namespace AscendC;
${4:-}
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
refuses 'Hccl<> hccl; hccl.BatchWrite(x, 1);' 'BatchWrite writes to other chips, which the twin does not have'
refuses 'PhiloxRandom<10>(a, b);' 'AscendC::PhiloxRandom does not exist on the 910B'
refuses 'float most = NumericLimits<float>::Max(); (void)most;' 'AscendC::NumericLimits does not exist on the 910B'
refuses 'ResetCtrlSpr<48, 48>();' 'AscendC::ResetCtrlSpr does not exist on the 910B'
refuses 'SetCtrlSpr<6, 8>(1);' 'SetCtrlSpr: of the 910B the bits 48, 53, 56 and 59 are given'
refuses 'TPipe pipe; pipe.InitSpmBuffer(1024);' 'InitSpmBuffer in L1 does not exist on the 910B'
refuses 'GroupBarrier<PipeMode::SCALAR_MODE> group(x, 1, 1);' 'GroupBarrier takes MTE3_MODE only'
refuses 'LocalTensor<half> h; SoftMax<float, false, false, true>(a, a, a, a, SoftMaxTiling());' 'softmax on Nz data takes half'
refuses 'Select<float, SELMODE::VSEL_TENSOR_SCALAR_MODE>(a, a, a, 1, BinaryRepeatParams());' 'Select in mode 1 takes its mask as a tensor'
refuses 'CubeResGroupHandle<int> group; (void)group;' 'AscendC::CubeResGroupHandle is not covered by the twin yet'
refuses 'ConfusionTranspose(LocalTensor<int8_t>(), LocalTensor<int8_t>(), TransposeType::TRANSPOSE_ND2ND_ONLY, ConfusionTransposeTiling());' 'ConfusionTranspose takes elements of 16 and 32 bits'
refuses 'GetWorkSpace(a);' 'AscendC::GetWorkSpace does not exist on the 910B: GetUserWorkspace and GetSysWorkSpacePtr'
refuses 'SetAippFunctions(GlobalTensor<uint8_t>(), AippInputFormat::RGB888_U8, AippParams<uint8_t>());' 'int8_t and half come out on the 910B'
refuses 'MrgSort4(a, b);' 'AscendC::MrgSort4 does not exist on the 910B'
refuses 'SetHcclContext<0>(x);' 'AscendC::SetHcclContext is not covered by the twin yet'
refuses 'REGISTER_NONE_TILING; GET_TILING_DATA(t, x); (void)t;' 'GET_TILING_DATA after REGISTER_NONE_TILING'
refuses 'And(a, a, b, 64);' 'And does not take these element types on the 910B'

# Products of int4b_t: A is not transposed, C is int32_t or half.
product() {  # element type of B, of C, whether A is transposed, configuration, message
  local a="MatmulType<TPosition::GM, CubeFormat::ND, int4b_t, $3>" b="MatmulType<TPosition::GM, CubeFormat::ND, $1>"
  refuses "Matmul<$a, $b, MatmulType<TPosition::GM, CubeFormat::ND, $2>, MatmulType<TPosition::GM, CubeFormat::ND, int32_t>, $4> mm; mm.End();" "$5" lib/matmul_intf.h
}
refuses 'using T = MatmulType<TPosition::GM, CubeFormat::ND, half>; Matmul<T, T, MatmulType<TPosition::VECIN, CubeFormat::ND, half>, T, CFG_NORM, MatmulCallBackFunc<own>> mm; mm.End();' 'a DataCopyOut copies C to GM' lib/matmul_intf.h \
  'void own(const __gm__ void*, const LocalTensor<int8_t>&, const void*, const uint64_t, const uint64_t) {}'
dual() {  # position of A, template, call, message
  refuses "using T = MatmulType<TPosition::GM, CubeFormat::ND, half>; Matmul<MatmulType<TPosition::$1, CubeFormat::ND, half>, T, T, T, kDual> mm; mm.$3;" "$4" \
    lib/matmul_intf.h "constexpr MatmulConfig kDual = [] { MatmulConfig c = $2; c.enableMixDualMaster = true; return c; }();"
}
dual GM 'GetNormalConfig()' 'Iterate()' 'with enableMixDualMaster C comes by IterateAll to GM only'
dual GM 'GetNormalConfig()' 'IterateBatch(GlobalTensor<half>(), 1, 1, false)' 'with enableMixDualMaster C comes by IterateAll to GM only'
dual VECOUT 'GetNormalConfig()' 'End()' 'with enableMixDualMaster A, B, bias and C lie in GM'
dual GM 'GetSpecialMDLConfig()' 'End()' 'enableMixDualMaster works with the templates Norm and MDL only'
refuses 'using T = MatmulType<TPosition::GM, CubeFormat::ND, half>; Matmul<T, T, T> mm; mm.SetSparseIndex(GlobalTensor<uint8_t>());' 'SetSparseIndex is not covered by the twin yet' lib/matmul_intf.h
product int4b_t int32_t true CFG_NORM 'A of int4b_t cannot be transposed on the 910B'
product int4b_t int8_t false CFG_NORM 'of int4b_t matrices int32_t or half'
product int8_t int32_t false CFG_NORM 'A and B have the same element type on the 910B'
product int4b_t int32_t false MM_CFG_BB 'int4b_t works with the templates Norm, MDL and IBShare only'

names=$(grep -rhoP '#ifndef TWIN_OWN_\K\w+' "$(dirname "$0")/../include/ascendc" | sort -u)
[ -n "$names" ] || { echo "no guarded names"; exit 1; }
{
  echo '#include "kernel_operator.h"'
  echo 'using namespace AscendC;'
  for name in $names; do echo "class $name { public: __aicore__ inline int Process() { return 1; } };"; done
  echo 'extern "C" __global__ __aicore__ void own(GM_ADDR x) {'
  echo '  (void)x;'
  for name in $names; do echo "  $name own$name; own$name.Process();"; done
  echo '}'
} > "$dir/own.asc"
"$twincc" --device-check=off -c "$dir/own.asc" -o "$dir/own.o" || { echo "a class of a kernel's own met the library"; exit 1; }

# A kernel's own functions by names of the list and of layouts; tiling data without a registered struct.
cat > "$dir/functions.asc" <<'KERNEL'
#include "kernel_operator.h"
using namespace AscendC;
__aicore__ inline int MakeTensorTrait(int rows) { return rows; }
__aicore__ inline void SetHcclContext(GM_ADDR context) { (void)context; }
__aicore__ inline int MakeCoord(int row, int column) { return row + column; }
__aicore__ inline int Crd2Idx(int row, int column) { return row * column; }
struct Rows { uint32_t rows; };
extern "C" __global__ __aicore__ void functions(GM_ADDR x, GM_ADDR tiling) {
  REGISTER_NONE_TILING;
  GET_TILING_DATA_WITH_STRUCT(Rows, data, tiling);
  SetHcclContext(x);
  int row = MakeTensorTrait(static_cast<int>(data.rows));
  row += MakeCoord(row, 2) + Crd2Idx(row, 3);
  (void)row;
}
KERNEL
"$twincc" --device-check=off -c "$dir/functions.asc" -o "$dir/functions.o" || { echo "a kernel's own functions met the library"; exit 1; }

# The vendor's headers of single functions and parts: each one is there, and brings what its name says.
include=$(dirname "$0")/../include
(cd "$include" && find lib adv_api basic_api -name '*.h' | sort | sed 's/.*/#include "&"/') > "$dir/headers.asc"
cat >> "$dir/headers.asc" <<'KERNEL'
extern "C" __global__ __aicore__ void headers(GM_ADDR x) {
  (void)x;
  AscendC::LocalTensor<float> a;
  AscendC::Exp<float, 15, false>(a, a, 64u);
}
KERNEL
"$twincc" --device-check=off -c "$dir/headers.asc" -o "$dir/headers.o" || { echo "a header of the vendor's does not compile"; exit 1; }
diff <(cd "$include/lib" && find . -mindepth 2 -name '*.h' | sort) <(cd "$include/adv_api" && find . -name '*.h' | sort) ||
  { echo "lib/ and adv_api/ differ"; exit 1; }
echo "every missing name was named, and $(echo "$names" | wc -l) names may be a kernel's own"
