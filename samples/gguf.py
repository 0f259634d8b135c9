# SPDX-License-Identifier: Apache-2.0
"""Reads a GGUF file into numpy: metadata, and tensors of the types F32, Q8_0 and Q4_1 as float32."""
import struct

import numpy as np

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
BLOCK = 32  # elements a quantised block


class Gguf:
    def __init__(self, path):
        self.bytes = np.memmap(path, dtype=np.uint8, mode="r")
        self.at = 0
        if self._take(4) != b"GGUF" or self._scalar("I") != 3:
            raise ValueError(f"{path}: not a GGUF file of version 3")
        num_tensors, num_keys = self._scalar("Q"), self._scalar("Q")
        self.metadata = {}
        for _ in range(num_keys):
            key = self._string()
            self.metadata[key] = self._value(self._scalar("I"))
        self.tensors = {}
        for _ in range(num_tensors):
            name = self._string()
            shape = [self._scalar("Q") for _ in range(self._scalar("I"))]
            self.tensors[name] = (tuple(reversed(shape)), self._scalar("I"), self._scalar("Q"))
        alignment = self.metadata.get("general.alignment", 32)
        self.data = (self.at + alignment - 1) // alignment * alignment

    def _take(self, n):
        self.at += n
        return self.bytes[self.at - n : self.at].tobytes()

    def _scalar(self, kind):
        return struct.unpack("<" + kind, self._take(struct.calcsize("<" + kind)))[0]

    def _string(self):
        return self._take(self._scalar("Q")).decode("utf-8", "replace")

    def _value(self, kind):
        if kind == STRING:
            return self._string()
        if kind == ARRAY:
            element, n = self._scalar("I"), self._scalar("Q")
            return [self._value(element) for _ in range(n)]
        return self._scalar(SCALARS[kind])

    def tensor(self, name):
        """float32, rows first: a weight of a linear layer is [outputs, inputs]."""
        shape, kind, offset = self.tensors[name]
        count = int(np.prod(shape))
        read = {0: self._f32, 3: self._q4_1, 8: self._q8_0}[kind]
        return read(self.data + offset, count).reshape(shape)

    def _blocks(self, offset, count, fields):
        record = np.dtype(fields)
        return self.bytes[offset : offset + count // BLOCK * record.itemsize].view(record)

    def _f32(self, offset, count):
        return self.bytes[offset : offset + 4 * count].view("<f4").astype(np.float32)

    def _q8_0(self, offset, count):  # x = d q
        b = self._blocks(offset, count, [("d", "<f2"), ("q", "i1", BLOCK)])
        return b["d"][:, None].astype(np.float32) * b["q"].astype(np.float32)

    def _q4_1(self, offset, count):  # x = d q + m; low nibbles are the first half of the block
        b = self._blocks(offset, count, [("d", "<f2"), ("m", "<f2"), ("q", "u1", BLOCK // 2)])
        q = np.concatenate([b["q"] & 15, b["q"] >> 4], axis=1).astype(np.float32)
        return b["d"][:, None].astype(np.float32) * q + b["m"][:, None].astype(np.float32)
