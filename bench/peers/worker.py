# SPDX-License-Identifier: Apache-2.0
"""What every peer's worker shares: the requests of bench/serve.cpp, answered by a library that Python calls.

A worker file defines prepare(case), which returns an object with run() and output(); see Case and serve().
"""
import dataclasses
import gc
import pathlib
import re
import sys
import time

import numpy as np


class Unsupported(Exception):
    """This library does not do that case; the text says why."""


@dataclasses.dataclass
class Case:
    """One problem with its inputs; rows of all sequences lie one after the other."""
    dtype: str  # f32, f16 or bf16 (bits in uint16)
    num_q_heads: int
    num_kv_heads: int
    head_dim: int
    query_length: int
    key_lengths: list
    causal: bool
    threads: int
    q: np.ndarray  # [batch * query_length, num_q_heads, head_dim]
    k: np.ndarray  # [sum of key_lengths, num_kv_heads, head_dim]
    v: np.ndarray

    @property
    def batch(self):
        return len(self.key_lengths)

    @property
    def group(self):
        return self.num_q_heads // self.num_kv_heads

    def sequences(self):
        """q [query_length, heads, dim], k and v [keys, kv heads, dim] of each sequence."""
        begin = 0
        for b, length in enumerate(self.key_lengths):
            rows = slice(b * self.query_length, (b + 1) * self.query_length)
            yield self.q[rows], self.k[begin:begin + length], self.v[begin:begin + length]
            begin += length


def read_case(problem, threads, folder):
    tokens = problem.split()
    known = re.compile(r"(f32|f16|bf16|causal|(b|hq|hkv|d|sq|skv|seed)\d+|h?page\d+|ragged\d+-\d+)$")
    for token in tokens:
        if not known.match(token):
            raise Unsupported(f'"{token}" is not compared')
    value = {m[1]: int(m[2]) for m in (re.match(r"([a-z]+)(\d+)$", token) for token in tokens) if m}
    dtype = next(token for token in tokens if token in ("f32", "f16", "bf16"))
    lengths = [int(x) for x in (pathlib.Path(folder) / "lengths.txt").read_text().split()]
    element = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16}[dtype]

    def rows(name, heads):
        return np.fromfile(f"{folder}/{name}.bin", dtype=element).reshape(-1, heads, value["d"])

    return Case(dtype, value["hq"], value["hkv"], value["d"], lengths[0], lengths[1:], "causal" in tokens, threads,
                rows("q", value["hq"]), rows("k", value["hkv"]), rows("v", value["hkv"]))


def fastest(runners, repeats=3):
    """Of several ways to call one library, the one that is fastest here."""
    def seconds(runner):
        runner.run()
        times = []
        for _ in range(repeats):
            begin = time.perf_counter()
            runner.run()
            times.append(time.perf_counter() - begin)
        return min(times)
    return min(runners, key=seconds) if len(runners) > 1 else runners[0]


def status_bytes(field):
    for line in open("/proc/self/status"):
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0


def peak_extra_bytes(work):
    """How much higher the resident memory stood during work() than before it."""
    gc.collect()
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = status_bytes("VmHWM")
    work()
    return status_bytes("VmHWM") - before


class Server:
    def __init__(self, prepare):
        self.prepare, self.runner = prepare, None

    def load(self, problem, threads, _implementation, folder):
        self.runner = None
        gc.collect()
        self.runner = self.prepare(read_case(problem, int(threads), folder))
        return type(self.runner).__name__

    def run(self, repeats):
        times = []
        for _ in range(int(repeats)):
            begin = time.perf_counter_ns()
            self.runner.run()
            times.append(time.perf_counter_ns() - begin)
        return " ".join(f"{t}e-9" for t in times)

    def output(self, path):
        np.ascontiguousarray(self.runner.output()).tofile(path)
        return path

    def memory(self):
        return str(peak_extra_bytes(self.runner.run))


def serve(prepare, version):
    if "--version" in sys.argv:
        print(version())
        return
    server = Server(prepare)
    for line in sys.stdin:
        request = line.rstrip("\n").split("\t")
        try:
            answer = "ok\t" + getattr(server, request[0])(*request[1:])
        except Exception as error:  # the worker goes on, whatever a library throws
            text = " ".join(str(error).split())[:200]
            answer = f"error\t{type(error).__name__}: {text}"
        print(answer, flush=True)
