# SPDX-License-Identifier: Apache-2.0
"""Inputs that several libraries read from files, and the outputs that they wrote."""
import pathlib

import numpy as np

from workers import WorkerError


def normal_rows(generator, dtype, count):
    x = generator.standard_normal(count, dtype=np.float32)
    if dtype == "f32":
        return x
    if dtype == "f16":
        return x.astype(np.float16)
    bits = x.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def write_inputs(problem, lengths, folder):
    """q.bin, k.bin, v.bin and lengths.txt, as bench/serve.cpp reads them."""
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
    if dtype == "f32":
        return np.fromfile(path, np.float32)
    if dtype == "f16":
        return np.fromfile(path, np.float16).astype(np.float32)
    return (np.fromfile(path, np.uint16).astype(np.uint32) << 16).view(np.float32)


def largest_difference(a, b):
    if a.shape != b.shape:
        raise WorkerError(f"{b.size} outputs, not {a.size}")
    return float(np.max(np.abs(a - b))) if np.isfinite(b).all() else float("inf")
