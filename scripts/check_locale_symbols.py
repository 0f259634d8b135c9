#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when the library asks for a function whose result follows the program's locale.

printf of a double writes the decimal comma of a program that has called setlocale: a plan's JSON would be none. Numbers
go through src/base/text.hpp instead.

usage: check_locale_symbols.py NM LIBRARY
"""
import re
import subprocess
import sys


def main() -> int:
    nm, library = sys.argv[1:]
    listing = subprocess.run([nm, "--undefined-only", library], check=True, capture_output=True, text=True).stdout
    wanted = [line.split()[-1] for line in listing.splitlines() if line.startswith(" ")]
    family = r"v?(f|s|sn|as|d)?printf|v?(f|s)?scanf|strto(d|f|ld)|atof|localeconv|setlocale"
    follows = re.compile(rf"^(__)?({family})(_chk|_l)?$|^_ZNSt6locale")
    bad = sorted({symbol for symbol in wanted if follows.match(symbol)})
    print(f"{len(wanted)} undefined symbols, {len(bad)} of them follow the locale")
    for symbol in bad:
        print(symbol, file=sys.stderr)
    return 1 if bad or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
