#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The commands, options and scripts that the documents name must exist.

    tests/lint/docs.py build/ci/bin/assay

Looks at code in the Markdown files: `./assay VERB --option` and paths of this repository.
"""

import functools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What ./assay itself does; its options are those that its own text names.
FRONT_DOOR = {"test", "setup"}
FRONT_DOOR_TEXT = (ROOT / "assay").read_text()
COMMAND = re.compile(r"(?:^|[\s(])(?:\./|\S*/bin/)?assay\s+(?P<rest>[^|;&#>]*(?:\\?\|\w[^|;&#>]*)*)")
PATH = re.compile(r"(?<![\w/.])(?:\./)?((?:tests|docker|\.ci|cmake)/[a-z0-9_./-]*[a-z0-9_])")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")


def documents():
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "--", "*.md"],
        check=True, text=True, capture_output=True, cwd=ROOT).stdout.split("\n")
    return [ROOT / name for name in listed if name and (ROOT / name).is_file()]


def code_of(text):
    """Yields (line number, code): fenced and indented lines whole, otherwise each `span`."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield number, line
        else:
            for span in re.findall(r"`([^`]+)`", line):
                yield number, span


@functools.cache
def help_of(program, verb):
    run = subprocess.run([program, *([verb] if verb else []), "--help"], text=True,
                         capture_output=True, stdin=subprocess.DEVNULL)
    return run.stdout if run.returncode == 0 else None


def faults_of(code, program):
    for path in PATH.findall(code):
        if not (ROOT / path).exists():
            yield f"{path}: no such file"
    for match in COMMAND.finditer(code):
        rest = match["rest"].replace("--no-install", "").split()
        words = [word.strip("[]()") for word in rest]
        verb = words[0] if words and re.fullmatch(r"[a-z]+", words[0]) else ""
        if words and not verb and not words[0].startswith("-"):
            continue  # COMMAND, <verb>, prose
        known = FRONT_DOOR_TEXT if verb in FRONT_DOOR else help_of(program, verb)
        if known is None:
            yield f"assay {verb}: no such command"
            continue
        for option in OPTION.findall(" ".join(rest)):
            if option not in known and option not in ("--help", "--version"):
                yield f"assay {verb}: no option {option}"


def main():
    if len(sys.argv) != 2:
        raise SystemExit("usage: docs.py PATH_OF_ASSAY")
    bad = seen = 0
    for document in documents():
        for number, code in code_of(document.read_text()):
            seen += bool(COMMAND.search(code) or PATH.search(code))
            for fault in faults_of(code, sys.argv[1]):
                bad += 1
                print(f"{document.relative_to(ROOT)}:{number}: {fault}")
    print(f"docs: {seen} pieces of code, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
