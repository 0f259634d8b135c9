#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/twin_api.md from the twin's headers: what a kernel can call, and what it cannot yet. --check only compares."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "twin" / "include"
GROUPS = [("base.hpp", "System, masks, helpers"), ("constants.hpp", "Helpers that no page lists"), ("tensor.hpp", "Tensors"), ("tensor_trait.hpp", "Traits of tensors (`TensorTrait`), layouts"), ("tensor_list.hpp", "Lists of tensors in GM"), ("pipe.hpp", "TPipe, queues, buffers"), ("sync.hpp", "Order, cache, atomics, `GroupBarrier`"),
          ("pool.hpp", "Pools and allocators"), ("system.hpp", "Scalar unit"), ("debug.hpp", "Debugging"), ("move.hpp", "Moves"), ("slices.hpp", "Moves of slices"), ("vector.hpp", "Vector, other than elementwise"), ("reduce.hpp", "Reductions"), ("compare.hpp", "Compare and select"), ("fused.hpp", "Compute and convert"), ("rearrange.hpp", "Gathers, transposes, index ramps"),
          ("sort.hpp", "Sorting"), ("load.hpp", "LoadData"), ("aipp.hpp", "Images into L1"), ("cube.hpp", "Cube"), ("fixpipe.hpp", "Out of L0C"), ("fixpipe_params.hpp", "Out of L0C, with the older parameters"),
          ("library.hpp", "Library: more mathematics and activations"), ("matrices.hpp", "Library: matrices"), ("norm.hpp", "Library: normalisation"), ("norm_grad.hpp", "Library: gradient of LayerNorm, Welford's method"), ("quant.hpp", "Library: quantisation"), ("pad.hpp", "Library: padding"), ("transpose.hpp", "Library: transposes"), ("trans_data.hpp", "Library: changes of format, layouts"), ("fill.hpp", "Library: one value into GM"), ("softmax.hpp", "Softmax"), ("softmax_steps.hpp", "Softmax: gradients, older and newer steps"), ("filter.hpp", "Library: TopK, DropOut, exclusive or"), ("matmul.hpp", "Matmul (`lib/matmul_intf.h`): block by block"), ("matmul_whole.hpp", "Matmul: whole products and batches"), ("matmul_setup.hpp", "Matmul: tiling, shapes, operands"), ("matmul_config.hpp", "MatmulConfig"), ("tiling.hpp", "Workspace"), ("hccl.hpp", "Hccl: communication, on one chip"), ("raw.hpp", "The compiler's own names (global)"), ("raw_cube.hpp", "The compiler's own names of the cube core (global)"),
          ("raw_vector.hpp", "The compiler's own names of reductions, conversions, comparisons (global)"),
          ("raw_rearrange.hpp", "The compiler's own names of gathers, copies, fused conversions (global)")]
TYPES = {"kF16": "half", "kF32": "float", "kI16": "int16", "kI32": "int32", "kU16": "uint16", "kU32": "uint32"}


def functions(text):
    """Names behind TWIN_API, with how many forms each has; macros that make several are followed by their uses."""
    counts = {}
    for name in re.findall(r"TWIN_API (?:constexpr )?[\w:<>\*& ]+?[ \*&](\w+)\(", text):
        if name != "name" and not name.startswith("__"):
            counts[name] = counts.get(name, 0) + 1
    for macro, body in re.findall(r"#define (TWIN_\w+)\(name[^)]*\)((?:.*\\\n)+.*)", text):
        forms = len(re.findall(r"TWIN_API", body))
        for name in re.findall(rf"^{macro}\((\w+)", text, re.M):
            counts[name] = counts.get(name, 0) + forms
    for macro, body in re.findall(r"#define (TWIN_\w+)\(suffix[^)]*\)((?:.*\\\n)+.*)", text):
        for stem in re.findall(r"TWIN_API \w+ (\w+)##suffix\(", body):
            counts.update({stem + use: 1 for use in re.findall(rf"^{macro}\((\w+)", text, re.M)})
    counts.update({name: 1 for name in re.findall(r"^TWIN_RAW_RELU_FUSED\((\w+)", text, re.M)})
    for name in re.findall(r"^TWIN_RAW_ROUNDED\((\w+)", text, re.M):
        counts[name + "(r|a|f|c|z)"] = 1
    return counts


def page():
    out = ["# What the twin covers of Ascend C", "",
           "Made from the headers by `twin/tools/api_page.py`; do not edit. All names are in namespace `AscendC`, for the 910B (`__NPU_ARCH__` 2201).", "",
           "## Elementwise vector instructions", "",
           "Three forms each: count; bit mask, repeats and strides; leading lanes, repeats and strides; the last two also with `isSetMask = false`.", "",
           "And of whole tensors, by operators: `dst = a + b`, with `-`, `*`, `/`, `&`, `|`, and `<`, `>`, `==`, `<=`, `>=`, `!=` for Compare.", "",
           "| instruction | element types |", "|---|---|"]
    for name, types in re.findall(r"^TWIN_(?:BINARY|BINARY_DST|SCALAR|SCALAR_DST|UNARY)\((\w+), ([^,]+),", (INCLUDE / "twin/vector.inc").read_text(), re.M):
        if name == "ShiftRightRounded":
            continue  # ShiftRight with roundEn
        out.append(f"| {name} | {', '.join(TYPES[t.strip()] for t in types.split('|'))} |")
    out[-1:] = [out[-1], "", "`MulAddDst`, `FusedMulAdd`, `FusedMulAddRelu` and `Axpy` also add half sources into a float destination."]
    library = (INCLUDE / "twin/library.inc").read_text()
    rows = re.findall(r"^TWIN_LIBRARY_(?:1|2|1S)\((\w+), ([^,]+),", library, re.M)
    out += ["", "## Elementwise functions of the library", "",
            "With and without a scratch tensor, with and without a count. Values are computed in double and rounded once, so they are as good as the type allows; the vendor's own sequences and their last bits are not "
            "public. Their cost is a number of vector instructions that such a sequence takes: assumed.", "",
            ", ".join(f"`{n}`" for n, _ in sorted(rows)) + " (half and float" + "".join(f"; {n} also " + ", ".join(TYPES[t.strip()] for t in types.split("|") if t.strip() not in ("kF16", "kF32"))
                                                                                     for n, types in rows if len(types.split("|")) > 2) + ").", "",
            "`AscendQuant` rounds each of its steps to half and `AscendAntiQuant` to half or, for bfloat16, to float, in the order that the reference gives; `AscendDequant` multiplies in float.", "",
            "`SetPadValue` counts where `isPad` is false, as one of the two examples in the reference has it; with `isPad` the parameters' own value does.", "",
            "`LoadImageToLocal` changes pixels in this order: channels change places, the colour space (`(matrix * (in - biasIn) >> 8) + biasOut`, held within a byte), the type (half is rounded once, at the end), padding. Padding of mode 2 repeats the "
            "block of its own size at that side, mode 3 mirrors it with the edge. That order and the place of the colour space's biases are assumed: no page gives them. Its time is that of a copy of the bytes that come out.", "",
            "`ReadSpmBuffer` waits for what `WriteSpmBuffer` has stored, as the example of the reference takes for granted, and for nothing else. An arrival at a `GroupBarrier` covers the stores of its core's MTE3, and a wait holds back every pipe: assumed, as the flags inside are not described. "
            "`vcadd` with mode true adds repeats one after another; `vgather` and `vgatherb` count `offsetAddr` in bytes: assumed. Softmax on Nz data takes columns of 16 halves, each `srcM` high.", "",
            "`GetSystemCycle` grows with every instruction of the core, but is no time: the model computes time after the run."]
    for header, title in GROUPS:
        names = functions((INCLUDE / "ascendc" / header).read_text())
        if names:
            out += ["", f"## {title}", "", ", ".join(f"`{n}`" + (f" ({c} forms)" if c > 1 else "") for n, c in sorted(names.items()))]
    for label, header in (("Host (`acl/acl.h`)", "acl/acl.h"),):
        names = sorted(set(re.findall(r"\b(acl\w+)\(", (INCLUDE / header).read_text())))
        out += ["", f"## {label}", "", ", ".join(f"`{n}`" for n in names)]
    host = set()
    for header in sorted((INCLUDE / "tiling").glob("*_tiling.hpp")):
        text = header.read_text()
        host |= set(re.findall(r"^inline (?:void|bool|std::uint32_t) (Get\w+|\w+TilingFunc)\(", text, re.M)) | set(re.findall(r"^TWIN_HOST_SIZES\((\w+)\)", text, re.M))
        host |= {f"Get{n}MaxMinTmpSize" for n in re.findall(r"^TWIN_HOST_(?:BOTH|REDUCE)\((\w+)\)", text, re.M)}
        host |= {f"Get{n}TmpBufferFactorSize" for n in re.findall(r"^TWIN_HOST_(?:BOTH|FACTORS)\((\w+)\)", text, re.M)}
    out += ["", "## Host: tiling of the library (`tiling/tiling_api.h`)", "", "The sizes of temporaries are the twin's own.", "",
            ", ".join(f"`{n}`" for n in sorted(host)), "", "`matmul_tiling::MatmulApiTiling` and its kin: [Matmul](twin_matmul.md)."]
    lists = (INCLUDE / "ascendc/missing.inc").read_text()
    missing = re.findall(r"^TWIN_MISSING(?:_CLASS)?\((\w+)\)", lists, re.M)
    elsewhere = re.findall(r"^TWIN_ELSEWHERE(?:_CLASS)?\((\w+)\)", lists, re.M)
    nowhere = re.findall(r"^TWIN_NOWHERE\((\w+), \"([^\"]+)\"\)", lists, re.M)
    out += ["", "## Not yet", "", "A kernel that uses one of these does not compile, and the message names it:", "",
            ", ".join(f"`{n}`" for n in sorted(missing)) + ".", "",
            "The reference has these, but not for the 910B; the message says so:", "",
            ", ".join(f"`{n}`" for n in sorted(elsewhere)) + ".", "",
            "No page of the reference has these; the message says what there is instead:", "",
            ", ".join(f"`{n}` ({text})" for n, text in nowhere) + ".", "",
            "Forms that are missing or narrower: `LoadData` 3D with channels that do not fill C0; `int4b_t` beyond tensors, plain copies, `Cast` with half, `LoadData` (2D), `LoadDataWithTranspose`, `Mmad`, `Matmul` and `AscendAntiQuant`; "
            "softmax on Nz data of float, `LogSoftMax` and `SoftmaxFlashV3` on Nz data; `SetCtrlSpr` to modes that the twin does not compute in (halves without Inf and NaN, integers that saturate, conversions that truncate); sparse `Matmul` (`SetSparseIndex`, whose type of B no page that could be read gives; `MmadWithSparse` and `LoadDataWithSparse` are there); "
            "`FixpipeParams` with a `srcStride`, which is reserved, a relu with slopes on the way out of L0C; tiling functions of the library inside of a kernel; `LoadImageToLocal` with a `dtcRoundMode`; `Hccl` between chips ([one chip](twin_hccl.md)); the libraries of convolutions; "
            "of the compiler's raw names those listed above: `scatter_vnchwconv` and its kin take address registers that no page says how to fill. A form the twin does not have does not compile, or is reported where it runs; nothing is passed over.", ""]
    return "\n".join(out)


def main():
    target = ROOT / "docs" / "twin_api.md"
    text = page()
    if "--check" in sys.argv:
        if not target.exists() or target.read_text() != text:
            sys.exit("docs/twin_api.md is out of date: run twin/tools/api_page.py")
    else:
        target.write_text(text)


main()
