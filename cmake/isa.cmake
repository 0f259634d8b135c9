# SPDX-License-Identifier: Apache-2.0
# Kernels are written once and compiled once for each row of src/cpu/kernels/kernels.inc.
# TESSERA_ISA_NAME is the namespace; TESSERA_ISA_IS_* picks the header in src/cpu/simd.
set(TESSERA_ISAS portable)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(TESSERA_ISAS avx512bf16 avx512 avx2 portable)
endif()
set(TESSERA_ISA_OPTIONS_avx2 -mavx2 -mfma -mf16c)
set(TESSERA_ISA_OPTIONS_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c -mprefer-vector-width=512)
set(TESSERA_ISA_OPTIONS_avx512bf16 ${TESSERA_ISA_OPTIONS_avx512} -mavx512bf16)
set(TESSERA_ISA_OPTIONS_portable)

# Under a sanitizer -O3 takes minutes a kernel.
set(TESSERA_ISA_OPTIMIZE -O3)
if(TESSERA_SANITIZED OR TESSERA_BUILD_FUZZ)
  set(TESSERA_ISA_OPTIMIZE -O1)
endif()

# tessera_isa_sources(a.cpp b.cpp ...): adds each file to the library, once an ISA.
# Never with link-time optimisation: it would inline code of one ISA into functions that every machine runs.
# Without exceptions: their helpers are weak symbols, of which the linker picks one for all ISAs.
function(tessera_isa_sources)
  foreach(isa ${TESSERA_ISAS})
    string(TOUPPER ${isa} upper)
    if(NOT TARGET tessera_${isa})
      add_library(tessera_${isa} OBJECT)
      target_include_directories(tessera_${isa} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
      target_compile_definitions(tessera_${isa} PRIVATE TESSERA_ISA_NAME=${isa} TESSERA_ISA_IS_${upper}=1)
      target_compile_options(
        tessera_${isa} PRIVATE ${TESSERA_ISA_OPTIONS_${isa}} ${TESSERA_ISA_OPTIMIZE} -ffp-contract=off -fno-math-errno -fno-exceptions -fno-lto)
      set_target_properties(tessera_${isa} PROPERTIES POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF)
      target_sources(tessera PRIVATE $<TARGET_OBJECTS:tessera_${isa}>)
    endif()
    target_sources(tessera_${isa} PRIVATE ${ARGN})
  endforeach()
endfunction()
