#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The built program from end to end, on a fake node (tests/fakes): verdicts, exit codes, what is kept.

Needs ASSAY_BIN_DIR (the built programs) and ASSAY_FAKES (the fake NVML). Validates every report against
the schema where python3-jsonschema is installed.
"""
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["ASSAY_BIN_DIR"])
FAKES = Path(os.environ["ASSAY_FAKES"])
SCHEMA = json.loads((ROOT / "reports/report.schema.json").read_text())

try:
    import jsonschema
except ImportError:
    jsonschema = None

BF16 = "gemm/bf16/8192x8192x8192/sustained"


def no_constant(name):
    raise ValueError(f"{name} in a report")


class Node(unittest.TestCase):
    """A copy of the program beside fake benchmark programs, and a PCI bus with `gpus` cards."""

    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="assay-e2e-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.bin = self.dir / "bin"
        self.bin.mkdir()
        shutil.copy(BIN / "assay", self.bin)
        for family in ("gemm", "memory", "links", "host"):
            shutil.copy(BIN / "fake-family", self.bin / f"assay-{family}")
        # Hides the real NVML of a GPU machine: the loader stops at a library that it cannot read.
        (self.dir / "libnvidia-ml.so.1").write_text("")
        self.suite("quick", "")

    def suite(self, name, change):
        """Copies configs/, with a short time-out for hangs and `change` at the end of a suite."""
        configs = self.dir / "configs"
        shutil.rmtree(configs, ignore_errors=True)
        shutil.copytree(ROOT / "configs", configs)
        file = configs / "suites" / f"{name}.yaml"
        file.write_text(file.read_text().replace("id_timeout_s: 20", "id_timeout_s: 0.5") + change)
        return configs

    def pci(self, gpus):
        for i in range(gpus):
            device = self.dir / "sys/bus/pci/devices" / f"0000:{0x10 + i:02x}:00.0"
            device.mkdir(parents=True, exist_ok=True)
            (device / "vendor").write_text("0x10de\n")
            (device / "class").write_text("0x030200\n")

    def environment(self, gpus=1, fault="", nvml=True, **fakes):
        (self.dir / "sys").mkdir(exist_ok=True)
        self.pci(gpus)
        return {
            **os.environ,
            "ASSAY_CONFIGS": str(self.dir / "configs"),
            "ASSAY_SYSFS": str(self.dir / "sys"),
            "LD_LIBRARY_PATH": str(FAKES if nvml else self.dir),
            "FAKE_NVML_GPUS": str(gpus),
            "FAKE_FAMILY": fault,
            **{name: str(value) for name, value in fakes.items()},
        }

    def run_assay(self, *arguments, **environment):
        return subprocess.run([self.bin / "assay", *arguments], cwd=self.dir, text=True,
                              env=self.environment(**environment), capture_output=True,
                              timeout=120, check=False)

    def report(self):
        text = (self.dir / "out/report.json").read_text()
        report = json.loads(text, parse_constant=no_constant)
        if jsonschema:
            jsonschema.Draft202012Validator(SCHEMA).validate(report)
        return report

    def record(self, id_):
        return next(r for r in self.report()["assay"]["records"] if r["id"] == id_)

    def rounds(self, id_):
        """In how many processes the case ran, on all GPUs together."""
        return sum(r["name"] == id_ for r in self.report()["benchmarks"])

    def numa(self, **nodes):
        """node0="0-1" gives that node its cpus; every GPU sits at node 0."""
        for node, cpus in nodes.items():
            folder = self.dir / "sys/devices/system/node" / node
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "cpulist").write_text(cpus + "\n")
        for device in (self.dir / "sys/bus/pci/devices").iterdir():
            (device / "numa_node").write_text("0\n")

    def expect(self, result, code, *texts):
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        for text in texts:
            self.assertIn(text, result.stdout + result.stderr)


class Verdicts(Node):
    def test_a_sound_card_passes(self):
        self.expect(self.run_assay("accept"), 0, "PASS", "9 of 9 measurements")
        report = self.report()["assay"]
        self.assertTrue(report["complete"])
        self.assertEqual(report["plan"]["m"], 9)
        self.assertEqual(self.record(BF16)["runs"], 5)
        self.assertEqual(len(self.record(BF16)["metrics"]["tflops"]["conditioning"]), 1)
        self.assertEqual(self.record(BF16)["device"]["sku"], "h200-sxm")

    def test_judging_again_gives_the_same_bytes(self):
        first = self.run_assay("accept")
        again = self.run_assay("judge", "out/report.json", nvml=False)
        self.assertEqual(again.stdout, first.stdout)
        self.assertEqual(again.returncode, 0)

    def test_eight_cards_at_once(self):
        self.expect(self.run_assay("accept", gpus=8), 0, "8 of 8 GPUs")
        self.assertEqual(self.report()["assay"]["plan"]["m"], 72)

    def test_a_slow_card_fails_after_stage_2_with_its_serial(self):
        result = self.run_assay("accept", fault=f"slow:{BF16}")
        self.expect(result, 1, "FAIL", "PRF-01", "1650000000000")
        self.assertIn(self.report()["assay"]["plan"]["stages"], (1, 2))

    def test_a_wrong_result_is_confirmed_and_fails(self):
        result = self.run_assay("accept", fault=f"wrong:{BF16}")
        self.expect(result, 1, "SDC-01", "1650000000000")
        self.assertEqual(self.record(BF16)["status"], "invalid")
        self.assertGreaterEqual(self.record(BF16)["wrong_runs"], 2)

    def test_one_wrong_run_is_replaced_and_leaves_the_card_unjudged(self):
        result = self.run_assay("accept", fault=f"once:{self.dir}/flag+wrong:{BF16}")
        self.expect(result, 2, "not confirmed")
        self.assertIn("replaced", json.dumps(self.record(BF16)["warnings"]))
        self.assertEqual(self.rounds(BF16), 8)  # conditioning, five rounds, two confirmations
        self.assertEqual(self.rounds("memory/copy/4GiB/burst"), 6)

    def test_a_result_wrong_again_on_confirmation_fails_at_once(self):
        result = self.run_assay("accept", fault=f"from:5+wrong:{BF16}")
        self.expect(result, 1, "SDC-01", "1650000000000")
        self.assertEqual(self.record(BF16)["wrong_runs"], 2)
        self.assertEqual(self.rounds(BF16), 7)  # conditioning, five rounds, one confirmation

    def test_settings_that_explain_a_fail(self):
        self.expect(self.run_assay("accept", FAKE_NVML_POWER_LIMIT_W=500), 1, "PWR-01",
                    "do not RMA")
        self.expect(self.run_assay("accept", FAKE_NVML_ECC=0), 1, "ECC-01")
        self.expect(self.run_assay("accept", FAKE_NVML_REMAP_FAILURE=1), 1, "MEM-03")

    def test_what_joins_the_cards(self):
        self.expect(self.run_assay("accept", gpus=2, FAKE_NVML_TOPOLOGY="switch"), 0,
                    "18 of 18 links to a switch on each of 2 GPUs; 1 pair NV18")
        self.expect(self.run_assay("accept", gpus=2), 0, "1 pair NODE")
        down = self.run_assay("accept", gpus=4, FAKE_NVML_TOPOLOGY="direct",
                              FAKE_NVML_LINK_DOWN="1:7,3:8")
        self.expect(down, 1, "NVL-02  GPU 1 <-> GPU 3", "down: GPU 1 link 7, GPU 3 link 8",
                    "Clear: GPU 0, GPU 2 only.", "5 pairs NV6; 1 pair NV5")
        self.assertEqual(self.report()["assay"]["faults"][0]["peer"]["gpu"], 3)
        again = self.run_assay("judge", "out/report.json", nvml=False)
        self.assertEqual(again.stdout, down.stdout)

    def test_what_the_driver_tells_of_the_run(self):
        self.expect(self.run_assay("accept", FAKE_NVML_XID=79), 1, "GPU-03", "Xid 79")
        self.expect(self.run_assay("accept", FAKE_NVML_XID=13), 0, "PASS", "1 warning", "Xid 13")

    def test_a_card_that_somebody_else_uses_is_not_judged(self):
        self.expect(self.run_assay("accept", FAKE_NVML_BUSY=1), 2, "ENV-01", "pid 4242")


class ManyGpus(Node):
    """All at once, with a common start; alone only to localise."""

    def notes(self):
        return "\n".join(self.report()["assay"]["notes"])

    def alone(self):
        return [(r["id"], r["device"]["index"]) for r in self.report()["assay"]["records"]
                if r["id"].endswith("/alone")]

    def test_eight_take_little_longer_than_one(self):
        # Long cases: it is the runner that is timed, and not how fast two processors start programs.
        def seconds(gpus):
            start = time.monotonic()
            self.expect(self.run_assay("run", "quick", "--runs", "2", gpus=gpus, FAKE_WORK_MS=300), 0)
            return time.monotonic() - start

        # What else runs on the machine lengthens a try at times, and never shortens it: a runner
        # that takes the GPUs one after the other needs 8 times as long in each.
        one = min(seconds(1) for _ in range(2))
        eight = min(seconds(8) for _ in range(2))
        self.assertLess(eight, 1.3 * one)

    def test_a_gpu_that_is_slow_only_among_others(self):
        result = self.run_assay("accept", gpus=4, fault=f"gpu:2+crowded:{BF16}")
        self.expect(result, 1, "PRF-01", "GPU 2 alone: BF16 8192^3 sustained 66",
                    "(node: 535, floor 640): the GPUs together exceed something shared")
        self.assertEqual(self.alone(), [(BF16 + "/alone", 2)])
        record = self.record(BF16 + "/alone")
        self.assertEqual(record["conditions"]["peers"], "alone")
        self.assertEqual(record["judged"]["status"], "info")
        plan = self.report()["assay"]["plan"]
        self.assertEqual(plan["m"], 36)
        self.assertFalse([i for i in plan["gate_ids"] if "alone" in i])
        self.assertEqual(self.run_assay("judge", "out/report.json").returncode, 1)

    def test_a_gpu_that_is_slow_by_itself(self):
        self.expect(self.run_assay("accept", gpus=2, fault=f"gpu:1+slow:{BF16}"), 1,
                    "GPU 1 alone: BF16 8192^3 sustained 535 TF/s (node: 535, floor 640): "
                    "the card itself")

    def test_all_slow_alike(self):
        self.expect(self.run_assay("accept", gpus=2, fault=f"crowded:{BF16}"), 1, "PRF-03")
        self.assertEqual(self.alone(), [(BF16 + "/alone", 0), (BF16 + "/alone", 1)])

    def test_one_gpu_is_never_run_alone(self):
        self.expect(self.run_assay("accept", fault=f"slow:{BF16}"), 1, "PRF-01")
        self.assertEqual(self.alone(), [])

    def test_a_row_is_confirmed_on_a_loaded_node(self):
        fault = f"once:{self.dir}/flag+wrong:{BF16}"
        self.expect(self.run_assay("accept", gpus=2, fault=fault), 2, "not confirmed")
        rows = [r for r in self.report()["benchmarks"] if r["name"] == BF16]
        self.assertEqual(len(rows), 16)  # both GPUs, eight rounds
        load = [r for r in rows if r["assay"]["load_only"]]
        self.assertEqual(len(load), 2)
        wrong = {r["assay"]["device"] for r in rows if r["assay"]["status"] == "invalid"}
        self.assertNotIn(load[0]["assay"]["device"], wrong)
        for record in self.report()["assay"]["records"]:
            if record["id"] == BF16 and record["wrong_runs"] == 0:
                self.assertEqual(record["runs"], 5)

    def test_a_hung_gpu_leaves_the_others_judged(self):
        self.expect(self.run_assay("accept", gpus=3, fault=f"gpu:1+hang:{BF16}"), 3, "hung")
        for record in self.report()["assay"]["records"]:
            if record["device"]["index"] != 1:
                self.assertEqual(record["judged"]["status"], "pass", record["id"])

    def test_the_binding_is_recorded(self):
        environment = {"gpus": 2}
        self.environment(**environment)
        cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        self.numa(node0=cpus)
        self.expect(self.run_assay("accept", **environment), 0)
        binding = self.report()["context"]["binding"]
        self.assertRegex(binding["GPU 0"], r"^node 0, cpus \d")
        self.numa(node0="1000")
        self.expect(self.run_assay("accept", **environment), 0)
        self.assertIn("none of the cpus of node 0", self.report()["context"]["binding"]["GPU 1"])


class Limits(Node):
    """What the suite may take, and what a kill leaves."""

    def short(self, budget, timeout=0.5):
        suite = self.dir / "configs/suites/quick.yaml"
        suite.write_text(suite.read_text().replace("budget_s: 90", f"budget_s: {budget}")
                         .replace("stage2_budget_s: 20", "stage2_budget_s: 0.5")
                         .replace("id_timeout_s: 0.5", f"id_timeout_s: {timeout}"))

    def test_hangs_in_every_case_do_not_break_the_budget(self):
        self.short(2)
        start = time.monotonic()
        result = self.run_assay("accept", gpus=2, fault="hang:*")
        # The budget, one time-out, and starting and ending the processes on a slow machine.
        self.assertLess(time.monotonic() - start, 2 + 0.5 + 3)
        self.expect(result, 2, "the budget of 2 s ended")
        self.assertTrue(self.report()["assay"]["plan"]["out_of_time"])

    def test_no_round_begins_that_would_not_end(self):
        # Seven cases of 0.4 s: a round takes 2.8 s, and up to 1.2 s more on a slow machine.
        self.short(8, timeout=5)
        start = time.monotonic()
        result = self.run_assay("accept", FAKE_WORK_MS=400)
        self.assertLess(time.monotonic() - start, 8)
        self.expect(result, 2, "the budget of 8 s ended after 2 of 6 rounds")

    def test_a_hang_is_no_reason_to_drop_the_rounds_of_the_others(self):
        # Two time-outs of 2 s and six short rounds; a third time-out would not fit.
        self.short(6.5, timeout=2)
        result = self.run_assay("accept", fault=f"hang:{BF16}")
        self.expect(result, 3, "hung")
        self.assertEqual(self.record("memory/copy/4GiB/burst")["judged"]["status"], "pass")

    def test_a_kill_at_any_moment_leaves_a_report_that_matches_its_samples(self):
        start = time.monotonic()
        self.run_assay("accept", FAKE_WORK_MS=2)
        length = time.monotonic() - start
        moments = random.Random(7)
        absent = incomplete = 0
        for i in range(50):
            shutil.rmtree(self.dir / "out")
            process = subprocess.Popen([self.bin / "assay", "accept"], cwd=self.dir,
                                       env=self.environment(FAKE_WORK_MS=2),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(moments.uniform(0, length))
            process.send_signal((signal.SIGKILL, signal.SIGINT)[i % 2])
            process.wait(timeout=20)
            if not (self.dir / "out/report.json").exists():
                absent += 1
                (self.dir / "out").mkdir(exist_ok=True)
                continue
            report = self.report()["assay"]
            file = self.dir / "out/samples.jsonl"
            # The first report has no samples and comes before the file.
            samples = file.read_bytes() if file.exists() else b""
            samples = samples[:report["samples_bytes"]]
            digest = hashlib.sha256(samples).hexdigest() if samples else ""
            self.assertEqual(digest, report["samples_sha256"])
            self.assertEqual(len(samples), report["samples_bytes"])
            judged = self.run_assay("judge", "out/report.json")
            self.assertEqual(judged.returncode, 0 if report["complete"] else 2, judged.stdout)
            incomplete += not report["complete"]
        self.assertLess(absent, 10)
        self.assertGreater(incomplete, 30)

    def test_profiling_is_one_round_that_nothing_judges(self):
        result = self.run_assay("run", "quick", "--profile", "--filter", "^gemm/bf16")
        self.expect(result, 0, "profiled (--profile)")
        self.assertEqual(self.rounds(BF16), 1)
        self.assertEqual(self.record(BF16)["judged"]["status"], "info")
        again = self.run_assay("judge", "out/report.json")
        self.assertEqual(again.returncode, 2)
        self.assertNotIn("PASS", again.stdout)


class NotJudged(Node):
    def test_no_gpu(self):
        result = self.run_assay("accept", gpus=0, nvml=False)
        self.expect(result, 2, "NOT JUDGED", "No GPU was judged", "host/triad")
        self.assertEqual(self.report()["assay"]["verdict"]["status"], "not_measured")

    def test_a_card_on_the_bus_without_nvml(self):
        self.expect(self.run_assay("accept", nvml=False), 2, "NVML")

    def test_an_unknown_card_borrows_no_targets(self):
        result = self.run_assay("accept", FAKE_NVML_NAME="NVIDIA H20")
        self.expect(result, 2, "NVIDIA H20")
        self.assertEqual(self.record(BF16)["judged"]["status"], "info")

    def test_a_mig_slice_is_named_and_not_judged(self):
        result = self.run_assay("accept", FAKE_NVML_MIG=1)
        self.expect(result, 2, "MIG 1g.18gb")

    def test_a_driver_too_old_for_the_build(self):
        result = self.run_assay("accept", fault="skip:the driver serves CUDA 12.2")
        self.expect(result, 2, "CUDA 12.2")

    def test_a_filter_that_matches_nothing(self):
        result = self.run_assay("run", "quick", "--filter", "convolution")
        self.expect(result, 2, "convolution")
        self.assertEqual(len(result.stderr.strip().splitlines()), 1)

    def test_an_unreadable_gate_is_said(self):
        result = self.run_assay("accept", FAKE_NVML_FAIL="nvmlDeviceGetEccMode")
        self.expect(result, 0, "PASS")
        self.assertIsNone(self.report()["inventory"]["gpus"][0]["ecc"])


class Faults(Node):
    def test_rows_that_are_wrong_once_each_confirm_each_other(self):
        self.run_assay("accept", fault=f"once:{self.dir}/a+wrong:{BF16}")
        first = self.report()
        wrong = next(r for r in first["benchmarks"] if r["assay"]["status"] == "invalid")
        other = "memory/copy/4GiB/burst"
        for row in first["benchmarks"]:  # a second case, wrong in another round
            if row["assay"]["id"] == other and row["repetition_index"] == 3:
                row["assay"]["status"] = wrong["assay"]["status"]
        for record in first["assay"]["records"]:
            if record["id"] == other:
                record["wrong_runs"] = 1
                record["warnings"] = ["a run failed and was replaced: wrong result"]
        (self.dir / "two.json").write_text(json.dumps(first))
        self.expect(self.run_assay("judge", "two.json"), 1, "SDC-01")

    def test_a_card_lost_under_load_is_named(self):
        result = self.run_assay("accept", FAKE_NVML_FAIL="nvmlDeviceGetHandleByUUID")
        self.expect(result, 1, "GPU-03", "1650000000000")

    def test_a_row_without_a_floor_that_breaks_is_no_pass(self):
        id_ = "gemm/bf16/8192x8192x8192/burst"
        self.suite("gemm", "")
        self.expect(self.run_assay("accept", "--suite", "gemm", fault=f"crash:{id_}"), 3, "signal 6")

    def test_a_program_on_another_card_clears_nothing(self):
        self.expect(self.run_assay("accept", fault=f"elsewhere:{BF16}"), 3, "GPU-another")

    def test_no_process_is_left_behind(self):
        self.run_assay("accept", fault="orphan:")
        left = [p for p in Path("/proc").glob("[0-9]*/environ")
                if f"ASSAY_CONFIGS={self.dir}".encode() in self.read(p)]
        self.assertEqual(left, [])

    @staticmethod
    def read(path):
        try:
            return path.read_bytes()
        except OSError:
            return b""

    def test_a_hang_costs_its_own_row_only(self):
        result = self.run_assay("accept", fault=f"hang:{BF16}")
        self.expect(result, 3, BF16, "hung")
        self.assertEqual(self.record(BF16)["status"], "errored")
        self.assertEqual(self.record("gemm/tf32/8192x8192x8192/sustained")["runs"], 5)
        self.assertEqual(self.record("memory/copy/4GiB/burst")["judged"]["status"], "pass")

    def test_a_crash_names_its_signal(self):
        self.expect(self.run_assay("accept", fault=f"crash:{BF16}"), 3, "signal 6")

    def test_interrupting_keeps_what_was_measured(self):
        for signal_number in (signal.SIGINT, signal.SIGKILL):
            process = subprocess.Popen([self.bin / "assay", "accept"], cwd=self.dir,
                                       env=self.environment(fault=f"hang:{BF16}"),
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            time.sleep(0.7)
            process.send_signal(signal_number)
            process.communicate(timeout=20)
            self.assertFalse(self.report()["assay"]["complete"])
            shutil.rmtree(self.dir / "out")

    def test_a_full_disk_is_one_line_and_leaves_the_last_report(self):
        small = self.dir / "small"
        small.mkdir()
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", small],
                               capture_output=True, check=False)
        if mount.returncode != 0:
            self.skipTest("needs root to mount a small file system")
        try:
            result = self.run_assay("accept", "--out", str(small / "out"))
            self.expect(result, 3, "No space left")
            report = json.loads((small / "out/report.json").read_text())
            self.assertFalse(report["assay"]["complete"])
        finally:
            subprocess.run(["umount", small], check=True)


class BadInput(Node):
    def one_line(self, code, text, *arguments, **environment):
        result = self.run_assay(*arguments, **environment)
        self.expect(result, code, text)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)

    def test_usage(self):
        self.one_line(4, "quik", "accept", "--suite", "quik")
        self.one_line(4, "7", "accept", "--gpus", "7")
        self.one_line(4, "missing.yaml", "accept", "--targets", "missing.yaml")
        self.one_line(4, "no.json", "judge", "no.json")
        self.one_line(4, "frobnicate", "frobnicate")

    def test_a_suite_with_an_unknown_key(self):
        self.suite("quick", "\nbudgets: 3\n")
        self.one_line(4, "quick.yaml:", "accept")

    def test_a_floor_above_the_limit(self):
        file = self.dir / "configs/targets/h200-sxm.yaml"
        text = file.read_text()
        self.assertIn("floor: 640", text)
        file.write_text(text.replace("floor: 640", "floor: 6400"))
        self.one_line(4, "h200-sxm.yaml:", "accept")

    def test_an_out_folder_that_is_a_file(self):
        (self.dir / "taken").write_text("")
        self.one_line(3, "taken", "accept", "--out", "taken")


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
