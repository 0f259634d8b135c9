#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints who includes whom, from the real #include lines, and fails where a folder sees more than it may.

usage: check_includes.py [--quiet]
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A folder may include itself and the folders named here; "public" is include/tessera.
ALLOWED = {
    "public": set(),
    "base": {"public"},
    "problem": {"public", "base"},
    "planner": {"public", "base", "problem"},
    "reference": {"public", "base", "problem", "planner"},
    "cpu": {"public", "base", "problem", "planner"},
    "cpu/kernels": {"cpu/simd", "public/trace_event"},
    "cpu/simd": set(),
    "ascend/kernels": {"planner/tiling"},
    "ascend/host": {"public", "base", "problem", "planner"},
    "runtime": {"public", "base", "problem", "planner", "reference", "cpu", "cpu/kernels", "ascend/host"},
    "capi": {"public"},
    "cli": {"public", "bench"},
    "bench": {"public"},
    "examples": {"public"},
    "twin": {"planner/device_model"},
    "fuzz": {"public", "base", "problem", "planner", "reference", "cli", "twin"},
    "tests": {"public", "base", "problem", "planner", "reference", "cpu", "cpu/kernels", "runtime", "cli"},
}
ALLOWED["cpu"] |= {"cpu/kernels", "cpu/simd"}

# Single headers that somebody may see without the rest of their folder.
SINGLE = {"public/trace_event", "planner/device_model", "planner/tiling"}

# Compiled once an ISA: an inline function of the standard library would be a weak symbol of which the linker keeps one.
FREESTANDING = {"cpu/kernels", "cpu/simd"}
FREESTANDING_SYSTEM = {"cstdint", "cstddef", "cstring", "time.h", "immintrin.h", "arm_neon.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def module(path: pathlib.Path) -> str:
    """The row of a file: its folder as ALLOWED names it."""
    parts = path.relative_to(ROOT).parts
    if parts[:2] == ("include", "tessera"):
        return "public"
    if parts[0] != "src":
        return parts[0]
    two = "/".join(parts[1:3])
    return two if two in ALLOWED else parts[1]


def resolve(includer: pathlib.Path, name: str) -> pathlib.Path | None:
    for folder in (includer.parent, ROOT / "include", ROOT / "src", ROOT, *includer.parents):
        candidate = folder / name
        if ROOT in folder.parents or folder == ROOT:
            if candidate.is_file():
                return candidate.resolve()
    return None


def main() -> int:
    listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.split("\n") if listed.returncode == 0 else [str(p.relative_to(ROOT)) for p in ROOT.rglob("*")]
    sources = [n for n in names if n.endswith((".hpp", ".cpp", ".h", ".c", ".inc")) and not n.startswith("build/")]
    seen: dict[str, set[str]] = {}
    bad = []
    for name in sorted(sources):
        path = ROOT / name
        if not path.is_file() or name.endswith(("_test.cpp", "_test.hpp")):
            continue  # a test may look wherever it has to
        row = module(path)
        if row not in ALLOWED:
            bad.append(f"{name}: no rule for the folder '{row}'; add one to {pathlib.Path(__file__).name}")
            continue
        allowed = ALLOWED[row]
        for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = resolve(path, match[2])
            where = f"{name}:{number}: includes {match[1]}{match[2]}{'>' if match[1] == '<' else match[1]}"
            if target is None:
                if row in FREESTANDING and match[1] == "<" and match[2] not in FREESTANDING_SYSTEM:
                    bad.append(f"{where}, but {row} is compiled once an ISA and may include only {sorted(FREESTANDING_SYSTEM)}")
                continue
            whom = module(target)
            if whom == row:
                continue
            single = f"{whom}/{target.stem}"
            seen.setdefault(row, set()).add(single if single in SINGLE and whom not in allowed else whom)
            if whom not in allowed and not (single in SINGLE and single in allowed):
                bad.append(f"{where}, but {row} may see only: {', '.join(sorted(allowed)) or 'itself'}")
    if "--quiet" not in sys.argv:
        print(f"{'folder':<16}includes")
        for row in [r for r in ALLOWED if r in seen]:
            print(f"{row:<16}{', '.join(sorted(seen[row]))}")
    for line in bad:
        print(line, file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
