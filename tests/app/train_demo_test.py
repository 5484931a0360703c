#!/usr/bin/env python3
"""A short run of the demo model on two of the demo's samples: the losses fall, sensitive tokens gain confidence.

ctest runs it where CUSET_DEMO_MODEL names the model's GGUF file, else it counts as skipped (exit code 77). The whole run,
with held-out samples and the adapter loaded in peft: tests/reference/train_demo.py.
"""
import json
import os
import sys

from training_case import DATA, TrainingCase, main

MODEL = os.environ.get("CUSET_DEMO_MODEL")
SAMPLES = DATA.parents[1] / "resources/samples/cuda_kernels.jsonl"


class Demo(TrainingCase):
    def test_the_losses_fall_and_sensitive_tokens_gain_confidence(self):
        samples = sorted(SAMPLES.read_text().splitlines(), key=lambda line: len(json.loads(line)["response"]))
        self.data.write_text("\n".join(samples[:2]) + "\n")
        self.cuset("train", self.config("run", model=MODEL, max_length=224, epochs=6, save_steps=None))
        steps = self.steps("run")  # of both samples each; the first one sees the untouched model
        self.assertEqual(len(steps), 6)
        for key, rises in (("loss", False), ("nll", False), ("sensitive_confidence", True), ("mean_confidence", True)):
            before, after = steps[0][key], steps[-1][key]
            self.assertTrue(after > before if rises else after < before, f"{key}: {before}, then {after}")
        self.assertLess(steps[-1]["nll"], 0.8 * steps[0]["nll"])
        self.assertLess(self.events("run", "finished")[0]["logit_difference"], 1e-5)


if __name__ == "__main__":
    if not MODEL:
        print("skipped: CUSET_DEMO_MODEL names no model")
        sys.exit(77)
    main()
