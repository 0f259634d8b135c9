#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_article.sh TWINCC SOURCE PROGRAM [twincc options]: the article's kernel must fail, with and without the device compiler's own barriers, and each line
# that lacks an order must be named.
set -u
twincc=$1 source=$2 program=$3
shift 3
"$twincc" "$@" "$source" -o "$program" || exit 1
line() { grep -n "$1" "$source" | head -1 | cut -d: -f1; }
status=0
expect() { # report, first line, second line: the pair is in the report
  if ! printf '%s\n' "$report" | grep -q "article.asc:$1: .*article.asc:$2 "; then
    echo "not reported: line $1 after line $2 ($3)"
    status=1
  fi
}
for sync in on off; do
  report=$(TWIN=auto-sync=$sync "$program" 2>&1) && { echo "exit 0 with auto-sync=$sync"; status=1; }
  expect "$(line 'Mul(product')" "$(line 'DataCopy(keys')" "$sync: MTE2 to V"
  expect "$(line 'Axpy(out')" "$(line 'DataCopy(values')" "$sync: MTE2 to V"
  expect "$(line 'DataCopy(go')" "$(line 'Axpy(out')" "$sync: V to MTE3"
  expect "$(line 'DataCopy(gs')" "$(line 'DataCopy(gs')" "$sync: overlapping stores of two cores"
done
expect "$(line 'GetValue(0);$' | tail -1)" "$(line 'ReduceMax(')" "off: V to S"
expect "$(line 'Exp(scores')" "$(line 'Adds(scores')" "off: V to V"
expect "$(line 'DataCopy(gs')" "$(line 'pair.SetValue(0')" "off: S to MTE3"
# The page that tells this story gives the number of findings with auto-sync on, then off.
page=$(dirname "$0")/../../docs/twin_bug_hunt.md
said=$(grep -o '[0-9]* findings' "$page" | head -2 | tr '\n' ';')
printed=$(for sync in on off; do TWIN=auto-sync=$sync "$program" 2>&1 | sed -n 's/^twin: \([0-9]* findings\)$/\1/p'; done | tr '\n' ';')
if [ "$said" != "$printed" ]; then
  echo "$page says '$said', the program prints '$printed'"
  status=1
fi
exit $status
