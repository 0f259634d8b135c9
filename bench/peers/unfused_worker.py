# SPDX-License-Identifier: Apache-2.0
"""Attention the unfused way, in PyTorch: softmax(q kᵀ · scale + mask) v with every score in memory."""
import torch

import worker
from torch_tensors import bits, bottom_right_mask, heads_first


class Unfused:
    def __init__(self, case):
        self.scale = case.head_dim ** -0.5
        self.calls = []
        for q, k, v in case.sequences():
            mask = bottom_right_mask(q.shape[0], k.shape[0]) if case.causal and q.shape[0] > 1 else None
            q, k, v = (heads_first(x, case.dtype) for x in (q, k, v))
            self.calls.append((q, k.repeat_interleave(case.group, 1), v.repeat_interleave(case.group, 1), mask))
        self.outputs = []

    def run(self):
        self.outputs = []
        for q, k, v, mask in self.calls:
            scores = (q @ k.transpose(-1, -2)) * self.scale
            if mask is not None:
                scores = scores.masked_fill(~mask, float("-inf"))
            self.outputs.append(torch.softmax(scores, -1) @ v)

    def output(self):
        return bits(torch.cat([o[0].transpose(0, 1) for o in self.outputs]))


def prepare(case):
    torch.set_num_threads(case.threads)
    torch.set_grad_enabled(False)
    return Unfused(case)


if __name__ == "__main__":
    worker.serve(prepare, lambda: f"PyTorch {torch.__version__}, unfused")
