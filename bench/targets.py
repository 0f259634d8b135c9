#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures every problem of workloads/targets.json and prints what it reached beside what it is to reach.

    bench/targets.py build/release/bench/tessera_bench > table.md
    bench/targets.py build/release/bench/tessera_bench --layouts > layouts.md   # decode beside loops that only read

Exit code 1 when a row falls short. Needs nothing but Python 3.9.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXTRA_BYTES_A_THREAD = 2 << 20


def measure(arguments, row, threads, mode="run"):
    command = shlex.split(arguments.prefix) + [arguments.binary, mode, "--threads", str(threads), "--format", "json",
                                               "--seconds", str(arguments.seconds)]
    if "implementation" in row:
        command += ["--impl", row["implementation"]]
    done = subprocess.run(command + [row["problem"]], capture_output=True, text=True)
    if done.returncode != 0:
        return {"problem": row["problem"], "threads": threads, "error": done.stderr.strip()}
    return json.loads(done.stdout)


def target_of(table, row, threads, result):
    """(reached, target, good, text of target); shares of the roof, or seconds where the row says at_most_s."""
    if "at_most_s" in row:
        limit = row["at_most_s"][threads]
        return f"{result['median_s'] * 1e6:.1f} µs", f"< {limit * 1e6:.0f} µs", result["median_s"] < limit
    goal = row["reach"][threads]
    if result["roof"] == "compute" and "reach_at_compute_roof" in table:
        goal = min(goal, table["reach_at_compute_roof"])
    return f"{result['roof_fraction']:.2f}", f"{goal:.2f}", result["roof_fraction"] >= goal


def line(table, row, threads, result):
    name = f"`{row['problem']}`" + (f", {row['implementation']}" if "implementation" in row else "")
    if "error" in result:
        return f"| {name} | {threads} | {result['error']} | | | | | |", False
    reached, target, good = target_of(table, row, threads, result)
    extra = result["peak_extra_bytes"]
    frugal = extra <= EXTRA_BYTES_A_THREAD * int(threads)
    rate = (f"{result['flops_per_s'] / 1e9:.0f} GFLOP/s" if result["roof"] == "compute"
            else f"{result['bytes_per_s'] / 1e9:.1f} GB/s")
    spread = 100 * result["spread_s"] / result["median_s"]
    text = (f"| {name} | {threads} | {result['median_s'] * 1e3:.4g} ms ± {spread:.0f} % | {rate} | {result['roof']} | {reached} | "
            f"{target} | {extra / 2**20:.1f} MiB{'' if frugal else ' (!)'} | {'yes' if good else '**no**'} |")
    return text, good and frugal


def layout_line(row, threads, result):
    name = f"`{row['problem']}`"
    if "error" in result:
        return f"| {name} | {threads} | {result['error']} | | | | | |"
    reading, kernel = result["reading_fraction"], result["kernel_fraction"]
    distance = "none" if result["far_bytes"] == 0 else f"{result['far_bytes'] // 1024} KB"
    distance += "" if result["near_bytes"] == 0 else f", {result['near_bytes'] // 1024} KB"
    goal = row["reach"][threads]
    return (f"| {name} | {threads} | {result['memory_peak'] / 1e9:.0f} GB/s | {reading:.2f} | {result['order']}, {distance} | "
            f"{kernel:.2f} | {kernel / reading:.2f} | {goal:.2f}{' (!)' if goal > reading else ''} |")


def print_layouts(arguments, tables):
    """Rows of decode: what loops that only read K and V reach. (!): a goal above that."""
    print("| problem | threads | sequential read | only reading | its order, and how far ahead | Tessera | of reading | to reach |")
    print("|---|--:|--:|--:|---|--:|--:|--:|")
    for row in (row for table in tables if table["table"].startswith("Decode") for row in table["rows"]):
        for threads in row.get("reach", {}):
            if arguments.only in row["problem"] and threads in arguments.threads.split(","):
                print(layout_line(row, threads, measure(arguments, row, threads, "layout")), flush=True)


def machine():
    for text in open("/proc/cpuinfo"):
        if text.startswith("model name"):
            return text.split(":")[1].strip()
    return "unknown processor"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", help="tessera_bench")
    parser.add_argument("--seconds", type=float, default=3, help="budget of one row (default 3)")
    parser.add_argument("--threads", default="1,2", help="thread counts to measure (default 1,2)")
    parser.add_argument("--only", default="", help="rows whose problem contains this text")
    parser.add_argument("--prefix", default="", help="a command to run each measurement under, as taskset or numactl")
    parser.add_argument("--json", help="write all results here too")
    parser.add_argument("--layouts", action="store_true", help="instead: decode beside loops that only read its K and V")
    arguments = parser.parse_args()

    results, all_good = [], True
    print(f"Machine: {machine()}")
    tables = json.loads((ROOT / "workloads" / "targets.json").read_text())
    if arguments.layouts:
        print_layouts(arguments, tables)
        return 0
    for table in tables:
        rows = [row for row in table["rows"] if arguments.only in row["problem"]]
        if not rows:
            continue
        print(f"\n### {table['table']}\n")
        print("| problem | threads | median ± spread | rate | roof | of it reached | to reach | extra memory | reached |")
        print("|---|--:|--:|--:|---|--:|--:|--:|---|")
        for row in rows:
            for threads in row.get("reach", row.get("at_most_s")):
                if threads not in arguments.threads.split(","):
                    continue
                result = measure(arguments, row, threads)
                results.append(result)
                text, good = line(table, row, threads, result)
                all_good &= good
                print(text, flush=True)
    if arguments.json:
        pathlib.Path(arguments.json).write_text("".join(json.dumps(result) + "\n" for result in results))
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())
