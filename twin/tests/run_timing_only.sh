#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_timing_only.sh PROGRAM [argument]: the modelled time, all of the report, must be the same whether values are computed or not.
set -eu
TWIN=timing,json="$1.full.json" "$@" >/dev/null
TWIN=timing-only,json="$1.timing_only.json" "$@" >/dev/null || true # its values are wrong, as they must be
timing() { sed 's/.*"timing": //' "$1"; }
grep -q '"findings": \[\]' "$1.timing_only.json" || { echo "findings:"; cat "$1.timing_only.json"; exit 1; }
grep -q '"modelled": true' "$1.timing_only.json"
[ "$(timing "$1.full.json")" = "$(timing "$1.timing_only.json")" ] || { echo "$1: times differ"; exit 1; }
