#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Sample reports keep to reports/report.schema.json, and damaged ones do not.

    schema_test.py [ASSAY [REPORT...]]

ASSAY is the built program: what it writes of each sample must be the sample again, so that a field
added to the code is added to the samples and to the schema. After such a change:
`assay report tests/data/report_good.json --json tests/data/report_good.json`. Further reports, such
as one just measured, are validated too. Exits 77 (skipped) without Python's jsonschema.
"""

import copy
import json
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: Python has no jsonschema")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = sorted((ROOT / "tests/data").glob("report_*.json"))


def refuse_constant(name):
    raise ValueError(f"{name} is no JSON")


def load(text):
    """Strict: NaN and Infinity, which Python would take, are refused, and so are duplicate keys."""

    def unique(pairs):
        keys = [key for key, _ in pairs]
        if len(keys) != len(set(keys)):
            raise ValueError(f"duplicate key among {keys}")
        return dict(pairs)

    return json.loads(text, parse_constant=refuse_constant, object_pairs_hook=unique)


def damaged(report):
    """(what, report) pairs that a validator has to refuse."""

    def changed(what, change):
        other = copy.deepcopy(report)
        change(other)
        return what, other

    def drop(keys):
        def change(other):
            for key in keys[:-1]:
                other = other[key]
            del other[keys[-1]]

        return change

    def put(keys, value):
        def change(other):
            for key in keys[:-1]:
                other = other[key]
            other[keys[-1]] = value

        return change

    record = ["assay", "records", 0]
    yield changed("a newer schema version", put(["assay", "schema_version"], 2))
    yield changed("no verdict", drop(["assay", "verdict"]))
    yield changed("a plan without its GPUs", drop(["assay", "plan", "gpus"]))
    yield changed("a target without its pipe",
                  lambda other: other["assay"]["targets"].append(
                      {"sku": "x", "file": "x.yaml", "date": "2026-11-30", "warnings": [],
                       "targets": [{"id": "a/b/burst", "metric": "tflops", "floor": 1, "usual": 2,
                                    "run_sd_pct": 1, "chip_sd_pct": 1, "cards": 1, "source": "x",
                                    "date": "2026-11-30"}]}))
    yield changed("a samples line of 0",
                  lambda other: other["benchmarks"].append(
                      {"name": "x", "assay": {"id": "x", "device": "host", "samples_line": 0}}))
    yield changed("an unknown verdict", put(["assay", "verdict", "status"], "passed"))
    yield changed("an exit code as text", put(["assay", "verdict", "exit_code"], "0"))
    yield changed("a start without a zone", put(["assay", "started"], "2026-11-30T17:05:12"))
    yield changed("an unknown record status", put(record + ["status"], "fine"))
    yield changed("an unknown power condition", put(record + ["conditions", "power"], "turbo"))
    yield changed("a record without its checks", drop(record + ["verification"]))
    yield changed("a share of samples above 1", put(record + ["telemetry", "event_reasons", "x"], 2))
    yield changed("an id with a blank", put(record + ["id"], "gemm/bf16 /burst"))
    yield changed("a misspelt field", put(record + ["judgd"], {}))
    yield changed("a device as text", put(record + ["device"], "GPU-1"))
    yield changed("no inventory", drop(["inventory"]))
    yield changed("a GPU count as text", put(["inventory", "host", "cpus"], "112"))
    yield changed("a hash of another length", put(["assay", "samples_sha256"], "ab"))


def check_writer(assay, sample, failures):
    done = subprocess.run([assay, "report", str(sample), "--json", "-"], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        failures.append(f"{sample.name}: {done.stderr.strip()}")
    elif done.stdout != sample.read_text():
        failures.append(f"{sample.name}: the program writes it otherwise")


def main():
    schema = load((ROOT / "reports/report.schema.json").read_text())
    kind = jsonschema.Draft202012Validator
    kind.check_schema(schema)
    validator = kind(schema)
    failures = []
    if len(SAMPLES) < 3:
        failures.append("tests/data: fewer than three sample reports")
    for path in SAMPLES + [pathlib.Path(argument) for argument in sys.argv[2:]]:
        for error in validator.iter_errors(load(path.read_text())):
            failures.append(f"{path.name}: {error.json_path}: {error.message[:200]}")
    for path in SAMPLES:
        if len(sys.argv) > 1:
            check_writer(sys.argv[1], path, failures)
        report = load(path.read_text())
        unjudged = copy.deepcopy(report)
        unjudged["assay"]["verdict"] = None
        if not validator.is_valid(unjudged):
            failures.append(f"{path.name}: refused without a verdict, as `assay run` writes it")
        for what, other in damaged(report):
            if validator.is_valid(other):
                failures.append(f"{path.name}: {what} is let through")
    for failure in failures:
        print(failure)
    print(f"{len(SAMPLES)} samples, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
