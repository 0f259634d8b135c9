# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime: com.microsoft.GroupQueryAttention with past and present in one buffer. Causal, one length a batch."""
import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

import worker

TYPES = {"f32": (TensorProto.FLOAT, np.float32), "f16": (TensorProto.FLOAT16, np.float16)}


def model_of(case, kind):
    names = ["query", "key", "value", "past_key", "past_value", "seqlens_k", "total_sequence_length"]
    node = helper.make_node("GroupQueryAttention", names, ["output", "present_key", "present_value"], domain="com.microsoft",
                            num_heads=case.num_q_heads, kv_num_heads=case.num_kv_heads)
    kinds = [kind] * 5 + [TensorProto.INT32] * 2
    ranks = [3, 3, 3, 4, 4, 1, None]
    value = [helper.make_tensor_value_info(n, k, [] if r is None else [f"{n}{i}" for i in range(r)])
             for n, k, r in zip(names, kinds, ranks)]
    out = [helper.make_tensor_value_info(n, kind, [f"{n}{i}" for i in range(r)])
           for n, r in (("output", 3), ("present_key", 4), ("present_value", 4))]
    graph = helper.make_graph([node], "attention", value, out)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


class Bound:
    def __init__(self, case):
        if case.dtype not in TYPES:
            raise worker.Unsupported("its CPU operator takes no bf16")
        if case.batch > 1 or (not case.causal and case.query_length > 1):
            raise worker.Unsupported("GroupQueryAttention is causal, and one sequence is compared")
        kind, element = TYPES[case.dtype]
        options = ort.SessionOptions()
        options.intra_op_num_threads = case.threads
        session = ort.InferenceSession(model_of(case, kind), options, providers=["CPUExecutionProvider"])

        q, k, v = next(case.sequences())
        total, new = k.shape[0], q.shape[0]
        def flat(rows):
            return np.ascontiguousarray(rows.reshape(1, rows.shape[0], -1))
        def cache(rows):  # [1, kv heads, tokens, dim]; the last `new` rows are appended by the operator
            return np.ascontiguousarray(rows.transpose(1, 0, 2)[None]).astype(element)
        arrays = [flat(q), flat(k[-new:]), flat(v[-new:]), cache(k), cache(v),
                  np.array([total - 1], np.int32), np.array(total, np.int32)]
        self.values = [ort.OrtValue.ortvalue_from_numpy(a) for a in arrays]
        self.out = ort.OrtValue.ortvalue_from_numpy(np.zeros((1, new, q.shape[1] * q.shape[2]), element))
        self.binding = session.io_binding()
        for info, value in zip(session.get_inputs(), self.values):
            self.binding.bind_ortvalue_input(info.name, value)
        self.binding.bind_ortvalue_output("output", self.out)
        self.binding.bind_ortvalue_output("present_key", self.values[3])
        self.binding.bind_ortvalue_output("present_value", self.values[4])
        self.session, self.shape = session, q.shape

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def output(self):
        return self.out.numpy().reshape(self.shape)


if __name__ == "__main__":
    worker.serve(Bound, lambda: f"ONNX Runtime {ort.__version__}, model format {onnx.__version__}")
