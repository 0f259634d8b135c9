#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the same problems on Tessera and on the peers that bench/peers/install found, in alternation.

    bench/compare.py build/release/bench/tessera_bench --json build/compare.json > table.md
    bench/compare.py --render build/compare.json --picture docs/compare.svg > table.md

Every library gets the same inputs, dtype and number of threads, in a process of its own that lives throughout. A round
gives each of them one turn while the others sleep; the ratio of a round is its peer's time over Tessera's, and what is
printed is the median over rounds and the width of the middle half. Outputs are compared before anything is timed. Needs
NumPy, and matplotlib for the picture: the Python of build/peers/torch has both.
"""
import argparse
import contextlib
import json
import pathlib
import statistics
import sys
import tempfile

from report import markdown
from shared_inputs import largest_difference, read_output, write_inputs
from workers import Pool, Worker, WorkerError, peer_worker

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ["torch", "vllm", "zentorch", "openvino", "onnxruntime"]

PREFILL = "b1 hq8 hkv2 d128"
CASES = [
    *(f"{dtype} {PREFILL} sq{n} skv{n}{causal}" for dtype in ("bf16", "f32", "f16") for n, causal in
      ((1024, " causal"), (1024, ""), (4096, " causal"))),
    *(f"bf16 b1 hq8 hkv2 d{d} sq2048 skv2048 causal" for d in (64, 96, 256)),
    *(f"bf16 b1 hq32 hkv8 d128 sq1 skv{n} hpage128" for n in (4096, 16384, 100000)),
    "bf16 b1 hq32 hkv8 d128 sq1 skv100000",
    "f16 b1 hq32 hkv8 d128 sq1 skv100000 hpage128",
    "f32 b1 hq32 hkv8 d128 sq1 skv16384 hpage128",
    "f32 b1 hq32 hkv32 d128 sq1 skv16384 hpage128",
    "bf16 b1 hq32 hkv32 d128 sq1 skv16384",
    "bf16 b1 hq28 hkv4 d128 sq1 skv32768",
    "bf16 b16 hq32 hkv8 d128 sq1 ragged100-8000 page16",
    "bf16 b1 hq32 hkv8 d128 sq2 skv32768 causal",
    "bf16 b1 hq32 hkv8 d128 sq4 skv32768 causal",
    "bf16 b1 hq32 hkv8 d128 sq1 skv128",
]
LAYOUTS = ["", " page16", " page128", " hpage16", " hpage128"]
LAYOUT_CASES = ["bf16 b1 hq32 hkv8 d128 sq1 skv100000", "bf16 b1 hq8 hkv2 d128 sq1024 skv1024 causal"]
MEMORY_CASE = "f16 b1 hq32 hkv32 d128 sq2048 skv2048 causal"

# Outputs are sums of up to 4096 weighted values near 1; each library rounds P and O in its own way.
TOLERANCE = {"f32": 1e-4, "f16": 4e-3, "bf16": 3e-2}
ROUND_SECONDS = 0.06  # of timed runs, a turn
SLOW_SECONDS = 1.0


@contextlib.contextmanager
def timing():
    """Nothing else runs while this is held. Nothing to do on a machine of one's own."""
    yield


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3


def alternate(workers, rounds):
    """Seconds of each worker and round; a turn warms the caches up, then counts the median of its runs. Whoever takes over
    a second for a run has one turn only."""
    turns, runs = {}, {}
    with timing():
        for name, worker in workers.items():
            seconds = worker.times(1)[0]
            turns[name] = [seconds] if seconds > SLOW_SECONDS else []
            if seconds <= SLOW_SECONDS:
                runs[name] = max(1, min(50, int(ROUND_SECONDS / seconds)))
        for _ in range(rounds):
            for name in runs:
                turns[name].append(statistics.median(workers[name].times(runs[name] + 1)[1:]))
    return turns


def load_and_run(worker, problem, threads, folder, name):
    """The worker's output of `problem`, which it is then ready to time."""
    worker.ask("load", problem, threads, "", folder)
    worker.ask("run", 1)
    worker.ask("output", f"{folder}/{name}.out")
    return read_output(f"{folder}/{name}.out", problem.split()[0])


def compare(arguments, pool, problem):
    """The result of one case: seconds of each library, ratios, differences, and who refused and why."""
    dtype, threads = problem.split()[0], pool.threads
    result = {"problem": problem, "threads": threads, "seconds": {}, "ratio": {}, "difference": {}, "refused": {}}
    tessera = pool.get("tessera")
    workers = {"tessera": tessera}
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as folder:
        write_inputs(problem, [int(x) for x in tessera.ask("lengths", problem).split()], folder)
        expected = load_and_run(tessera, problem, threads, folder, "tessera")
        for name in arguments.peers:
            try:
                output = load_and_run(pool.get(name), problem, threads, folder, name)
                result["difference"][name] = largest_difference(expected, output)
                if result["difference"][name] > TOLERANCE[dtype]:
                    raise WorkerError(f"its output differs by {result['difference'][name]:.2g}")
                workers[name] = pool.get(name)
            except WorkerError as error:
                result["refused"][name] = str(error)
    turns = alternate(workers, arguments.rounds)
    for name, seconds in turns.items():
        result["seconds"][name] = statistics.median(seconds)
        if name != "tessera":
            low, middle, high = quartiles([a / b for a, b in zip(seconds, turns["tessera"])])
            result["ratio"][name] = {"median": middle, "spread": high - low}
    return result


def compare_layouts(arguments, pool, problem):
    """Tessera against itself: pages of several sizes against the contiguous cache. The bits must be the same."""
    threads = pool.threads
    result = {"problem": problem, "threads": threads, "layouts": {}}
    workers = {}
    try:
        with tempfile.TemporaryDirectory(dir=arguments.scratch) as folder:
            for layout in LAYOUTS:
                worker = workers[layout] = Worker([arguments.binary, "serve"], threads)
                if not layout:
                    write_inputs(problem, [int(x) for x in worker.ask("lengths", problem).split()], folder)
                worker.ask("load", problem + layout, threads, "", folder)
                worker.ask("run", 1)
                worker.ask("output", f"{folder}/o{layout.strip()}")
            expected = pathlib.Path(f"{folder}/o").read_bytes()
            same = {layout: pathlib.Path(f"{folder}/o{layout.strip()}").read_bytes() == expected for layout in LAYOUTS}
        turns = alternate(workers, arguments.rounds)
    finally:
        for worker in workers.values():
            worker.close()
    for layout in LAYOUTS:
        low, middle, high = quartiles([a / b for a, b in zip(turns[layout], turns[""])])
        result["layouts"][layout.strip() or "contiguous"] = {"seconds": statistics.median(turns[layout]), "median": middle,
                                                             "spread": high - low, "same_bits": same[layout]}
    return result


def compare_memory(arguments):
    """Peak bytes that a run takes beside its inputs, here and the unfused way."""
    result = {"problem": MEMORY_CASE, "bytes": {}}
    tessera = Worker([arguments.binary, "serve"], 2)
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as folder:
        write_inputs(MEMORY_CASE, [int(x) for x in tessera.ask("lengths", MEMORY_CASE).split()], folder)
        result["inputs"] = sum(pathlib.Path(f"{folder}/{name}.bin").stat().st_size for name in "qkv")
        for name, worker in (("tessera", tessera), ("unfused", peer_worker(arguments.folder, "unfused", 2))):
            worker.ask("load", MEMORY_CASE, 2, "", folder)
            result["bytes"][name] = int(worker.ask("memory"))
            worker.close()
    return result


def measure_all(arguments):
    arguments.peers = [p for p in arguments.peers.split(",") if (arguments.folder / p / "bin" / "python").exists()]
    everything = not (arguments.only or arguments.problem or arguments.memory or arguments.layouts)
    results = []

    def add(function, *case):
        print(function.__name__, *(x.threads if isinstance(x, Pool) else x for x in case), file=sys.stderr, flush=True)
        results.append(function(arguments, *case))
        if arguments.json:
            with arguments.json.open("a") as out:
                out.write(json.dumps(results[-1]) + "\n")

    for threads in arguments.threads.split(","):
        pool = Pool(arguments, int(threads))
        try:
            if not (arguments.memory or arguments.layouts):
                for problem in arguments.problem or CASES:
                    if arguments.only in problem:
                        add(compare, pool, problem)
            if arguments.layouts or everything:
                for problem in LAYOUT_CASES:
                    add(compare_layouts, pool, problem)
        finally:
            pool.close()
    if arguments.memory or everything:
        add(compare_memory)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", nargs="?", help="tessera_bench")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "peers", help="where the peers are installed")
    parser.add_argument("--peers", default=",".join(PEERS), help="which of them to run")
    parser.add_argument("--threads", default="1,2", help="thread counts (default 1,2)")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each library (default 7)")
    parser.add_argument("--only", default="", help="cases whose problem contains this text")
    parser.add_argument("--problem", action="append", help="these problems and not the usual ones")
    parser.add_argument("--scratch", default=None, help="folder for the inputs that are shared")
    parser.add_argument("--memory", action="store_true", help="measure peak memory alone")
    parser.add_argument("--layouts", action="store_true", help="measure paged against contiguous caches alone")
    parser.add_argument("--json", type=pathlib.Path, help="add the results to this file, a line each")
    parser.add_argument("--render", type=pathlib.Path, help="measure nothing; print the results of this file")
    parser.add_argument("--picture", type=pathlib.Path, help="draw the results into this SVG file")
    arguments = parser.parse_args()

    if arguments.render:
        latest = {}  # a case measured again replaces the earlier one
        for line in arguments.render.read_text().splitlines():
            result = json.loads(line)
            latest[(result["problem"], result.get("threads"), "layouts" in result)] = result
        results = list(latest.values())
    else:
        if arguments.binary is None:
            parser.error("the path of tessera_bench is missing")
        results = measure_all(arguments)
    print(markdown(results, CASES), end="")
    if arguments.picture:
        import picture
        picture.draw(results, arguments.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
