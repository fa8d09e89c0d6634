#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""One GEMM and one copy, timed by the harness and by Nsight Compute: within 2 % at the same clock.

Also checks that the profiler finds what was timed by its NVTX range, and nothing else. With
--write FILE the figures are kept, together with those of the kernels of known length, for
docs/RESULTS.md. Exit 77 where there is no GPU or no ncu."""

import csv
import io
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

BIN = pathlib.Path(os.environ["ASSAY_BIN_DIR"])
CASES = [("gemm", "gemm/bf16/8192x8192x8192/burst"), ("memory", "memory/copy/4GiB/burst")]
DURATION, CLOCK = "gpu__time_duration.sum", "sm__cycles_elapsed.avg.per_second"
TOLERANCE = 0.02
SAMPLES = 3  # of a profiled case


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def ours(family, case, folder):
    log = folder / "run.jsonl"
    log.unlink(missing_ok=True)
    done = subprocess.run([BIN / f"assay-{family}", f"--ids={case}", f"--log={log}"],
                          capture_output=True, text=True, timeout=60)
    if done.returncode == 2:
        skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    record = next(line["record"] for line in lines if line["type"] == "record")
    assert record["status"] == "ok", record["message"]
    return record["timing"]


def profiled(family, case):
    """Durations (s) and clocks (MHz) of the kernels in the ranges that bear the case's name."""
    name = case.replace("/", ".")  # a slash ends a range's name in the filter's syntax
    done = subprocess.run(
        ["ncu", "--clock-control", "none", "--nvtx", "--nvtx-include", f"regex:assay@{name}/",
         "--metrics", f"{DURATION},{CLOCK}", "--csv", BIN / f"assay-{family}", "--profile",
         f"--ids={case}"], capture_output=True, text=True, timeout=200)
    text = done.stdout[done.stdout.index('"ID"'):] if '"ID"' in done.stdout else ""
    assert text, "ncu found no range of that name:\n" + done.stdout + done.stderr
    found = {DURATION: [], CLOCK: []}
    for row in csv.DictReader(io.StringIO(text)):
        value = float(row["Metric Value"].replace(",", ""))
        unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "hz": 1e-6, "Mhz": 1.0, "Ghz": 1e3}
        found[row["Metric Name"]].append(value * unit[row["Metric Unit"]])
    return found[DURATION], found[CLOCK]


def known_lengths(folder):
    """What the device test of known kernel lengths found, in ns."""
    output = folder / "spin.json"
    done = subprocess.run([BIN / "device_harness", "--gtest_filter=*KnownLength*",
                           f"--gtest_output=json:{output}"], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stdout
    test = json.loads(output.read_text())["testsuites"][0]["testsuite"][0]
    rows = []
    for key, value in test.items():
        if key.startswith("known_ns_"):
            suffix = key.removeprefix("known")
            rows.append({"known_ns": float(value), "measured_ns": float(test["measured" + suffix]),
                         "launch_ns": float(test["launch" + suffix])})
    return sorted(rows, key=lambda row: row["known_ns"])


def main():
    if shutil.which("ncu") is None:
        skip("ncu is not installed")
    failed = []
    result = {"profiler": []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for family, case in CASES:
            timing = ours(family, case, folder)
            durations, clocks = profiled(family, case)
            if len(durations) != SAMPLES:
                failed.append(f"{case}: {len(durations)} kernels in the ranges, not {SAMPLES}")
            duration, clock = statistics.median(durations), statistics.median(clocks)
            cycles = timing["median_s"] * timing["sm_clock_mhz"] / (duration * clock)
            print(f"{case}: {timing['median_s'] * 1e6:.1f} us at {timing['sm_clock_mhz']:.0f} MHz, "
                  f"ncu {duration * 1e6:.1f} us at {clock:.0f} MHz: "
                  f"{100 * (timing['median_s'] / duration - 1):+.2f} % in time, "
                  f"{100 * (cycles - 1):+.2f} % at the same clock")
            result["profiler"].append(
                {"id": case, "ours_us": timing["median_s"] * 1e6, "ours_mhz": timing["sm_clock_mhz"],
                 "ncu_us": duration * 1e6, "ncu_mhz": clock})
            if not abs(cycles - 1) <= TOLERANCE:
                failed.append(f"{case}: more than {TOLERANCE:.0%} apart")
        if len(sys.argv) == 3 and sys.argv[1] == "--write":
            result["known_lengths"] = known_lengths(folder)
            pathlib.Path(sys.argv[2]).write_text(json.dumps(result, indent=2) + "\n")
    print("\n".join(failed) or "ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
