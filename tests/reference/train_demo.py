#!/usr/bin/env python3
"""A training run of the demo model on the demo samples, from the first step to the adapter loaded in peft.

usage: train_demo.py [--program CUSET] [--model MODEL.gguf] [--samples FILE] [--epochs N] [--dtype TYPE] [--threads N]
Without options: the release build, the model and the samples of packaging/demo. Needs torch, transformers, peft and
safetensors (made with 2.15.0, 5.24.0, which dequantises the GGUF file itself, 0.21.2 and 0.8.0). Takes minutes.

A fifth of the samples is held out and scored by `cuset score` with base and adapter; its log-probabilities, of the targets
and of the five most probable tokens, are compared with those of peft and of the merged folder in transformers. Prints a table
and one line of JSON. Fails unless the held-out NLL falls, sensitive tokens gain confidence and the others' figures agree.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 1e-3  # of a log-probability: both compute in float32, from weights that each dequantised itself


def options():
    cache = pathlib.Path(os.environ.get("CUSET_CACHE_DIR", pathlib.Path.home() / ".cache/cuset-studio"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=ROOT / "build/release/bin/cuset")
    parser.add_argument("--model", type=pathlib.Path, default=os.environ.get(
        "CUSET_DEMO_MODEL", cache / "models/SmolLM2-135M-Instruct.Q4_1.gguf"))
    parser.add_argument("--samples", type=pathlib.Path, default=ROOT / "resources/samples/cuda_kernels.jsonl")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--threads", type=int, default=0)
    return parser.parse_args()


class Demo:
    def __init__(self, given, folder):
        self.given, self.folder, self.run = given, folder, folder / "run"

    def cuset(self, *arguments):
        done = subprocess.run([str(self.given.program), *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        return done.stdout

    def train(self):
        """Times, memory and the estimate of it."""
        given = self.given
        config = {"model": str(given.model), "data": [str(given.samples)], "validation_share": 0.2,
                  "output": str(self.run), "epochs": given.epochs, "gradient_accumulation": 4, "max_length": 1024,
                  "learning_rate": 5e-4, "dtype": given.dtype, "device": "cpu", "threads": given.threads}
        path = self.folder / "config.json"
        path.write_text(json.dumps(config))
        plan = json.loads(self.cuset("train", path, "--dry-run", "--json", "--samples", 0))
        self.cuset("train", path)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        events = [json.loads(line) for line in (self.run / "events.jsonl").read_text().splitlines()]
        steps = [e for e in events if e["type"] == "step"]
        finished = next(e for e in events if e["type"] == "finished")
        return {"samples": plan["samples"], "held_out": plan["validation_samples"], "steps": len(steps),
                "sequence_tokens": plan["sequence_tokens"] * given.epochs, "seconds": round(finished["seconds"], 1),
                "tokens_per_second": round(statistics.median(s["tokens_per_second"] for s in steps), 1),
                "loss": [steps[0]["loss"], steps[-1]["loss"]], "peak_bytes": peak,
                "estimated_bytes": plan["weights_bytes"] + plan["optimizer_bytes"] + plan["activation_bytes"],
                "estimated_seconds": round(plan["seconds"], 1), "logit_difference": finished["logit_difference"]}

    def hold_out(self):
        """The samples that the run held out, as a data file of their own."""
        ids = set(json.loads((self.run / "validation.json").read_text())["ids"])
        samples = [json.loads(line) for line in self.given.samples.read_text().splitlines()]
        self.held_out = [sample for sample in samples if sample["id"] in ids]
        (self.folder / "held-out.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in self.held_out))

    def score(self, name, *adapter):
        file = self.folder / f"{name}.scores.safetensors"
        self.cuset("score", self.given.model, self.folder / "held-out.jsonl", "-o", file, "--dtype", "float32",
                   "--max-length", 1024, "--threads", self.given.threads, *adapter)
        return load_file(file)

    def differences(self, tuned):
        """The largest of a log-probability of the first held-out sample, by other programs from the same files."""
        merged, final = self.folder / "merged", self.run / "final"
        report = json.loads(self.cuset("merge", self.given.model, final, "-o", merged, "--dtype", "float32", "--json"))
        plain = AutoModelForCausalLM.from_pretrained(self.given.model.parent, gguf_file=self.given.model.name,
                                                     dtype=torch.float32)
        models = {"peft": PeftModel.from_pretrained(plain, final).eval(),
                  "merged": AutoModelForCausalLM.from_pretrained(merged, dtype=torch.float32).eval()}
        tokenizer = AutoTokenizer.from_pretrained(merged)
        sample = self.held_out[0]
        text = tokenizer.apply_chat_template([{"role": "user", "content": sample["prompt"]}], tokenize=False,
                                             add_generation_prompt=True)
        prompt = tokenizer(text, add_special_tokens=False).input_ids
        count = int(tuned["sample_begin"][1])
        target, top = tuned["token_id"][:count].long(), tuned["top_id"][:count].long()
        found = {}
        with torch.no_grad():
            for name, model in models.items():
                rows = torch.log_softmax(model(torch.tensor([prompt + target.tolist()])).logits[0].float(), -1)
                rows = rows[len(prompt) - 1:-1]
                found[name] = max((rows.gather(1, target[:, None])[:, 0] - tuned["logprob"][:count]).abs().max().item(),
                                  (rows.gather(1, top) - tuned["top_logprob"][:count]).abs().max().item())
        return {"tokens": count, "log_probability": found, "logit_of_merge": report["logit_difference"]}


def figures(scores):
    """Mean NLL in nats a token, mean confidence of sensitive and of neutral tokens."""
    logprob, sensitive = scores["logprob"].double(), scores["labels"].to(torch.int32) & ~1 != 0
    return {"nll": -logprob.mean().item(), "sensitive": logprob[sensitive].exp().mean().item(),
            "neutral": logprob[~sensitive].exp().mean().item(), "tokens": len(logprob)}


def print_table(result):
    before, after = result["before"], result["after"]
    print(f"{'held-out samples':30}{'before':>10}{'after':>10}")
    for key, title in (("nll", "plain NLL"), ("sensitive", "confidence, sensitive tokens"),
                       ("neutral", "confidence, neutral tokens")):
        print(f"{title:30}{before[key]:10.4f}{after[key]:10.4f}")
    run = result["run"]
    print(f"{run['steps']} steps, {run['sequence_tokens']} tokens in {run['seconds']} s ({run['tokens_per_second']} tokens/s; "
          f"estimated {run['estimated_seconds']} s); peak memory {run['peak_bytes'] / 2**30:.2f} GiB, estimated "
          f"{run['estimated_bytes'] / 2**30:.2f}")


def main():
    given = options()
    if given.threads > 0:
        torch.set_num_threads(given.threads)
    with tempfile.TemporaryDirectory() as temporary:
        demo = Demo(given, pathlib.Path(temporary))
        result = {"run": demo.train()}
        demo.hold_out()
        tuned = demo.score("tuned", "--adapter", demo.run / "final")
        result |= {"before": figures(demo.score("base")), "after": figures(tuned), "differences": demo.differences(tuned)}
    print_table(result)
    print(json.dumps(result))
    learns = all((result["after"][key] > result["before"][key]) == (key == "sensitive") for key in ("nll", "sensitive"))
    return 0 if learns and max(result["differences"]["log_probability"].values()) < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
