#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_examples_page.sh PAGE PROGRAMS_PREFIX: every line of a report that the page shows is one that the examples print now.
set -u
for example in add softmax mix matmul_leakyrelu; do TWIN=timing "$2$example" 2>&1; done >"$2page.txt"
TWIN=timing-only "$2matmul" 4096 >>"$2page.txt" 2>&1 # no values, so it fails its own check
old=$(sed -n '/^```/,/^```/p' "$1" | grep -E '^(modelled|  )' | grep -vxFf "$2page.txt")
[ -z "$old" ] || { echo "$1 shows what is no longer printed:"; echo "$old"; exit 1; }
