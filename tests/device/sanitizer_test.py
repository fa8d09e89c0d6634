#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The kernels' own tests under memcheck, racecheck and initcheck of compute-sanitizer: no error.

Exit 77 where there is no GPU or no compute-sanitizer."""

import os
import pathlib
import shutil
import subprocess
import sys

KERNELS = pathlib.Path(os.environ["ASSAY_BIN_DIR"]) / "device_kernels"
FOUND = 9  # of nothing else here


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def run(command):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=280, check=False)


def main():
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not pathlib.Path(sanitizer).exists():
        skip("no compute-sanitizer")
    alone = run([KERNELS])
    if alone.returncode == 0 and "[       OK ] Hash" not in alone.stdout:
        skip("no GPU")
    assert alone.returncode == 0, alone.stdout
    for tool in ("memcheck", "racecheck", "initcheck"):
        done = run([sanitizer, "--tool", tool, "--error-exitcode", str(FOUND), KERNELS])
        print(f"{tool}: exit {done.returncode}")
        assert done.returncode == 0, done.stdout


if __name__ == "__main__":
    main()
