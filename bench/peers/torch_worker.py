# SPDX-License-Identifier: Apache-2.0
"""PyTorch: scaled_dot_product_attention on the CPU. Ragged batches are a call a sequence.

A single query's heads can also be folded: the group's heads become rows of one kv head. The faster way is taken.
"""
import torch
from torch.nn.functional import scaled_dot_product_attention

import worker
from torch_tensors import bits, bottom_right_mask, heads_first


class Grouped:
    def __init__(self, case):
        self.group = case.group
        self.calls = []
        for q, k, v in case.sequences():
            options = {"enable_gqa": case.group > 1}
            if case.causal and q.shape[0] == k.shape[0]:
                options["is_causal"] = True
            elif case.causal and q.shape[0] > 1:
                options["attn_mask"] = bottom_right_mask(q.shape[0], k.shape[0])
            self.calls.append(([heads_first(x, case.dtype) for x in (q, k, v)], options))
        self.outputs = []

    def run(self):
        self.outputs = [scaled_dot_product_attention(*qkv, **options) for qkv, options in self.calls]

    def output(self):
        return bits(torch.cat([o[0].transpose(0, 1) for o in self.outputs]))  # [tokens, heads, dim]


class Folded(Grouped):
    """One query: [1, kv heads, group, dim] queries over [1, kv heads, keys, dim]."""

    def __init__(self, case):
        super().__init__(case)
        for i, ((q, k, v), _) in enumerate(self.calls):
            self.calls[i] = ([q.view(1, case.num_kv_heads, case.group, case.head_dim), k, v], {})

    def output(self):
        return bits(torch.cat([o.reshape(1, -1, o.shape[-1]) for o in self.outputs]))


def prepare(case):
    torch.set_num_threads(case.threads)
    torch.set_grad_enabled(False)
    runners = [Grouped(case)]
    if case.query_length == 1 and case.group > 1:
        runners.append(Folded(case))
    return worker.fastest(runners)


if __name__ == "__main__":
    worker.serve(prepare, lambda: f"PyTorch {torch.__version__}")
