#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tidy.sh BUILD_DIR JOBS: clang-tidy over the sources of the library and the command that BUILD_DIR compiles.
# The commands are those of GCC, whose warning options clang need not know.
# Kernels are left out: each is compiled once per ISA, in intrinsics that clang-tidy has nothing to say about.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 jobs=$2
mapfile -t files < <(git -c safe.directory='*' ls-files 'src/*.cpp' 'cli/*.cpp' | grep -vE '_test\.cpp$|^src/cpu/(kernels|simd)/')
[ ${#files[@]} -gt 0 ] || { echo "tidy: git lists no sources here" >&2; exit 1; }
printf '%s\n' "${files[@]}" | xargs -P "$jobs" -n 4 clang-tidy -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option 2>&1 |
  { grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header|^$' || true; }
[ "${PIPESTATUS[1]}" -eq 0 ] || { echo "tidy: see above" >&2; exit 1; }
echo "tidy: ${#files[@]} files are clean"
