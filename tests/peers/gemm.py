#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Our products beside PyTorch's: the same shapes, data and condition, in interleaved rounds.

  gemm.py BIN_DIR TORCH_PEER OUT.json [--rounds 5] [--condition sustained|burst]
          [--dtypes bf16,fp8,...] [--shapes 4096x4096x4096,...]

TORCH_PEER is a script that times torch.matmul and prints one JSON object a line: {"op": "gemm",
"dtype", "shape", "tflops"}, and {"op": "context", "torch", "cuda", "device"}. Each round runs both
once, in fresh processes, ours first in every second one. OUT.json holds every value of every round;
tests/lint/results.py makes a table of it."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

# The peer multiplies a @ b, both row-major ("nn"), where the library takes that layout; its FP64
# data come from a single-precision generator.
VARIANTS = {"fp64": ("fp64", "+nn+float_data"), "fp32": ("fp32", "+nn"), "tf32": ("tf32", "+nn"),
            "fp16": ("fp16", "+nn"), "bf16": ("bf16", "+nn"), "int8": ("int8", ""),
            "fp8": ("fp8_e4m3", ""), "fp8_slow": ("fp8_e4m3_full", "")}
# Seconds of warm-up and samples of the peer in each condition.
PEER = {"sustained": ["--warm", "2"], "burst": ["--warm", "0.1", "--samples", "5"]}


def id_of(dtype, shape, condition):
    precision, variant = VARIANTS[dtype]
    return f"gemm/{precision}/{shape}{variant}/{condition}"


def ours(options, ids):
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "run.jsonl"
        command = [str(options.bin_dir / "assay-gemm"), f"--ids={','.join(ids)}", f"--log={log}"]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
    values = {}
    for line in lines:
        if line["type"] != "record":
            continue
        record = line["record"]
        if record["status"] != "ok":
            sys.exit(f"{record['id']}: {record['status']}: {record['message']}")
        values[record["id"]] = record["work"]["operations"] / record["timing"]["median_s"] / 1e12
    if set(values) != set(ids):
        sys.exit(f"assay-gemm: exit {done.returncode}, {len(values)} of {len(ids)} cases: {done.stderr}")
    return values


def theirs(options):
    command = [sys.executable, str(options.peer), "gemm", "--dtypes", options.dtypes, "--shapes",
               options.shapes, *PEER[options.condition]]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not rows:
        sys.exit(f"{options.peer}: exit {done.returncode}: {done.stderr}")
    context = next(row for row in rows if row["op"] == "context")
    failed = [row for row in rows if "error" in row]
    if failed:
        sys.exit(f"{options.peer}: {failed}")
    return context, {(row["dtype"], row["shape"]): row["tflops"] for row in rows if row["op"] == "gemm"}


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("peer", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--condition", choices=PEER, default="sustained")
    parser.add_argument("--dtypes", default=",".join(VARIANTS))
    parser.add_argument("--shapes", default="4096x4096x4096,8192x8192x8192")
    return parser.parse_args()


def main():
    options = parse()
    pairs = {(dtype, shape): id_of(dtype, shape, options.condition)
             for dtype in options.dtypes.split(",") for shape in options.shapes.split(",")}
    rows = {pair: {"id": row_id, "dtype": pair[0], "shape": pair[1], "ours": [], "theirs": []}
            for pair, row_id in pairs.items()}
    context = {}
    for number in range(options.rounds):
        if number % 2 == 0:
            mine = ours(options, list(pairs.values()))
            context, other = theirs(options)
        else:
            context, other = theirs(options)
            mine = ours(options, list(pairs.values()))
        for pair, row in rows.items():
            row["ours"].append(mine[row["id"]])
            row["theirs"].append(other[pair])
        # Written after every round: what was measured is not lost with the next.
        options.out.write_text(json.dumps(
            {"peer": f"PyTorch {context['torch']}, CUDA {context['cuda']}",
             "device": context["device"], "condition": options.condition, "unit": "TFLOPS",
             "rounds": number + 1, "rows": list(rows.values())}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
