#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""`assay ab` from end to end, on commands that print known times: verdicts, exit codes, what is kept.

Needs ASSAY_BIN_DIR (the built programs).
"""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

BIN = Path(os.environ["ASSAY_BIN_DIR"])
GEMM = "gemm/bf16/8192x8192x8192/sustained"
COPY = "memory/copy/4GiB/burst"

# Notes that it ran, and prints a row of $2 us that wavers by 0.2 % from run to run; $1 is the side.
SCRIPT = r"""#!/bin/sh
echo "$1" >>order
n=$(grep -c "$1" order)
echo "console of $1"
printf '{"op": "gemm", "dtype": "bf16", "shape": "8192x8192x8192", "ms": %d.%03d, "tflops": 600}\n' \
  $((($2 + n * 37 % 3) / 1000)) $((($2 + n * 37 % 3) % 1000))
"""


class Ab(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="assay-ab-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        script = self.dir / "row.sh"
        script.write_text(SCRIPT)
        script.chmod(0o755)

    def arguments(self, base, candidate, *more):
        return [BIN / "assay", "ab", "--base", base, "--cand", candidate, *more]

    def ab(self, base, candidate, *more):
        return subprocess.run(self.arguments(base, candidate, *more), cwd=self.dir, text=True,
                              capture_output=True, timeout=120, check=False)

    def result(self):
        return json.loads((self.dir / "out/ab.json").read_text())["ab"]

    def expect(self, run, code, *texts):
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        for text in texts:
            self.assertIn(text, run.stdout + run.stderr)

    def family(self, ids, fault=""):
        return (f"CUDA_VISIBLE_DEVICES=GPU-1 FAKE_FAMILY={fault} {BIN}/fake-family --ids={ids} "
                "--log=/dev/stdout")

    def until(self, condition):
        for _ in range(500):
            if condition():
                return
            time.sleep(0.02)
        self.fail("did not happen in 10 s")

    def runs_recorded(self):
        try:
            return len(self.result()["runs"])
        except OSError:
            return 0


class Verdicts(Ab):
    def test_a_slower_candidate(self):
        run = self.ab("./row.sh base 1000", "./row.sh cand 1050")
        self.expect(run, 1, "REGRESSION   1 regression   exit 1", "+5.0",
                    "error rate not verified on this machine")
        result = self.result()
        self.assertTrue(result["complete"])
        self.assertEqual(result["plan"]["m"], 1)
        self.assertEqual(len(result["runs"]), 2 + 12)
        self.assertEqual([r["conditioning"] for r in result["runs"]], [True] * 2 + [False] * 12)
        self.assertIn("console of", (self.dir / "out" / result["runs"][0]["output"]).read_text())

    def test_a_faster_candidate(self):
        self.expect(self.ab("./row.sh base 1050", "./row.sh cand 1000"), 0, "IMPROVEMENT")

    def test_the_same_command_twice(self):
        run = self.ab("./row.sh x 1000", "./row.sh x 1000", "--runs", "8", "--format", "json")
        self.expect(run, 0)
        rows = json.loads(run.stdout)
        self.assertEqual(rows["verdict"], "unchanged")
        self.assertEqual(rows["counts"]["unchanged"], 1)
        self.assertEqual(rows["rows"][0]["id"], "gemm/bf16/8192x8192x8192")
        self.assertIsNone(rows["rows"][0]["device"])
        self.assertEqual(rows["rows"][0]["status"], "unchanged")
        self.assertEqual(rows["rows"][0]["runs"], 8)

    def test_the_order_is_abba_or_its_mirror(self):
        self.ab("./row.sh base 1000", "./row.sh cand 1050")
        order = "".join("A" if line == "base" else "B"
                        for line in (self.dir / "order").read_text().split())
        block = "BAAB" if self.result()["mirrored"] else "ABBA"
        self.assertEqual(order, block[:2] + block * 3)

    def test_undecided_rows_go_on_to_the_second_look(self):
        noisy = ('n=$(wc -l <order); echo x >>order; '
                 'echo "{\\"op\\": \\"gemm\\", \\"ms\\": $((900 + n * 61 % 200))}"')
        (self.dir / "order").write_text("")
        self.expect(self.ab(noisy, noisy), 2, "inconclusive", "a 3 % loss may be missed")
        self.assertEqual(len(self.result()["runs"]), 2 + 24)
        self.assertTrue(self.result()["complete"])

    def test_our_records_against_lines_without_conditions(self):
        ours = self.family(f"{GEMM},{COPY}")
        run = self.ab(ours, "./row.sh cand 1000", "--rows", "^gemm")
        self.expect(run, 0, "IMPROVEMENT", GEMM, "the candidate states no conditions")
        run = self.ab(ours, "./row.sh cand 1000")
        self.expect(run, 2, "INCONCLUSIVE   1 improvement, 1 missing", COPY + ": only the base")

    def test_our_records_on_both_sides(self):
        ids = f"{GEMM},{COPY}"
        self.expect(self.ab(self.family(ids), self.family(ids)), 0, "2 unchanged")
        self.expect(self.ab(self.family(ids), self.family(ids, f"slow:{COPY}")), 1,
                    "1 regression, 1 unchanged")
        self.assertEqual(self.result()["rows"][0]["key"], {"id": GEMM, "device": "GPU-1"})

    def test_two_conditions_for_one_line(self):
        both = self.family(f"{GEMM},gemm/bf16/8192x8192x8192/burst")
        run = self.ab(both, "./row.sh cand 1000")
        self.expect(run, 4, "--rows RE")
        self.assertEqual(run.stdout, "")
        self.assertEqual(len(self.result()["runs"]), 2)  # what was printed is kept
        self.expect(self.ab(both, "./row.sh cand 1000", "--rows", "burst"), 0)


class Broken(Ab):
    def test_errored_wrong_and_duplicate_rows(self):
        ids = f"{GEMM},{COPY}"
        base = self.family(ids)
        run = self.ab(base, self.family(ids, f"error:{COPY}"))
        self.expect(run, 3, "ERRORED   1 unchanged, 1 errored", "cudaErrorIllegalAddress")
        # Run once more, and wrong again.
        self.expect(self.ab(base, self.family(ids, f"wrong:{COPY}")), 3, "invalid: wrong result",
                    "had an invalid row and was run again")
        self.assertEqual(sum(r["replaced"] for r in self.result()["runs"]), 1)
        self.expect(self.ab(base, self.family(ids, f"twice:{COPY}")), 2, "1 duplicate")

    def test_a_result_wrong_once_is_replaced(self):
        flag = f"'once:{self.dir}/flag+wrong:{GEMM}'"
        conditioned = f"[ -e first ] && export FAKE_FAMILY={flag}; touch first; "
        command = self.family(GEMM).replace("FAKE_FAMILY= ", "")
        self.expect(self.ab(command, conditioned + command), 0, "1 unchanged")
        self.assertEqual(sum(r["replaced"] for r in self.result()["runs"]), 1)

    def test_a_failing_command(self):
        failing = "./row.sh cand 1000; [ $(grep -c cand order) -lt 4 ] || { echo no >&2; exit 7; }"
        run = self.ab("./row.sh base 1000", failing)
        self.expect(run, 3, "INCOMPLETE", "(candidate) failed: exit 7: no; run it by hand: ./row.sh")
        self.assertRegex(run.stderr.strip().split("\n")[-1], r"^assay: run \d+ \(candidate\) failed")
        result = self.result()
        self.assertFalse(result["complete"])
        self.assertEqual(result["runs"][-1]["last_line"], "no")
        self.assertIn("of 6 runs a side", result["rows"][0]["reason"])

    def test_a_regression_outweighs_a_later_failure(self):
        ids = f"{GEMM},{COPY}"
        noisy = ("echo x >>order; n=$(wc -l <order); "
                 'echo "{\\"op\\": \\"noise\\", \\"ms\\": $((900 + n * 61 % 200))}"; ')
        candidate = noisy + "[ $n -lt 18 ] || exit 5; " + self.family(ids, f"slow:{COPY}")
        self.expect(self.ab(noisy + self.family(ids), candidate), 1, "exit 5", "1 regression")
        self.assertFalse(self.result()["complete"])

    def test_a_command_that_does_not_exist(self):
        run = self.ab("./nothing-here", "./row.sh cand 1000")
        self.expect(run, 3, "(base, conditioning) failed: exit 127", "nothing-here")

    def test_a_hanging_command(self):
        begin = time.monotonic()
        run = self.ab("./row.sh base 1000", "sleep 300 & sleep 300; true", "--timeout", "0.5")
        self.expect(run, 3, "(candidate, conditioning) failed: no end within 0.5 s")
        self.assertLess(time.monotonic() - begin, 30)

    def test_more_rows_than_a_benchmark_has(self):
        run = self.ab("./row.sh base 1000", """yes '{"op": "a", "ms": 1}' | head -6000""")
        self.expect(run, 3, "(candidate, conditioning) failed: exit 0: more than 5000 rows")

    def test_a_time_limit_that_is_no_number(self):
        self.expect(self.ab("true", "true", "--timeout", "nan"), 4, "--timeout")

    def test_a_second_sitting_in_the_same_folder(self):
        run = self.ab("./row.sh base 1000", f"{BIN}/assay ab --base true --cand true; exit $?")
        self.expect(run, 3, "out/ab-runs: another assay is writing there")

    def test_no_rows(self):
        self.expect(self.ab("true", "true"), 2, "neither command printed a row")
        self.expect(self.ab("./row.sh base 1000", "./row.sh cand 1000", "--rows", "conv"), 2,
                    "no row matches --rows 'conv'")
        self.expect(self.ab("./row.sh base 1000", "./row.sh cand 1000", "--rows", "("), 4,
                    "not a regular expression")

    def test_a_folder_that_cannot_be_made(self):
        (self.dir / "file").write_text("")
        self.expect(self.ab("true", "true", "--out", "file/out"), 3, "--out")


class Killed(Ab):
    def start(self):
        slow = "; echo $$ >pid; exec sleep 0.2"
        return subprocess.Popen(self.arguments("./row.sh base 1000" + slow,
                                               "./row.sh cand 1000" + slow),
                                cwd=self.dir, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def child_is_gone(self):
        try:
            os.kill(int((self.dir / "pid").read_text()), 0)
        except (ProcessLookupError, ValueError):
            return True
        return False

    def test_kill_loses_nothing(self):
        program = self.start()
        self.until(lambda: self.runs_recorded() >= 4)
        program.kill()
        program.communicate()
        result = self.result()
        self.assertFalse(result["complete"])
        self.assertGreaterEqual(len(result["runs"]), 4)
        self.assertIsNotNone(result["runs"][3]["values"][0]["time_s"])
        self.assertIn("of 6 runs a side", result["rows"][0]["reason"])
        self.until(self.child_is_gone)

    def test_signals_end_it_cleanly(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            shutil.rmtree(self.dir / "out", ignore_errors=True)
            program = self.start()
            self.until(lambda: self.runs_recorded() >= 4)
            program.send_signal(number)
            out, err = program.communicate(timeout=20)
            self.assertEqual(program.returncode, 2, err)
            self.assertIn("INCOMPLETE", out)
            self.assertFalse(self.result()["complete"])
            self.assertTrue(self.child_is_gone())


if __name__ == "__main__":
    unittest.main()
