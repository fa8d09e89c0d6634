#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""docs/RESULTS.md is made from what is committed under docs/results/, and from nothing else.

  results.py ASSAY            compares, for the tests
  results.py ASSAY --write    writes it anew

report.json: judged again by ASSAY; one of suite `timing` also gives run-to-run deviations.
peer_ab.json: `assay ab` against another program. peer*.json otherwise: tests/peers/, one sitting
a file.
timer.json: tests/device/profiler_test.py --write. accepts.jsonl: a line for each `accept` on a
sound card, {"date", "revision", "card", "verdict", "duration_s"}."""

import difflib
import json
import math
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "RESULTS.md"
HEAD = """# Measured

Made by `tests/lint/results.py` from the files under `docs/results/`: what `assay judge` says of each report, by
the floors that the report embeds, and what follows from its runs. Reports are redacted; each names its floors
and their sources.
"""


def title_of(path):
    return path.parent.relative_to(ROOT / "docs" / "results")


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def judged(assay, report):
    """Verdicts of any kind belong in the page; a report that cannot be judged does not."""
    path = report.relative_to(ROOT)
    done = subprocess.run([assay, "judge", path], cwd=ROOT, capture_output=True, text=True)
    if done.returncode > 2:
        sys.exit(f"{path}: {done.stderr}")
    return f"\n## {title_of(report)}\n\n`./assay judge {path}`\n\n```text\n{done.stdout}```\n"


def repeatability(report):
    """Run-to-run standard deviations of a report that was made for them."""
    assay = json.loads(report.read_text())["assay"]
    if assay["suite"] != "timing":
        return ""
    rows = []
    for record in assay["records"]:
        for metric in record["metrics"].values():
            if not metric["primary"]:
                continue
            values = metric["values"]
            rows.append([f"`{record['id']}`", str(len(values)),
                         f"{statistics.mean(values):.1f} {metric['unit']}",
                         f"{100 * statistics.stdev(values) / statistics.mean(values):.2f} %"])
    return ("\nRun to run, one value a fresh process:\n\n"
            + table(["row", "runs", "mean", "s.d."], rows))


def timer(path):
    result = json.loads(path.read_text())
    spins = [[f"{row['known_ns'] / 1e3:.1f}", f"{row['measured_ns'] / 1e3:.2f}",
              f"{row['launch_ns'] / 1e3:.2f}",
              f"{(row['measured_ns'] - row['launch_ns'] - row['known_ns']) / 1e3:+.2f}"]
             for row in result["known_lengths"]]
    rivals = [[f"`{row['id']}`", f"{row['ours_us']:.1f} at {row['ours_mhz']:.0f} MHz",
               f"{row['ncu_us']:.1f} at {row['ncu_mhz']:.0f} MHz",
               f"{100 * (row['ours_us'] / row['ncu_us'] - 1):+.2f} %"] for row in result["profiler"]]
    return (f"\n## {title_of(path)}: the timer\n\nKernels that spin for a known time by the device's clock, us. A launch "
            "that does not spin is the rest.\n\n"
            + table(["known", "measured", "launch alone", "error beyond it"], spins)
            + "\nThe same case by Nsight Compute (`gpu__time_duration`), us:\n\n"
            + table(["case", "ours", "Nsight Compute", "difference"], rivals))


def against(path):
    """`assay ab`: rows as it judged them."""
    result = json.loads(path.read_text())["ab"]
    rows = []
    for row in result["rows"]:
        found = row["comparison"]
        change, low, high = (100 * math.expm1(found[key]) for key in ("difference", "row_low", "row_high"))
        rows.append([f"`{row['key']['id']}`", str(found["runs"]), f"{change:+.2f} %", f"{low:+.2f} .. {high:+.2f} %",
                     f"{100 * found['base_sd']:.2f} / {100 * found['candidate_sd']:.2f} %",
                     row["status"].upper()])
    return (f"\n## {title_of(path)}: `assay ab` against `{result['base']}`\n\nTime a launch, candidate "
            f"`{result['candidate']}`:\n\n"
            + table(["row", "runs a side", "change", "95 % of it", "s.d. of base / candidate", ""], rows))


def peers(path):
    """Rounds of both programs in turns: below is a row that every round has below 0.99."""
    result = json.loads(path.read_text())
    rows, ratios = [], {}
    for row in result["rows"]:
        each = [ours / theirs for ours, theirs in zip(row["ours"], row["theirs"], strict=True)]
        middle = statistics.median(each)
        ratios.setdefault(row.get("group") or row["dtype"], []).append(middle)
        rows.append([f"`{row['id']}`", f"{statistics.median(row['ours']):.1f}",
                     f"{statistics.median(row['theirs']):.1f}", f"{middle:.3f}",
                     f"{min(each):.3f} .. {max(each):.3f}", "BELOW" if max(each) < 0.99 else ""])
    means = [[group, str(len(values)), f"{statistics.geometric_mean(values):.3f}"]
             for group, values in ratios.items()]
    every = [value for values in ratios.values() for value in values]
    means.append(["all", str(len(every)), f"{statistics.geometric_mean(every):.3f}"])
    return (f"\n## {title_of(path)}: beside {result['peer']}, {result['condition']}\n\n{result['rounds']} "
            f"interleaved rounds, one process a side and round; {result['unit']}, medians; the ratio is ours "
            "over theirs, round by round.\n\n"
            + table(["row", "ours", "theirs", "ratio", "rounds", ""], rows)
            + "\n" + table([result.get("groups", "data type"), "rows", "geometric mean of the ratios"], means))


def accepts(path):
    runs = [json.loads(line) for line in path.read_text().splitlines()]
    passed = sum(run["verdict"] == "pass" for run in runs)
    cards = len({run["card"] for run in runs})
    longest = max(run["duration_s"] for run in runs)
    return (f"\n## {title_of(path)}: `accept --suite quick` on sound cards\n\n{passed} of {len(runs)} runs PASS, on "
            f"{cards} cards, from {min(run['date'] for run in runs)} to "
            f"{max(run['date'] for run in runs)}; the longest took {longest:.0f} s.\n")


def generate(assay):
    folder = ROOT / "docs" / "results"
    page = HEAD
    for path in sorted(folder.rglob("*.json*")):
        if path.name == "report.json":
            page += judged(assay, path) + repeatability(path)
        elif path.name == "peer_ab.json":
            page += against(path)
        elif path.name.startswith("peer"):
            page += peers(path)
        elif path.name == "timer.json":
            page += timer(path)
        elif path.name == "accepts.jsonl":
            page += accepts(path)
        else:
            sys.exit(f"{path}: no kind of result that this page knows")
    return page


def main():
    page = generate(sys.argv[1])
    if sys.argv[2:] == ["--write"]:
        PAGE.write_text(page)
        return 0
    difference = list(difflib.unified_diff(PAGE.read_text().splitlines(), page.splitlines(),
                                           "docs/RESULTS.md", "docs/results", lineterm=""))
    if difference:
        print("\n".join(difference))
        print("docs/RESULTS.md does not follow from docs/results: results.py ASSAY --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
