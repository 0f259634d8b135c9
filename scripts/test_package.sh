#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a static and a shared Tessera and builds examples/ against each as a stranger would: through CMake's
# find_package and through pkg-config. A shared library must also show nothing but what is marked for export.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD work=$PWD/build/package jobs=${JOBS:-$(nproc)}
rm -rf "$work"

consume() {  # consume KIND PREFIX
  local kind=$1 prefix=$2 libdir
  libdir=$(dirname "$(find "$prefix" -name tessera.pc)")
  echo "-- $kind: find_package"
  local where=(-DCMAKE_PREFIX_PATH="$prefix")
  [ -d "$prefix/lib/cmake" ] || where=(-Dtessera_DIR="${libdir%/pkgconfig}/cmake/tessera")  # a place where CMake does not look
  cmake -G Ninja -S examples -B "$work/$kind-cmake" "${where[@]}" -DCMAKE_BUILD_TYPE=Release --log-level=WARNING
  cmake --build "$work/$kind-cmake" -j "$jobs" -- --quiet
  ctest --test-dir "$work/$kind-cmake" --output-on-failure
  echo "-- $kind: find_package in a project of C alone"
  mkdir -p "$work/$kind-c"
  cat >"$work/$kind-c/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(app C)
find_package(tessera 0.1 REQUIRED)
add_executable(app $root/examples/attention_c.c)
target_link_libraries(app PRIVATE tessera::tessera)
END
  cmake -G Ninja -S "$work/$kind-c" -B "$work/$kind-c/build" "${where[@]}" --log-level=WARNING
  cmake --build "$work/$kind-c/build" -- --quiet
  "$work/$kind-c/build/app"
  echo "-- $kind: pkg-config"
  mkdir -p "$work/$kind-pc"
  export PKG_CONFIG_PATH=$libdir LD_LIBRARY_PATH=${libdir%/pkgconfig}
  local flags libs
  eval "flags=($(pkg-config --cflags tessera)) libs=($(pkg-config --libs tessera))"  # blanks of a path are escaped there
  g++ -std=c++20 -O1 "${flags[@]}" examples/attention.cpp -o "$work/$kind-pc/attention" "${libs[@]}"
  gcc -std=c99 -O1 "${flags[@]}" examples/attention_c.c -o "$work/$kind-pc/attention_c" "${libs[@]}" -lm
  "$work/$kind-pc/attention"
  "$work/$kind-pc/attention_c"
}

# The command is built too: it sees only the public headers, so a shared build proves that they export enough.
[ -f build/release/build.ninja ] || cmake --preset release --log-level=WARNING -DTESSERA_BUILD_TESTS=OFF -DTESSERA_BUILD_EXAMPLES=OFF
cmake --preset release -B build/shared --log-level=WARNING -DBUILD_SHARED_LIBS=ON -DTESSERA_BUILD_TESTS=OFF \
  -DTESSERA_BUILD_EXAMPLES=OFF -DTESSERA_BUILD_TWIN=OFF -DCMAKE_INSTALL_LIBDIR=lib/deep -DCMAKE_INSTALL_BINDIR=tools/bin \
  -DCMAKE_INSTALL_INCLUDEDIR=headers -DCMAKE_INSTALL_DATADIR=data >/dev/null  # a layout that nobody may have assumed
for build in release:static shared:shared; do
  cmake --build "build/${build%:*}" -j "$jobs"
  cmake --install "build/${build%:*}" --prefix "$work/${build#*:}" >/dev/null
  consume "${build#*:}" "$work/${build#*:}"
done

for file in lib/deep/libtessera.so lib/deep/pkgconfig/tessera.pc lib/deep/cmake/tessera/tesseraConfig.cmake \
            headers/tessera/tessera.h tools/bin/tessera data/tessera/workloads/quick.txt; do
  [ -e "$work/shared/$file" ] || { echo "package: $file was not installed there"; exit 1; }
done
# The installed command reads the list that is installed with it: one problem, not those of the source.
echo "f32 hq1 d8 sq1 skv8" >"$work/shared/data/tessera/workloads/performance.txt"
rows=$(LD_LIBRARY_PATH=$work/shared/lib/deep "$work/shared/tools/bin/tessera" bench --json --seconds 0.01 | wc -l)
[ "$rows" -eq 1 ] || { echo "package: the installed command does not read data/tessera/workloads"; exit 1; }

library=$work/shared/lib/deep/libtessera.so
shown=$(nm -DC --defined-only "$library" | awk '$2 ~ /[TBDR]/ {$1 = $2 = ""; print}' | grep -vE '^ +(tessera::[A-Za-z_]|tessera_|(typeinfo|vtable|typeinfo name) for tessera::)' || true)
[ -z "$shown" ] || { echo "libtessera.so shows more than it should:"; echo "$shown"; exit 1; }
if nm -DC --defined-only "$library" | grep -E 'tessera::(cpu|base|planner|reference|capi|runtime)::'; then
  echo "libtessera.so shows its inside" && exit 1
fi
echo "package: static and shared are installed, found and used"
