#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy-19 over the .cc files of a build, which remembers those that were clean.

    tests/lint/tidy.py build/ci

A file is looked at again when its command, its own text or that of a header of ours that it
includes, the system headers' names, .clang-tidy or the tool has changed. No .cu file is looked at:
clang does not know CUDA 13.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys

TIDY = "clang-tidy-19"
ROOT = pathlib.Path(__file__).resolve().parents[2]


def cache_folder(build):
    """Outside the build where possible, so that a fresh clone starts with what an old one knew."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for folder in (pathlib.Path(home) / "assay" / "tidy", build / "tidy"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    raise SystemExit("tidy: no folder to remember results in")


def dependencies(build):
    """{object file: [files that it was compiled from]}, from ninja's own record."""
    listing = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], check=True, text=True,
                             capture_output=True).stdout
    found, files = {}, []
    for line in listing.splitlines():
        if line.startswith("    "):
            files.append(line.strip())
        elif ": #deps" in line:
            files = found.setdefault(line.split(": #deps")[0], [])
    return found


def key_of(unit, deps, build, tool, digests):
    """What a clean result depends on; the same for every clone, wherever it lies."""
    key = hashlib.sha256(tool)
    key.update(unit["command"].replace(str(ROOT), "").encode())
    for name in sorted([unit["file"], *deps.get(unit.get("output"), [])]):
        path = pathlib.Path(os.path.normpath(build / name))
        if path.is_relative_to(ROOT):
            if path not in digests:
                digests[path] = hashlib.sha256(path.read_bytes()).digest()
            key.update(str(path.relative_to(ROOT)).encode() + digests[path])
        else:
            key.update(str(path).encode())
    return key.hexdigest()


def check(unit, build):
    # Warnings are the compilers' affair: clang's -Werror would fail on libstdc++'s own headers.
    extra = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-error"]
    run = subprocess.run([TIDY, "-p", str(build), "--quiet", *extra, unit["file"]], text=True,
                         capture_output=True)
    # On stderr stands only how many warnings of system headers were left out, unless it failed.
    return run.returncode, run.stdout + (run.stderr if run.returncode and not run.stdout else "")


def main():
    if len(sys.argv) != 2:
        raise SystemExit("usage: tidy.py BUILD_FOLDER")
    build = pathlib.Path(sys.argv[1]).resolve()
    cache = cache_folder(build)
    tool = subprocess.run([TIDY, "--version"], check=True, capture_output=True).stdout
    tool += (ROOT / ".clang-tidy").read_bytes()
    deps, digests = dependencies(build), {}
    units = [unit for unit in json.loads((build / "compile_commands.json").read_text())
             if unit["file"].endswith(".cc") and pathlib.Path(unit["file"]).is_relative_to(ROOT)
             and not pathlib.Path(unit["file"]).is_relative_to(build)]
    todo = []
    for unit in units:
        mark = cache / key_of(unit, deps, build, tool, digests)
        if not mark.exists():
            todo.append((unit, mark))
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (unit, mark), (code, words) in zip(
                todo, pool.map(lambda item: check(item[0], build), todo)):
            if code == 0:
                mark.touch()
            else:
                bad += 1
                print(words.strip(), flush=True)
    print(f"tidy: {len(units)} files, {len(units) - len(todo)} known to be clean, "
          f"{len(todo)} looked at, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
