# SPDX-License-Identifier: Apache-2.0
"""OpenVINO: a model of one scaled_dot_product_attention, compiled for the CPU. K and V are repeated beforehand."""
import numpy as np
import openvino as ov
from openvino import opset13

import worker

MAX_BYTES = 1 << 30
TYPES = {"f32": ov.Type.f32, "bf16": ov.Type.bf16}


def heads_first(rows, group):
    return np.ascontiguousarray(np.repeat(rows.transpose(1, 0, 2), group, axis=0)[None])  # [1, heads, tokens, dim]


class Compiled:
    def __init__(self, case):
        if case.dtype not in TYPES:
            raise worker.Unsupported("runs f16 as bf16")
        if 2 * case.k.nbytes * case.group > MAX_BYTES:
            raise worker.Unsupported("K and V repeated for each query head are over 1 GiB")
        kind = TYPES[case.dtype]
        core = ov.Core()
        self.requests, self.kept = [], []
        for q, k, v in case.sequences():
            arrays = [heads_first(q, 1), heads_first(k, case.group), heads_first(v, case.group)]
            parameters = [opset13.parameter(ov.Shape(a.shape), kind) for a in arrays]
            same = q.shape[0] == k.shape[0]
            inputs = list(parameters)
            if case.causal and not same and q.shape[0] > 1:
                mask = np.where(np.tri(q.shape[0], k.shape[0], k.shape[0] - q.shape[0]), 0, -np.inf).astype(np.float32)
                inputs.append(opset13.convert(opset13.constant(mask[None, None]), kind.get_type_name()))
            result = opset13.scaled_dot_product_attention(*inputs, causal=case.causal and same)
            model = ov.Model([opset13.result(result)], parameters)
            compiled = core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": case.threads, "NUM_STREAMS": 1,
                                                         "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": kind})
            request = compiled.create_infer_request()
            for i, array in enumerate(arrays):
                shared = ov.Tensor(array, ov.Shape(array.shape), kind) if case.dtype == "bf16" else ov.Tensor(array, shared_memory=True)
                request.set_input_tensor(i, shared)
                self.kept.append(array)
            self.requests.append(request)
        self.dtype = case.dtype

    def run(self):
        for request in self.requests:
            request.infer()

    def output(self):
        outputs = []
        for request in self.requests:
            tensor = request.get_output_tensor(0)
            data = tensor.data
            if data.dtype == np.float32 and self.dtype == "bf16":
                data = (data.view(np.uint32) >> 16).astype(np.uint16)
            outputs.append(np.asarray(data.view(np.uint16) if self.dtype == "bf16" else data)[0].transpose(1, 0, 2))
        return np.concatenate(outputs)


if __name__ == "__main__":
    worker.serve(Compiled, lambda: f"OpenVINO {ov.get_version()}")
