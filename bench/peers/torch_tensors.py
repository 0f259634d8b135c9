# SPDX-License-Identifier: Apache-2.0
"""Cases as PyTorch tensors, for the three peers that are called through it."""
import numpy as np
import torch

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def tensor(rows, dtype):
    t = torch.from_numpy(np.ascontiguousarray(rows))
    return t.view(torch.bfloat16) if dtype == "bf16" else t


def heads_first(rows, dtype):
    """[tokens, heads, dim] as a contiguous [1, heads, tokens, dim]: the layout that scaled_dot_product_attention likes."""
    return tensor(rows, dtype).transpose(0, 1).contiguous().unsqueeze(0)


def bits(t):
    """A tensor as a numpy array of its elements; bf16 as uint16."""
    t = t.contiguous()
    return (t.view(torch.uint16) if t.dtype == torch.bfloat16 else t).numpy()


def bottom_right_mask(query_length, key_length):
    return torch.ones(query_length, key_length, dtype=torch.bool).tril(key_length - query_length)
