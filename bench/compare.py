#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the same problems on Tessera and on the peers that bench/peers/install found, in alternation.

    bench/compare.py build/release/bench/tessera_bench --json build/compare.json > table.md
    bench/compare.py --render build/compare.json --picture docs/compare.svg > table.md

Every library gets the same inputs, dtype and number of threads, in a process of its own that lives as long as the case. A
round gives each of them one turn; the ratio of a round is its peer's time over Tessera's, and what is printed is the
median over rounds and the width of the middle half. Outputs are compared before anything is timed. Needs NumPy (that of
a peer's environment will do); the picture needs matplotlib.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ["torch", "vllm", "zentorch", "openvino", "onnxruntime"]
NAMES = {"torch": "PyTorch", "vllm": "vLLM", "zentorch": "zentorch", "openvino": "OpenVINO", "onnxruntime": "ONNX Runtime"}

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


class WorkerError(Exception):
    pass


class Worker:
    """A process that answers the requests of bench/serve.cpp."""

    def __init__(self, command, threads):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
        environment |= {"OMP_NUM_THREADS": str(threads), "KMP_BLOCKTIME": "1", "PYTHONWARNINGS": "ignore"}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True, env=environment)

    def ask(self, *request):
        try:
            self.process.stdin.write("\t".join(str(x) for x in request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise WorkerError("the worker ended") from None
        for line in self.process.stdout:  # libraries may print; answers begin with ok or error
            kind, _, text = line.rstrip("\n").partition("\t")
            if kind == "ok":
                return text
            if kind == "error":
                raise WorkerError(text)
        raise WorkerError("the worker ended")

    def times(self, repeats):
        return [float(t) for t in self.ask("run", repeats).split()]

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()


def peer_worker(folder, peer, threads):
    script = ROOT / "bench" / "peers" / f"{peer}_worker.py"
    environment = "torch" if peer == "unfused" else peer
    return Worker([str(folder / environment / "bin" / "python"), str(script)], threads)


def normal_rows(generator, dtype, count):
    import numpy as np
    x = generator.standard_normal(count, dtype=np.float32)
    if dtype == "f32":
        return x
    if dtype == "f16":
        return x.astype(np.float16)
    bits = x.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def write_inputs(problem, lengths, folder):
    """q.bin, k.bin, v.bin and lengths.txt, as bench/serve.cpp reads them."""
    import numpy as np
    value = {}
    for token in problem.split():
        name = token.rstrip("0123456789")
        if name != token:
            value[name] = int(token[len(name):])
    dtype = problem.split()[0]
    generator = np.random.default_rng(7)
    batch, tokens = len(lengths) - 1, sum(lengths[1:])
    for name, rows, heads in (("q", batch * lengths[0], value["hq"]), ("k", tokens, value["hkv"]), ("v", tokens, value["hkv"])):
        normal_rows(generator, dtype, rows * heads * value["d"]).tofile(f"{folder}/{name}.bin")
    (pathlib.Path(folder) / "lengths.txt").write_text(" ".join(map(str, lengths)))


def read_output(path, dtype):
    import numpy as np
    if dtype == "f32":
        return np.fromfile(path, np.float32)
    if dtype == "f16":
        return np.fromfile(path, np.float16).astype(np.float32)
    return (np.fromfile(path, np.uint16).astype(np.uint32) << 16).view(np.float32)


def largest_difference(a, b):
    import numpy as np
    if a.shape != b.shape:
        raise WorkerError(f"{b.size} outputs, not {a.size}")
    return float(np.max(np.abs(a - b))) if np.isfinite(b).all() else float("inf")


@contextlib.contextmanager
def timing():
    """Nothing else runs while this is held. Nothing to do on a machine of one's own."""
    yield


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3


def alternate(workers, rounds):
    """Seconds of each worker and round; a turn warms the caches up, then counts the median of its runs."""
    turns = {name: [] for name in workers}
    runs = {}
    with timing():
        for name, worker in workers.items():
            runs[name] = max(1, min(50, int(ROUND_SECONDS / min(worker.times(2)))))
        for _ in range(rounds):
            for name, worker in workers.items():
                turns[name].append(statistics.median(worker.times(runs[name] + 1)[1:]))
    return turns


def compare(arguments, problem, threads):
    """The result of one case: seconds of each library, ratios, differences, and who refused and why."""
    dtype = problem.split()[0]
    result = {"problem": problem, "threads": threads, "seconds": {}, "ratio": {}, "difference": {}, "refused": {}}
    workers = {"tessera": Worker([arguments.binary, "serve"], threads)}
    try:
        with tempfile.TemporaryDirectory(dir=arguments.scratch) as folder:
            lengths = [int(x) for x in workers["tessera"].ask("lengths", problem).split()]
            write_inputs(problem, lengths, folder)
            for name in ["tessera", *arguments.peers]:
                try:
                    if name != "tessera":
                        workers[name] = peer_worker(arguments.folder, name, threads)
                    workers[name].ask("load", problem, threads, "", folder)
                    workers[name].ask("run", 1)
                    workers[name].ask("output", f"{folder}/{name}.out")
                    output = read_output(f"{folder}/{name}.out", dtype)
                    if name == "tessera":
                        expected = output
                        continue
                    result["difference"][name] = largest_difference(expected, output)
                    if result["difference"][name] > TOLERANCE[dtype]:
                        raise WorkerError(f"its output differs by {result['difference'][name]:.2g}")
                except WorkerError as error:
                    if name == "tessera":
                        raise
                    result["refused"][name] = str(error)
                    workers.pop(name).close()
        turns = alternate(workers, arguments.rounds)
    finally:
        for worker in workers.values():
            worker.close()
    for name, seconds in turns.items():
        result["seconds"][name] = statistics.median(seconds)
        if name != "tessera":
            low, middle, high = quartiles([a / b for a, b in zip(seconds, turns["tessera"])])
            result["ratio"][name] = {"median": middle, "spread": high - low}
    return result


def compare_memory(arguments):
    """Peak bytes that a run takes beside its inputs, here and the unfused way."""
    result = {"problem": MEMORY_CASE, "bytes": {}}
    tessera = Worker([arguments.binary, "serve"], 2)
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as folder:
        write_inputs(MEMORY_CASE, [int(x) for x in tessera.ask("lengths", MEMORY_CASE).split()], folder)
        for name, worker in (("tessera", tessera), ("unfused", peer_worker(arguments.folder, "unfused", 2))):
            worker.ask("load", MEMORY_CASE, 2, "", folder)
            result["bytes"][name] = int(worker.ask("memory"))
            worker.close()
    return result


def compare_layouts(arguments, problem, threads):
    """Tessera against itself: pages of several sizes against the contiguous cache. The bits must be the same."""
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


def milliseconds(seconds):
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds * 1e3:.0f} ms"


def markdown(results):
    peers = [p for p in PEERS if any(p in r.get("ratio", {}) or p in r.get("refused", {}) for r in results)]
    lines = ["| problem | threads | Tessera | " + " | ".join(NAMES[p] for p in peers) + " | against the best |",
             "|---|--:|--:|" + "--:|" * (len(peers) + 1)]
    for r in results:
        if "ratio" not in r:
            continue
        cells = []
        for p in peers:
            if p in r["ratio"]:
                ratio = r["ratio"][p]
                cells.append(f"{milliseconds(r['seconds'][p])}, {ratio['median']:.2f} ± {ratio['spread']:.2f} ×")
            else:
                cells.append("–")
        best = min((x["median"] for x in r["ratio"].values()), default=None)
        cells.append("–" if best is None else f"**{best:.2f} ×**")
        lines.append(f"| `{r['problem']}` | {r['threads']} | {milliseconds(r['seconds']['tessera'])} | " + " | ".join(cells) + " |")
    layouts = [r for r in results if "layouts" in r]
    if layouts:
        lines += ["", "| problem | threads | layout | median | over contiguous | same bits |", "|---|--:|---|--:|--:|---|"]
    for r in layouts:
        for layout, x in r["layouts"].items():
            lines.append(f"| `{r['problem']}` | {r['threads']} | {layout} | {milliseconds(x['seconds'])} | {x['median']:.3f} ± "
                         f"{x['spread']:.3f} | {'yes' if x['same_bits'] else '**no**'} |")
    for r in results:
        if "bytes" in r:
            ours, unfused = r["bytes"]["tessera"], r["bytes"]["unfused"]
            lines += ["", f"Memory beside the inputs, `{r['problem']}`: {ours / 2**20:.1f} MiB, against {unfused / 2**20:.0f} MiB the "
                          f"unfused way: {100 * (1 - ours / unfused):.1f} % less."]
    refusals = sorted({(p, why) for r in results for p, why in r.get("refused", {}).items()})
    if refusals:
        lines += ["", "What a dash stands for:"]
        for peer, why in refusals:
            problems = [f"`{r['problem']}`" for r in results if r.get("refused", {}).get(peer) == why]
            lines.append(f"- {NAMES[peer]}: {why} ({len(problems)} rows)")
    return "\n".join(lines) + "\n"


def measure_all(arguments):
    arguments.peers = [p for p in arguments.peers.split(",") if (arguments.folder / p / "bin" / "python").exists()]
    threads = [int(t) for t in arguments.threads.split(",")]
    everything = not (arguments.only or arguments.problem or arguments.memory or arguments.layouts)
    work = []
    if not (arguments.memory or arguments.layouts):
        work += [(compare, (problem, t)) for problem in arguments.problem or CASES if arguments.only in problem for t in threads]
    if arguments.layouts or everything:
        work += [(compare_layouts, (problem, t)) for problem in LAYOUT_CASES for t in threads]
    if arguments.memory or everything:
        work.append((compare_memory, ()))
    results = []
    for function, case in work:
        print(function.__name__, *case, file=sys.stderr)
        results.append(function(arguments, *case))
        if arguments.json:
            with arguments.json.open("a") as out:
                out.write(json.dumps(results[-1]) + "\n")
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
    print(markdown(results), end="")
    if arguments.picture:
        import picture
        picture.draw(results, arguments.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
