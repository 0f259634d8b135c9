#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_timing_only.sh PROGRAM [argument]: the modelled time, all of the report, must be the same whether values are computed or not;
# and a report that cannot be written fails the program.
set -eu
TWIN=timing,json="$1.full.json" "$@" >/dev/null
TWIN=timing-only,json="$1.timing_only.json" "$@" >/dev/null || true # its values are wrong, as they must be
timing() { sed 's/.*"timing": //' "$1"; }
grep -q '"findings": \[\]' "$1.timing_only.json" || { echo "findings:"; cat "$1.timing_only.json"; exit 1; }
grep -q '"modelled": true' "$1.timing_only.json"
[ "$(timing "$1.full.json")" = "$(timing "$1.timing_only.json")" ] || { echo "$1: times differ"; exit 1; }
! TWIN=json="$1.no_such_folder/report.json" "$@" >/dev/null 2>&1 || { echo "$1: a report that cannot be written passes"; exit 1; }
