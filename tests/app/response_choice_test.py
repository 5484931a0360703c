#!/usr/bin/env python3
"""--response answer and code end to end: what is scored is what is trained, and Parquet is data like any other.

usage: response_choice_test.py CUSET TESTS_DATA
"""
import array
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CUSET, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
MODEL = DATA / "models" / "qwen2"
TWO_BLOCKS = "A:\n```cuda\n__global__ void a() {}\n```\nthen B:\n```cpp\nint main() { a<<<1, 1>>>(); }\n```\nDone."
SAMPLES = [
    {"id": "two", "prompt": "Write two.", "response": TWO_BLOCKS},
    {"id": "thought", "prompt": "Write one.", "response": "<think>\n__global__ void draft() {}\n</think>\n__global__ void t() {}\n"},
    {"id": "bare", "prompt": "Write one.", "response": "__global__ void k(float* x) { x[threadIdx.x] = 1; }"},
]

class ResponseChoice(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.data = self.folder / "d.jsonl"
        self.data.write_text("".join(json.dumps(s) + "\n" for s in SAMPLES))

    def cuset(self, *args, code=0):
        done = subprocess.run([CUSET, *map(str, args)], capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def score(self, *options):
        out = self.folder / "s.scores.safetensors"
        self.cuset("score", MODEL, self.data, "-o", out, "--dtype", "float32", *options)
        return json.loads(self.cuset("analyze", out, "--json").stdout), out

    def test_the_first_loss_is_the_scores_mean(self):
        for choice in ("whole", "answer", "code"):
            with self.subTest(choice):
                figures, scores = self.score("--response", choice)
                header = scores.read_bytes()
                length = int.from_bytes(header[:8], "little")
                tensors = json.loads(header[8:8 + length])
                self.assertEqual(tensors["__metadata__"]["response"], choice)
                begin, end = tensors["logprob"]["data_offsets"]

                log_probs = array.array("f", header[8 + length + begin:8 + length + end])
                self.assertEqual(len(log_probs), figures["tokens"])
                run = self.folder / f"run-{choice}"
                config = {"model": str(MODEL), "data": [str(self.data)], "output": str(run), "response": choice,
                          "max_steps": 1, "dtype": "float32", "batch_size": 3, "gradient_accumulation": 1,
                          "objective": {"name": "sft"}, "lora": {"dropout": 0.0}}
                path = self.folder / "config.json"
                path.write_text(json.dumps(config))
                self.cuset("train", path)
                events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
                step = next(e for e in events if e["type"] == "step")
                self.assertEqual(step["tokens"], len(log_probs))
                self.assertAlmostEqual(step["loss"], -sum(log_probs) / len(log_probs), delta=1e-4)

    def test_code_is_less_than_the_answer_and_that_less_than_the_whole(self):
        whole, _ = self.score()
        answer, _ = self.score("--response", "answer")
        code, _ = self.score("--response", "code")
        self.assertLess(answer["tokens"], whole["tokens"])
        self.assertLess(code["tokens"], answer["tokens"])
        dry = [json.loads(self.cuset("score", MODEL, self.data, "--dry-run", "--json", "--response", choice).stdout)
               for choice in ("whole", "answer")]
        self.assertEqual(dry[0]["reasoning_tokens"], whole["tokens"] - answer["tokens"])
        self.assertEqual(dry[1]["reasoning_tokens"], 0)
        self.assertEqual(code["confidence"]["sensitive"]["count"], whole["confidence"]["sensitive"]["count"])

    def test_a_dry_run_counts_and_writes_nothing(self):
        done = self.cuset("score", MODEL, self.data, "--dry-run", "--json", "--max-length", "40", "--template", "none")
        figures = json.loads(done.stdout)
        self.assertEqual(figures["samples"], 3)
        self.assertGreaterEqual(figures["cut_samples"], 1)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["d.jsonl"])
        shown = self.cuset("score", MODEL, self.data, "--dry-run", "--show", "1", "--response", "code").stdout
        self.assertIn("--- scored ---\n__global__ void a() {}", shown)
        self.cuset("score", MODEL, self.data, code=2)  # no output

    def test_filters_choose_rows(self):
        self.data.write_text("".join(json.dumps({**s, "Correct": i > 0}) + "\n" for i, s in enumerate(SAMPLES)))
        done = self.cuset("score", MODEL, self.data, "--dry-run", "--json", "--where", "Correct=true")
        self.assertEqual(json.loads(done.stdout)["filtered_records"], 1)
        self.cuset("score", MODEL, self.data, "--dry-run", "--where", "Correct", code=2)

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
