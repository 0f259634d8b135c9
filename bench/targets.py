#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures every problem of workloads/targets.json and prints what it reached beside what it is to reach.

    bench/targets.py build/release/bench/tessera_bench > table.md

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


def measure(arguments, row, threads):
    command = shlex.split(arguments.prefix) + [arguments.binary, "run", "--threads", str(threads), "--format", "json",
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
    arguments = parser.parse_args()

    results, all_good = [], True
    print(f"Machine: {machine()}")
    for table in json.loads((ROOT / "workloads" / "targets.json").read_text()):
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
