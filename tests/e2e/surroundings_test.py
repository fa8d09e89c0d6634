#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What is around the program: its streams, signals, the out folder, a node that tells little.

Needs what accept_test.py needs.
"""
import signal
import subprocess
import sys
import time
import unittest

from accept_test import BF16, Node


class Surroundings(Node):
    def shell(self, command, **environment):
        return subprocess.run(["bash", "-c", f"A={self.bin}/assay; {command}"], cwd=self.dir,
                              env=self.environment(**environment), capture_output=True, text=True,
                              timeout=120, check=False)

    def start(self, *arguments, **environment):
        process = subprocess.Popen([self.bin / "assay", *arguments], cwd=self.dir, text=True,
                                   env=self.environment(**environment), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        return process

    def until_a_round_is_written(self):
        for _ in range(500):
            samples = self.dir / "out/samples.jsonl"
            if samples.exists() and samples.stat().st_size > 0:
                return
            time.sleep(0.02)
        self.fail("no round was written in 10 s")


class Streams(Surroundings):
    def test_a_reader_that_goes_ends_no_measurement(self):
        self.shell("$A accept 2>&1 | head -1", FAKE_WORK_MS=20)
        self.assertTrue(self.report()["assay"]["complete"])

    def test_closed_streams_get_into_no_file(self):
        result = self.shell("$A accept <&- >&- 2>&-", fault=f"crash:{BF16}")
        self.assertEqual(result.returncode, 3)  # what was to be printed is lost
        self.assertTrue(self.report()["assay"]["complete"])
        for log in (self.dir / "out/runs").glob("*.log"):
            self.assertEqual(log.read_text(), "")
        self.assertEqual(self.shell("$A accept <&- 2>&-").returncode, 0)
        self.assertEqual(self.shell("$A list >&-").returncode, 3)

    def test_control_characters_of_a_program_reach_no_terminal(self):
        result = self.shell("$A accept", fault="skip:\033[2J\tno device\nPASS")
        self.expect(result, 2, "no device PASS")
        markdown = self.run_assay("report", "out/report.json", "--md", "-")
        for text in (result.stdout, result.stderr, markdown.stdout):
            self.assertNotIn("\033", text)


class Signals(Surroundings):
    def test_a_hang_up_keeps_the_report_and_says_so(self):
        process = self.start("accept", FAKE_WORK_MS=50)
        self.until_a_round_is_written()
        process.send_signal(signal.SIGHUP)
        out, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 2, out + err)
        self.assertIn("interrupted", out)
        self.assertFalse(self.report()["assay"]["complete"])

    def test_what_nohup_ignores_stays_ignored(self):
        process = subprocess.Popen(["nohup", self.bin / "assay", "accept"], cwd=self.dir,
                                   env=self.environment(FAKE_WORK_MS=50),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.until_a_round_is_written()
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertTrue(self.report()["assay"]["complete"])


class OutFolder(Surroundings):
    def test_a_second_sitting_is_refused_and_harms_nothing(self):
        first = self.start("accept", FAKE_WORK_MS=50)
        self.until_a_round_is_written()
        second = self.run_assay("accept")
        self.expect(second, 3, "out/runs: another assay is writing there")
        self.assertEqual(len(second.stderr.strip().splitlines()), 1)
        out, err = first.communicate(timeout=60)
        self.assertEqual(first.returncode, 0, out + err)
        self.expect(self.run_assay("accept"), 0, "PASS")  # it is free again

    def test_logs_that_cannot_be_removed(self):
        # Names that are taken, by what even root cannot remove as a file.
        for gpu in (0, 1):
            taken = self.dir / f"out/runs/round00-memory-0-{gpu}.jsonl"
            taken.mkdir(parents=True)
            (taken / "x").write_text("")
        result = self.run_assay("accept", gpus=2)
        self.assertNotIn("internal error", result.stderr)
        self.assertIn("cannot remove", result.stderr)
        self.assertIn(result.returncode, (0, 3))
        self.assertTrue(self.report()["assay"]["complete"])


class LittleIsTold(Surroundings):
    def test_a_run_that_the_budget_cut_is_not_whole(self):
        suite = self.dir / "configs/suites/quick.yaml"
        suite.write_text(suite.read_text().replace("budget_s: 90", "budget_s: 2")
                         .replace("stage2_budget_s: 20", "stage2_budget_s: 0.5"))
        result = self.run_assay("run", "quick", FAKE_WORK_MS=90)
        # How many rounds fit is the machine's affair.
        self.expect(result, 2)
        self.assertRegex(result.stdout, "the budget of 2 s ended after [1-5] of 6 rounds")

    def test_a_card_without_a_uuid_is_not_lost(self):
        result = self.run_assay("accept", gpus=2, FAKE_NVML_FAIL="nvmlDeviceGetUUID")
        self.expect(result, 2, "GPU 0 has no UUID of its own: not measured", "UNK-01")
        self.assertNotIn("GPU-03", result.stdout)
        self.assertEqual([r["device"]["uuid"] for r in self.report()["assay"]["records"]], ["host"])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
