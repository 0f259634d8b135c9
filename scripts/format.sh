#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# format.sh [--check]: formats the C++ and C sources, or says which are not formatted.
#
# clang-format's output differs a little between versions, so one version is the judge: 14, that of Debian 12. Others may
# format (their result is close); --check passes over them and says so.
set -euo pipefail
cd "$(dirname "$0")/.."
judge=14

binary=$(command -v clang-format-$judge || command -v clang-format) || { echo "format: no clang-format here" >&2; exit 1; }
version=$("$binary" --version | sed 's/.*version \([0-9]*\).*/\1/')
mapfile -t files < <(git ls-files '*.cpp' '*.hpp' '*.c' '*.h')
[ ${#files[@]} -gt 0 ] || { echo "format: git lists no sources here" >&2; exit 1; }
if [ "${1:-}" != --check ]; then
  "$binary" -i "${files[@]}"
elif [ "$version" != $judge ]; then
  echo "format: not checked: clang-format is version $version here, and $judge is the judge"
else
  bad=()
  for file in "${files[@]}"; do
    "$binary" "$file" | cmp -s - "$file" || bad+=("$file")
  done
  [ ${#bad[@]} -eq 0 ] || { printf 'format: %s\n' "${bad[@]}" "\`make format\` mends these" >&2; exit 1; }
  echo "format: ${#files[@]} files are formatted"
fi
