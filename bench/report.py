# SPDX-License-Identifier: Apache-2.0
"""The results of bench/compare.py as Markdown tables."""

NAMES = {"torch": "PyTorch", "vllm": "vLLM", "zentorch": "zentorch", "openvino": "OpenVINO", "onnxruntime": "ONNX Runtime"}


def milliseconds(seconds):
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds * 1e3:.0f} ms"


def markdown(results, cases):
    """Ratios, layouts, memory and refusals; `cases` gives the order of the rows."""
    order = {problem: i for i, problem in enumerate(cases)}
    results = sorted(results, key=lambda r: (order.get(r["problem"], len(order)), r.get("threads", 0)))
    peers = [p for p in NAMES if any(p in r.get("ratio", {}) or p in r.get("refused", {}) for r in results)]
    lines = []
    if peers:
        lines = ["| problem | threads | Tessera | " + " | ".join(NAMES[p] for p in peers) + " | against the best |",
                 "|---|--:|--:|" + "--:|" * (len(peers) + 1)]
    for r in results:
        if "ratio" not in r:
            continue
        cells = []
        for p in peers:
            if p in r["ratio"]:
                ratio = r["ratio"][p]
                cells.append(f"{milliseconds(r['seconds'][p])}, {ratio['median']:.2f} ± {ratio['spread']:.2f} ×")
            else:
                cells.append("–")
        best = min((x["median"] for x in r["ratio"].values()), default=None)
        cells.append("–" if best is None else f"**{best:.2f} ×**")
        lines.append(f"| `{r['problem']}` | {r['threads']} | {milliseconds(r['seconds']['tessera'])} | " + " | ".join(cells) + " |")
    layouts = [r for r in results if "layouts" in r]
    if layouts:
        lines += ["", "| problem | threads | layout | median | over contiguous | same bits |", "|---|--:|---|--:|--:|---|"]
    for r in layouts:
        for layout, x in r["layouts"].items():
            lines.append(f"| `{r['problem']}` | {r['threads']} | {layout} | {milliseconds(x['seconds'])} | {x['median']:.3f} ± "
                         f"{x['spread']:.3f} | {'yes' if x['same_bits'] else '**no**'} |")
    for r in results:
        if "bytes" in r:
            ours, unfused, inputs = r["bytes"]["tessera"], r["bytes"]["unfused"], r["inputs"]
            lines += ["", f"Peak memory, `{r['problem']}`: O, workspace and all else take {ours / 2**20:.1f} MiB, the unfused way "
                          f"{unfused / 2**20:.0f} MiB: {100 * (1 - ours / unfused):.1f} % less. With Q, K and V "
                          f"({inputs / 2**20:.0f} MiB) {100 * (1 - (ours + inputs) / (unfused + inputs)):.1f} % less."]
    refusals = sorted({(p, why) for r in results for p, why in r.get("refused", {}).items()})
    if refusals:
        lines += ["", "What a dash stands for:"]
        for peer, why in refusals:
            problems = [f"`{r['problem']}`" for r in results if r.get("refused", {}).get(peer) == why]
            lines.append(f"- {NAMES[peer]}: {why} ({len(problems)} rows)")
    return "\n".join(lines) + "\n"
