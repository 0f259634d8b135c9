#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_matmul_peak.sh PROGRAM: the matrix product at 4096³ reaches 80 % of the modelled cube peak.
set -eu
TWIN=timing-only,json="$1.peak.json" "$1" 4096 >/dev/null || true # no values
share=$(sed -n 's/.*"cube_utilisation": 0*\.*\([0-9.]*\).*/\1/p' "$1.peak.json")
echo "cube_utilisation 0.$share (modelled)"
[ "${share%"${share#??}"}" -ge 80 ]
