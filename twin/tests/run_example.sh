#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_example.sh TWINCC SOURCE PROGRAM [twincc options]: compiles the example, then runs it.
set -eu
twincc=$1 source=$2 program=$3
shift 3
"$twincc" -Wall -Wextra -Werror "$@" "$source" -o "$program"
"$program"
