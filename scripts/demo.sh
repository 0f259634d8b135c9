#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job on real tensors: attention over Q, K and V of two layers of a language model, checked against the oracle
# and timed beside the same computed the unfused way.
# usage: demo.sh [path of the command]
set -euo pipefail
cd "$(dirname "$0")/.."
tessera=${1:-build/release/tessera}
[[ -x $tessera ]] || { echo "demo.sh: $tessera is not there; 'make demo' builds it" >&2; exit 2; }

for sample in samples/smollm2_layer02.safetensors samples/smollm2_layer27.safetensors; do
  command=("$tessera" attend "$sample" --causal bottom-right --check --compare-unfused)
  printf '\n$ %s\n' "${command[*]}"
  "${command[@]}"
done
printf '\nNext: %s --help, or %s bench "bf16 hq32 hkv8 d128 sq1 skv32768"\n' "$tessera" "$tessera"
