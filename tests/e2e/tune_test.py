#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""`assay tune` on a fake node: what is stored, and that every later measurement is given it.

Needs what accept_test.py needs.
"""
import json
import unittest

from accept_test import BF16, Node


class Tune(Node):
    def setUp(self):
        super().setUp()
        self.stored = self.dir / "configs/algorithms/h200-sxm.json"
        self.stored.unlink(missing_ok=True)

    def choices(self):
        return {c["id"]: c for c in json.loads(self.stored.read_text())["algorithms"]}

    def test_what_it_finds_is_stored_and_used_from_then_on(self):
        before = self.run_assay("run", "quick", "--runs", "1", "--filter", "^gemm/bf16")
        self.expect(before, 0)
        self.assertEqual(self.record(BF16)["algorithm"]["chosen"], "first offered")
        self.expect(self.run_assay("tune", "quick"), 0, "3.4 % faster", "of 40 candidates",
                    "memory/copy/4GiB/burst: no choice of algorithms", "3 choices stored in",
                    str(self.stored))
        choice = self.choices()[BF16]
        self.assertEqual(choice["algorithm"], {"library": "fake 1.0", "id": 7})
        self.assertEqual(choice["tuning"]["gain"], 1.034)
        for command in ("accept",), ("run", "quick", "--runs", "1"):
            self.expect(self.run_assay(*command), 0)
            self.assertEqual(self.record(BF16)["algorithm"]["chosen"], f"from {self.stored}")
        self.assertEqual(self.stored.stat().st_mode & 0o777, 0o644, "every user measures with it")
        again = self.run_assay("tune", "quick", "--filter", "^gemm/bf16")
        self.expect(again, 0, "1 choice stored")
        self.assertEqual(len(self.choices()), 3, "the others stay")
        self.assertNotIn("chosen", self.choices()[BF16]["algorithm"])

    def test_one_gpu_searches_and_nothing_is_judged(self):
        result = self.run_assay("tune", "quick", "--filter", "^gemm/bf16", "--format", "json",
                                "--file", "mine.json", "--gpus", "1,2", gpus=4)
        self.expect(result, 0)
        self.assertEqual(json.loads(result.stdout)["file"], "mine.json")
        self.assertEqual(self.rounds(BF16), 1)
        self.assertEqual(len(self.report()["assay"]["plan"]["gpus"]), 1)
        self.assertIn("measured on 1 of 4 GPUs (--gpus)", self.report()["assay"]["notes"])
        self.assertEqual(self.record(BF16)["judged"]["status"], "info")
        again = self.run_assay("judge", "out/report.json")
        self.assertEqual(again.returncode, 2, "a search carries no floors")
        self.assertFalse(self.stored.exists())
        self.assertEqual(json.loads((self.dir / "mine.json").read_text())["sku"], "h200-sxm")

    def test_what_failed_is_not_stored(self):
        for fault, code in ("wrong:" + BF16, 3), ("error:" + BF16, 3), ("crash:" + BF16, 3):
            with self.subTest(fault):
                self.stored.unlink(missing_ok=True)
                self.expect(self.run_assay("tune", "quick", fault=fault), code, BF16)
                self.assertNotIn(BF16, self.choices())
                self.assertEqual(len(self.choices()), 2)

    def test_where_there_is_nothing_to_store(self):
        self.expect(self.run_assay("tune", "quick", "--filter", "^memory/"), 2, "nothing to store")
        self.expect(self.run_assay("tune", "quick", gpus=0, nvml=False), 2, "nothing to store")
        self.assertFalse(self.stored.exists())

    def test_bad_input(self):
        (self.dir / "broken.json").write_text("{")
        (self.dir / "other.json").write_text(
            '{"schema_version": 1, "sku": "a100-sxm-80", "algorithms": []}')
        for code, text, *arguments in ((4, "SUITE", ), (4, "no suite 'x'", "x"),
                                       (4, "broken.json", "quick", "--file", "broken.json"),
                                       (4, "for a100-sxm-80", "quick", "--file", "other.json"),
                                       (2, "matches no case", "quick", "--filter", "nothing")):
            with self.subTest(arguments):
                result = self.run_assay("tune", *arguments)
                self.expect(result, code, text)
                self.assertEqual(result.stderr.strip().splitlines()[-1][:7], "assay: ")

    def test_stored_choices_that_cannot_be_read_stop_a_measurement(self):
        self.stored.parent.mkdir(exist_ok=True)
        self.stored.write_text("{")
        for command in ("accept",), ("tune", "quick"):
            self.expect(self.run_assay(*command), 4, "h200-sxm.json")
            self.assertFalse((self.dir / "out/report.json").exists())
        self.stored.write_text('{"schema_version": 1, "sku": "a100-pcie-40", "algorithms": []}')
        self.expect(self.run_assay("accept"), 4, "'a100-pcie-40', this GPU is h200-sxm")


if __name__ == "__main__":
    unittest.main()
