#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_tutorial.sh TWINCC PAGE FOLDER: what the page's tutorial says of its kernel, before and after the repair, is what is printed now;
# and the device of twin_extend.md beside it is one.
set -eu
twincc=$1 page=$2 dir=$3
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"
block() { # the how-manieth block of the tutorial
  sed -n '/^## From nothing/,/^## Options/p' "$page" | awk -v n="$1" '/^```/ { if (!open) ++k; open = !open; next } open && k == n'
}
check() { # what is printed, the block that shows it
  sed "s#$dir/##g" "$1" >printed.txt
  if block "$2" | grep -vxF '    ...' | grep -vxFf printed.txt; then
    echo "$page shows that; printed is:"
    cat printed.txt
    exit 1
  fi
}
block 1 >scale.asc
"$twincc" --device-check=off scale.asc -o scale
if ./scale 2>found.txt; then echo "the race was not found"; exit 1; fi
check found.txt 2
flags=$(sed -n '/^## From nothing/,/^## Options/p' "$page" | grep -o '`SetFlag<HardEvent::MTE2_V>[^`]*`' | tr -d '`')
sed -i -e "10a $flags" -e "11a $(echo "$flags" | sed 's/MTE2_V/V_MTE3/g')" scale.asc
"$twincc" --device-check=off scale.asc -o scale
./scale >repaired.txt 2>&1
if grep -v 'WARNING: ASan does' repaired.txt; then exit 1; fi # nothing, but what a sanitizer says of fibers
TWIN=timing ./scale >timing.txt 2>&1
check timing.txt 3
sed -n '/^\[mine/,/^```/p' "$(dirname "$page")/twin_extend.md" | grep -v '^```' >mine.device
TWIN=device=mine.device,timing ./scale >device.txt 2>&1 || { cat device.txt; exit 1; }
grep -q '^modelled on mine: ' device.txt
