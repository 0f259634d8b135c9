#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when the README's C++ example is not examples/attention.cpp, its output not what that prints, or a link is dead.

usage: check_readme.py EXAMPLE_BINARY
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main() -> int:
    readme = (ROOT / "README.md").read_text()
    shown, output = re.search(r"```cpp\n(.*?)```\n```\n(.*?)```", readme, re.S).groups()
    bad = []
    if shown != (ROOT / "examples/attention.cpp").read_text():
        bad.append("README.md: the example differs from examples/attention.cpp")
    printed = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout
    if printed != output:
        bad.append(f"README.md: the example prints {printed!r}")
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "twin").rglob("*.md"))]:
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
            if not re.match(r"[a-z]+:", link) and not (page.parent / link).exists():
                bad.append(f"{page.relative_to(ROOT)}: dead link {link}")
    print("\n".join(bad) or "README.md: example, output and links are right", file=sys.stderr if bad else sys.stdout)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
