#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_example.sh TWINCC SOURCE PROGRAM [twincc options]: compiles the example without a word, then runs it.
set -eu
twincc=$1 source=$2 program=$3
shift 3
"$twincc" -Wall -Wextra -Werror "$@" "$source" -o "$program" 2>"$program.said" && [ ! -s "$program.said" ] || {
  cat "$program.said"
  exit 1
}
"$program"
