#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# setup.sh build|test: installs, through apt, the packages that are missing. Asks nothing; does nothing when all are there.
# Names are those of Debian 12 and 13 and Ubuntu 24.04.
set -euo pipefail

build=(
  g++ cmake ninja-build    # compiler and build
  libtbb-dev               # threads of the library
  libcli11-dev libfmt-dev nlohmann-json3-dev  # the command `tessera`
  libbenchmark-dev         # the benchmark
)
test=(
  libgtest-dev libgmock-dev librapidcheck-dev  # tests
  clang libclang-rt-dev    # fuzzers, device checks of the twin
  clang-format clang-tidy  # format and lint
  python3                  # checks in scripts/
  pkg-config binutils git  # tests of the installed package and of symbols
)
case "${1:-}" in
  build) wanted=("${build[@]}") ;;
  test) wanted=("${build[@]}" "${test[@]}") ;;
  *) echo "usage: setup.sh build|test" >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null; then
  echo "setup: no apt-get here; needed are the equivalents of: ${wanted[*]}" >&2
  exit 0
fi
missing=()
for package in "${wanted[@]}"; do
  dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null ||
    { printf 'setup: packages are missing, and here is neither root nor sudo. Have somebody run:\n  apt-get install %s\n' "${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
echo "setup: installing with apt-get: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{ "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null ||
  { tail -n 20 "$log" >&2; echo "setup: installing failed; by hand: apt-get install ${missing[*]}" >&2; exit 1; }
