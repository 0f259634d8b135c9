# SPDX-License-Identifier: Apache-2.0
"""Draws the results of bench/compare.py: how long each peer takes for what Tessera does in one unit of time."""
import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: E402

STYLE = {"torch": ("PyTorch", "#d1495b", "o"), "vllm": ("vLLM", "#2e86ab", "s"), "zentorch": ("zentorch", "#7b5ea7", "^"),
         "openvino": ("OpenVINO", "#e08e45", "D"), "onnxruntime": ("ONNX Runtime", "#5b8c5a", "v")}


def draw(results, path):
    """One line a problem, with as many threads as were measured at most; left of 1 a peer is faster, right of it slower."""
    threads = max(r["threads"] for r in results if "threads" in r)
    rows = [r for r in results if r.get("threads") == threads and r.get("ratio")][::-1]  # the first on top
    plt.rcParams.update({"svg.hashsalt": "tessera", "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif"})
    figure, axes = plt.subplots(figsize=(9, 1.4 + 0.3 * len(rows)))
    for y, row in enumerate(rows):
        ratios = [x["median"] for x in row["ratio"].values()]
        axes.plot([1, max(ratios)], [y, y], color="#d8d8d8", linewidth=1, zorder=1)
    for peer, (name, color, marker) in STYLE.items():
        points = [(row["ratio"][peer]["median"], y) for y, row in enumerate(rows) if peer in row["ratio"]]
        if points:
            axes.scatter(*zip(*points), label=name, color=color, marker=marker, s=28, zorder=3)
    axes.axvline(1, color="#222222", linewidth=1.5, zorder=2)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}×"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    ticks = [t for t in (0.5, 1, 2, 3, 5, 10, 20, 50, 100, 200)
             if t <= 1.3 * max(x["median"] for r in rows for x in r["ratio"].values())]
    axes.set_xticks(ticks)
    axes.set_yticks(range(len(rows)), [r["problem"].replace(" b1 ", " ") for r in rows], family="monospace", fontsize=7.5)
    axes.set_xlabel(f"time over Tessera's, {threads} threads, same run (right of 1: slower)")
    axes.grid(axis="x", color="#eeeeee", zorder=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.legend(ncols=5, loc="lower center", bbox_to_anchor=(0.35, 1.0), frameon=False)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
