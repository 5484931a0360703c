#!/usr/bin/env python3
"""Several ranks of `cuset train`, started by hand: one rank's figures, and an end for all when one ends."""
import os
import signal
import time

from safetensors_values import largest_difference
from training_case import TrainingCase, free_port, main

# Losses and weights at the default learning rate. Only the order of sums differs; AdamW makes a step of the rate's size
# of a gradient that is nothing but rounding, so that what differs in a weight grows with the rate (3e-6 at 2e-3).
SAME, RATE = 1e-6, 1e-4


class Ranks(TrainingCase):
    def assert_as_one(self, one, many, file):
        for a, b in zip(self.steps(one), self.steps(many), strict=True):
            for key, value in a.items():
                if isinstance(value, float):
                    self.assertAlmostEqual(value, b[key], delta=SAME * max(1, abs(value)), msg=key)
                else:
                    self.assertEqual(value, b[key], key)
        self.assertLess(largest_difference(self.path / one / "final" / file, self.path / many / "final" / file), SAME)

    def train_with(self, ranks, name, **changes):
        children = self.start_ranks(ranks, "train", self.config(name, **changes))
        codes, texts = self.ends(children)
        self.assertEqual(codes, [0] * ranks, texts)
        self.assertEqual(self.events(name, "started")[0]["ranks"], ranks)

    # 8 samples by 3 and 5: steps of unequal size, and ranks without a sample in the last one.
    def test_lora_as_one_rank(self):
        changes = {"gradient_accumulation": 5, "epochs": 4, "learning_rate": RATE, "validation": [str(self.data)], "eval_steps": 3}
        self.cuset("train", self.config("one", **changes))
        for ranks in (2, 4):
            self.train_with(ranks, f"ranks{ranks}", **changes)
            self.assert_as_one("one", f"ranks{ranks}", "adapter_model.safetensors")
            for a, b in zip(self.events("one", "evaluation"), self.events(f"ranks{ranks}", "evaluation"), strict=True):
                self.assertAlmostEqual(a["loss"], b["loss"], delta=SAME)
                self.assertEqual((a["tokens"], a["best"]), (b["tokens"], b["best"]))

    def test_full_fine_tuning_through_the_reducer_as_one_rank(self):
        changes = {"method": "full", "gradient_accumulation": 5, "epochs": 4, "save_steps": None,
                   "learning_rate": RATE}
        self.cuset("train", self.config("one", **changes))
        for ranks in (2, 4):
            self.train_with(ranks, f"ranks{ranks}", **changes)
            self.assert_as_one("one", f"ranks{ranks}", "model.safetensors")

    def test_resumed_on_ranks_bit_for_bit(self):
        for method in ("lora", "full"):
            changes = {"method": method, "gradient_accumulation": 3, "learning_rate": RATE}
            self.train_with(2, f"whole-{method}", **changes)
            name = f"broken-{method}"
            codes, texts = self.ends(self.start_ranks(2, "train", self.config(name, **changes), "--stop-after", 4))
            self.assertEqual(codes, [75, 75], texts)
            codes, texts = self.ends(self.start_ranks(2, "train", "--resume", self.path / name))
            self.assertEqual(codes, [0, 0], texts)
            self.assertEqual(self.steps(f"whole-{method}"), self.steps(name))
            file = "adapter_model.safetensors" if method == "lora" else "model.safetensors"
            self.assertEqual((self.path / f"whole-{method}/final" / file).read_bytes(),
                             (self.path / name / "final" / file).read_bytes())

    def test_a_stop_of_one_rank_stops_and_saves(self):
        children = self.start_ranks(2, "train", self.config("run", epochs=5000, save_steps=None))
        self.wait_for_step("run", children)
        children[1].send_signal(signal.SIGTERM)
        codes, texts = self.ends(children)
        self.assertEqual(codes, [75, 75], texts)
        self.assertTrue(any((self.path / "run/checkpoints").iterdir()))

    def test_a_killed_rank_ends_all_and_is_named(self):
        for killed in (0, 1, 2):
            children = self.start_ranks(3, "train", self.config(f"run{killed}", epochs=5000, save_steps=None))
            self.wait_for_step(f"run{killed}", children)
            children[killed].send_signal(signal.SIGKILL)
            begin = time.monotonic()
            codes, texts = self.ends(children)
            self.assertLess(time.monotonic() - begin, 30)  # seconds on a quiet machine
            for rank in range(3):
                self.assertEqual(codes[rank], -signal.SIGKILL if rank == killed else 1, texts)
                if rank != killed:
                    # One that ended because of it may be seen as gone in the same look.
                    self.assertRegex(texts[rank], rf"ranks? (\d, )*{killed}(, \d)* of 3")

    def test_a_hung_rank_is_named(self):
        children = self.start_ranks(2, "train", self.config("run", epochs=5000, save_steps=None), CUSET_RANK_TIMEOUT=3)
        self.wait_for_step("run", children)
        children[1].send_signal(signal.SIGSTOP)
        codes, texts = self.ends(children[:1])
        children[1].send_signal(signal.SIGKILL)
        self.ends(children[1:])
        self.assertEqual(codes, [1], texts)
        self.assertIn("rank 1 of 2 did not answer", texts[0])

    def test_an_error_of_rank_0_is_everyones(self):
        config = self.config("run", max_steps=1)
        self.assertEqual(self.ends(self.start_ranks(2, "train", config))[0], [0, 0])
        codes, texts = self.ends(self.start_ranks(2, "train", config))  # a run is there already
        self.assertEqual(codes, [2, 2], texts)
        self.assertIn("rank 0 of 2", texts[1])

    def test_an_error_of_another_rank_is_everyones(self):
        config = self.config("run", data=["/proc/self/cwd/data.jsonl"])
        folders = [self.path / "machine 0", self.path / "machine 1"]
        for folder in folders:
            folder.mkdir()
        (folders[0] / "data.jsonl").write_text(self.data.read_text())

        def start():
            port = free_port()
            return [self.start("train", config, cwd=folders[rank], RANK=rank, WORLD_SIZE=2, MASTER_ADDR="127.0.0.1",
                               MASTER_PORT=port) for rank in (0, 1)]

        codes, texts = self.ends(start())  # not there
        self.assertEqual(codes, [3, 3], texts)
        self.assertIn("rank 1 of 2", texts[0])
        self.assertIn("rank 1 of 2", self.events("run", "failed")[0]["message"])
        (folders[1] / "data.jsonl").write_text(self.data.read_text().splitlines()[0] + "\n")
        config = self.config("other", data=["/proc/self/cwd/data.jsonl"])
        codes, texts = self.ends(start())
        self.assertEqual(codes, [3, 3], texts)
        self.assertIn("rank 1 found another data than rank 0", texts[0])

    def test_an_incomplete_environment_is_a_usage_error(self):
        config = self.config("run")
        self.assertIn("WORLD_SIZE", self.cuset("train", config, code=2, RANK=0).stderr)
        self.assertIn("MASTER_ADDR", self.cuset("train", config, code=2, RANK=0, WORLD_SIZE=2).stderr)
        self.assertIn("MASTER_PORT", self.cuset("train", config, code=2, RANK=0, WORLD_SIZE=2, MASTER_ADDR="x",
                                                MASTER_PORT="http").stderr)

    def test_slurms_variables(self):
        slurm = {"SLURM_NTASKS": 2, "SLURM_STEP_ID": 0, "SLURM_JOB_ID": os.getpid(),
                 "SLURM_STEP_NODELIST": "localhost"}
        config = self.config("run")
        children = [self.start("train", config, SLURM_PROCID=rank, SLURM_LOCALID=rank, **slurm) for rank in (0, 1)]
        codes, texts = self.ends(children)
        self.assertEqual(codes, [0, 0], texts)
        self.assertEqual(self.events("run", "started")[0]["ranks"], 2)

    def test_a_group_that_is_started_again_goes_on(self):  # as torchrun does after a loss, with the same command
        self.cuset("train", self.config("whole"))
        self.cuset("train", self.config("again"), "--stop-after", 5, code=75)
        self.cuset("train", self.path / "again.json", TORCHELASTIC_RESTART_COUNT=1)
        self.assert_same("whole", "again")


if __name__ == "__main__":
    main()
