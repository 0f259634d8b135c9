# SPDX-License-Identifier: Apache-2.0
"""zentorch: AMD's kernels for PyTorch. K and V are repeated for each query head beforehand, since it knows no groups."""
import torch
import zentorch

import worker
from torch_tensors import bits, bottom_right_mask, heads_first

MAX_BYTES = 1 << 30


class Repeated:
    def __init__(self, case):
        if 2 * case.k.nbytes * case.group > MAX_BYTES:
            raise worker.Unsupported("K and V repeated for each query head are over 1 GiB")
        self.calls = []
        for q, k, v in case.sequences():
            options = {}
            if case.causal and q.shape[0] == k.shape[0]:
                options["is_causal"] = True
            elif case.causal and q.shape[0] > 1:
                mask = bottom_right_mask(q.shape[0], k.shape[0])
                options["attn_mask"] = torch.zeros(mask.shape).masked_fill(~mask, float("-inf"))[None, None]
            q, k, v = (heads_first(x, case.dtype) for x in (q, k, v))
            self.calls.append(([q, k.repeat_interleave(case.group, 1), v.repeat_interleave(case.group, 1)], options))
        self.outputs = []

    def run(self):
        attention = torch.ops.zentorch.zentorch_sdpa
        self.outputs = [attention(*qkv, **options)[0] for qkv, options in self.calls]

    def output(self):
        return bits(torch.cat([o[0].transpose(0, 1) for o in self.outputs]))


def prepare(case):
    torch.set_num_threads(case.threads)
    torch.set_grad_enabled(False)
    return Repeated(case)


if __name__ == "__main__":
    worker.serve(prepare, lambda: f"zentorch {zentorch.__version__}")
