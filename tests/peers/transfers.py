#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Our streams and copies beside BabelStream's and nvbandwidth's, in interleaved rounds.

  transfers.py BIN_DIR babelstream PROGRAM OUT.json [--rounds 5]
  transfers.py BIN_DIR nvbandwidth PROGRAM OUT.json [--rounds 5]

PROGRAM is BabelStream's CUDA program or nvbandwidth, built from their public sources. Each round
runs both once, in fresh processes, ours first in every second one. BabelStream's figure is its own
best, of the sizes and widths below; ours is the median. OUT.json holds every value of every round;
tests/lint/results.py makes a table of it."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# (width, elements): its default, and 4 GiB a tensor in both widths.
BABEL_SIZES = [("fp64", 2**25), ("fp64", 2**29), ("fp32", 2**30)]
BABEL = {"Copy": "copy", "Mul": "scale", "Add": "add", "Triad": "triad", "Dot": "dot"}
BABEL_IDS = {f"memory/{op}/4GiB+fp64/burst": ("FP64", name) for name, op in BABEL.items()}
NVB = {"links/h2d/512MiB/burst": ("copy engine", "host_to_device_memcpy_ce"),
       "links/d2h/512MiB/burst": ("copy engine", "device_to_host_memcpy_ce"),
       "links/h2d/512MiB+sm/burst": ("processors", "host_to_device_memcpy_sm"),
       "links/d2h/512MiB+sm/burst": ("processors", "device_to_host_memcpy_sm")}


def run(command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: exit {done.returncode}: {done.stdout[-500:]}{done.stderr}")
    return done.stdout


def ours(bin_dir, ids):
    family = ids[0].split("/")[0]
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "run.jsonl"
        run([bin_dir / f"assay-{family}", f"--ids={','.join(ids)}", f"--log={log}"])
        lines = [json.loads(line) for line in log.read_text().splitlines()]
    records = [line["record"] for line in lines if line["type"] == "record"]
    return {record["id"]: record["work"]["bytes"] / record["timing"]["median_s"] / 1e9
            for record in records}


def babelstream(program):
    """By name, the best of all sizes and widths; and what device."""
    best, device, version = {}, "", ""
    for width, elements in BABEL_SIZES:
        flags = ["--float"] if width == "fp32" else []
        text = run([program, *flags, "-s", elements, "-n", "30"])
        device = re.search(r'CUDA Device 0: "(.*?)"', text)[1]
        version = re.search(r"^Version: (\S+)", text, re.MULTILINE)[1]
        for name in BABEL:
            rate = float(re.search(rf"^{name}\s+([0-9.]+)", text, re.MULTILINE)[1]) / 1e3
            best[name] = max(best.get(name, 0), rate)
    return {row_id: best[name] for row_id, (_, name) in BABEL_IDS.items()}, f"BabelStream {version}", device


def nvbandwidth(program):
    text = run([program, "-t", *(name for _, name in NVB.values())])
    version = re.search(r"nvbandwidth Version: (\S+)", text)[1]
    device = re.search(r"^Device 0: (.*?)(?: \(|$)", text, re.MULTILINE)[1]
    rates = {row_id: float(re.search(rf"^SUM {name} ([0-9.]+)", text, re.MULTILINE)[1])
             for row_id, (_, name) in NVB.items()}
    return rates, f"nvbandwidth {version}", device


PEERS = {"babelstream": (BABEL_IDS, babelstream), "nvbandwidth": (NVB, nvbandwidth)}


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def main():
    options = parse()
    ids, theirs = PEERS[options.peer]
    rows = {row_id: {"id": row_id, "group": group, "ours": [], "theirs": []}
            for row_id, (group, _) in ids.items()}
    for number in range(options.rounds):
        if number % 2 == 0:
            mine = ours(options.bin_dir, list(ids))
            other, name, device = theirs(options.program)
        else:
            other, name, device = theirs(options.program)
            mine = ours(options.bin_dir, list(ids))
        for row_id, row in rows.items():
            row["ours"].append(mine[row_id])
            row["theirs"].append(other[row_id])
        # Written after every round: what was measured is not lost with the next.
        options.out.write_text(json.dumps(
            {"peer": name, "device": device, "condition": "burst", "unit": "GB/s", "groups": "kind",
             "rounds": number + 1, "rows": list(rows.values())}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
