#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Suite peers on a fake node: each GPU with each other, in turn, and what the report holds of it.

Needs what accept_test.py needs.
"""
import shutil
import unittest

from accept_test import BIN, Node

WRITE = "links/p2p_write/512MiB+to={}/burst"
CASES = 5


class Peers(Node):
    def setUp(self):
        super().setUp()
        shutil.copy(BIN / "fake-family", self.bin / "assay-links")
        suite = self.dir / "configs/suites/peers.yaml"
        suite.write_text(suite.read_text().replace("id_timeout_s: 30", "id_timeout_s: 0.5"))

    def rows(self):
        return [(r["device"]["index"], r["id"]) for r in self.report()["assay"]["records"]]

    def run_peers(self, *arguments, code=0, **environment):
        result = self.run_assay("run", "peers", "--runs", "2", *arguments, **environment)
        self.expect(result, code)
        return result

    def test_two_gpus_are_each_others_peers(self):
        result = self.run_peers(gpus=2, FAKE_NVML_TOPOLOGY="switch")
        self.assertEqual(len(self.rows()), 2 * CASES)
        self.assertIn((0, WRITE.format(1)), self.rows())
        self.assertIn((1, WRITE.format(0)), self.rows())
        for index in 0, 1:
            self.assertIn(f"links, GPU {index}", result.stderr + result.stdout)
        for record in self.report()["assay"]["records"]:
            self.assertEqual(record["status"], "ok", record["message"])
            self.assertEqual(record["runs"], 2)
            self.assertEqual(record["conditions"]["peers"], "pair")
            if "latency" not in record["id"]:
                both = "p2p_both" in record["id"]
                self.assertEqual(record["limit"]["datasheet"], 900 if both else 450)
            shown = record["parameters"]["shown"].split(",")
            self.assertEqual(shown[0], record["device"]["uuid"])
            self.assertEqual(len(shown), 2)

    def test_eight_gpus_have_56_pairs(self):
        self.run_peers("--filter", "p2p_write/512MiB.to", gpus=8)
        self.assertEqual(sorted(self.rows()),
                         sorted((own, WRITE.format(to)) for own in range(8) for to in range(8)
                                if own != to))

    def test_one_gpu_keeps_the_id(self):
        for choice in (), ("--gpus", "1"):
            self.run_peers(*choice, gpus=len(choice) or 1)
            self.assertEqual(self.rows()[0], (1 if choice else 0, WRITE.format("each")))
            self.assertEqual(len(self.rows()), CASES)

    def test_peers_are_those_under_test(self):
        self.run_peers("--gpus", "0,3", "--filter", "p2p_write/512MiB.to", gpus=4)
        self.assertEqual(self.rows(), [(0, WRITE.format(3)), (3, WRITE.format(0))])

    def test_a_wrong_copy_is_confirmed_without_the_others(self):
        fault = f"gpu:2+wrong:{WRITE.format(0)}"
        result = self.run_assay("accept", "--suite", "peers", gpus=3, fault=fault)
        self.expect(result, 1, "SDC-01")
        rows = [r for r in self.report()["benchmarks"] if r["name"] == WRITE.format(0)]
        by_gpu = {r["assay"]["device"][-1]: 0 for r in rows}
        for row in rows:
            by_gpu[row["assay"]["device"][-1]] += 1
            self.assertFalse(row["assay"]["load_only"])
        self.assertEqual(by_gpu["1"], 5, "one run a round")

    def test_a_hung_pair_is_named(self):
        self.run_peers(gpus=2, fault=f"gpu:1+hang:{WRITE.format(0)}", code=3)
        for record in self.report()["assay"]["records"]:
            hung = (record["device"]["index"], record["id"]) == (1, WRITE.format(0))
            self.assertEqual(record["status"], "errored" if hung else "ok")
            self.assertEqual(record["conditions"]["peers"], "pair")

    def test_a_row_below_its_floor_is_not_run_alone_again(self):
        """It was; the pipe of this floor is none of a link, for there is none that a link has."""
        targets = self.dir / "configs/targets/h200-sxm.yaml"
        targets.write_text(targets.read_text() + f"""
  - id: {WRITE.format(1)}
    metric: gb_per_s
    pipe: dram
    floor: 4000
    usual: 4300
    run_sd_pct: 0.3
    chip_sd_pct: 1.2
    cards: 1
    source: none
    date: 2026-12-01
""")
        result = self.run_assay("accept", "--suite", "peers", gpus=2)
        self.expect(result, 2)
        self.assertEqual(len(self.rows()), 2 * CASES)
        self.assertNotIn(" alone", "\n".join(self.report()["assay"]["notes"]))
        plan = self.report()["assay"]["plan"]
        self.assertEqual((plan["m"], plan["gate_ids"]), (1, [WRITE.format(1)]))

    def test_a_peer_in_a_process_that_is_not_in_turn_is_refused(self):
        suite = self.dir / "configs/suites/peers.yaml"
        suite.write_text(suite.read_text().replace("    in_turn: true\n", ""))
        result = self.run_assay("run", "peers", gpus=2)
        self.expect(result, 4, "peers.yaml:", "needs in_turn: true")
        self.assertEqual(len(result.stderr.strip().splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
