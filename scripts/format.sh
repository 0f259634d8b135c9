#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# format.sh [--check]: formats the C++ and C sources, or says which are not formatted.
#
# clang-format's output differs a little between versions, so one version is the judge of layout: 14, that of Debian 12.
# What needs no judge is checked everywhere: tabs, blanks at line ends, the last newline, the SPDX line. Where the judge is
# missing, --check says that layout was not judged, and what the version at hand would change.
set -euo pipefail
cd "$(dirname "$0")/.."
judge=14

mapfile -t files < <(git -c safe.directory='*' ls-files '*.cpp' '*.hpp' '*.c' '*.h')
[ ${#files[@]} -gt 0 ] || { echo "format: git lists no sources here" >&2; exit 1; }
binary=$(command -v clang-format-$judge || command -v clang-format) || binary=
version=none
[ -z "$binary" ] || version=$("$binary" --version | sed 's/.*version \([0-9]*\).*/\1/')

if [ "${1:-}" != --check ]; then
  [ -n "$binary" ] || { echo "format: no clang-format here" >&2; exit 1; }
  [ "$version" = $judge ] || echo "format: with clang-format $version; $judge is the judge, and may want it otherwise"
  exec "$binary" -i "${files[@]}"
fi

bad=()
for file in "${files[@]}"; do
  [ "$file" = examples/attention.cpp ] ||  # stands in the README, line by line
    grep -q 'SPDX-License-Identifier: Apache-2.0' <(head -n 1 "$file") || bad+=("$file: the first line is not the SPDX line")
  [ -z "$(tail -c 1 "$file")" ] || bad+=("$file: the last line does not end")
done
mapfile -t -O ${#bad[@]} bad < <(grep -nP '\t|[ \r]+$' "${files[@]}" | sed 's/:[^:]*$/: a tab, or blanks at the end/' || true)
differ=()
if [ -n "$binary" ]; then
  for file in "${files[@]}"; do
    "$binary" "$file" | cmp -s - "$file" || differ+=("$file")
  done
fi
if [ "$version" = $judge ]; then
  for file in "${differ[@]}"; do bad+=("$file: \`make format\` mends it"); done
fi
[ ${#bad[@]} -eq 0 ] || { printf 'format: %s\n' "${bad[@]}" >&2; exit 1; }
if [ "$version" = $judge ]; then
  echo "format: ${#files[@]} files are formatted"
else
  echo "format: ${#files[@]} files checked for blanks, line ends and SPDX lines; layout NOT judged: that needs clang-format" \
    "$judge, here is $version$([ -z "$binary" ] || echo ", which would change ${#differ[@]} files")"
fi
