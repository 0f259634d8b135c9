#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when an object of an ISA defines a weak symbol outside tessera::cpu::<isa>.

Of a weak symbol (an inline function) that several objects define, the linker keeps one. Were it the AVX-512 copy of,
say, std::max<long>, the program would crash on a machine without AVX-512, in code that has nothing to do with kernels.
Two strong symbols of one name do not link, so those need no check.

usage: check_isa_symbols.py NM ISA OBJECT...
"""
import re
import subprocess
import sys


def main() -> int:
    nm, isa, objects = sys.argv[1], sys.argv[2], sys.argv[3:]
    inside = re.compile(rf"^_Z[A-Z]*7tessera3cpu{len(isa)}{isa}([0-9A-Z]|$)")
    bad = []
    count = 0
    for path in objects:
        listing = subprocess.run([nm, "--defined-only", "--extern-only", path], check=True, capture_output=True, text=True).stdout
        for line in listing.splitlines():
            kind, symbol = line.split()[-2:]
            count += 1
            if kind in "WwVvuU" and not inside.match(symbol):
                bad.append(f"{path}: {kind} {symbol}")
    print(f"{isa}: {count} external symbols in {len(objects)} objects, {len(bad)} weak ones outside tessera::cpu::{isa}")
    for line in bad:
        print(line, file=sys.stderr)
    return 1 if bad or not objects else 0


if __name__ == "__main__":
    sys.exit(main())
