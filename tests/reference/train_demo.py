#!/usr/bin/env python3
"""A run on the demo model with the demo samples: the loss falls, sensitive tokens gain confidence, peft loads it.

usage: train_demo.py CUSET_PROGRAM MODEL.gguf SAMPLES.jsonl [STEPS]
Made with torch 2.15.0, transformers 5.24.0 (which dequantises the GGUF file itself), peft 0.21.2. Prints JSON lines.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

PROGRAM, MODEL, SAMPLES = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
STEPS = int(sys.argv[4]) if len(sys.argv) > 4 else 60
LIMIT = 1e-3  # of a log-probability: both compute in float32, from weights that each dequantised itself


def cuset(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        config = {"model": str(MODEL), "data": [str(SAMPLES)], "validation_share": 0.2, "output": str(folder / "run"),
                  "max_steps": STEPS, "gradient_accumulation": 4, "max_length": 768, "learning_rate": 5e-4,
                  "dtype": "float32", "device": "cpu", "eval_steps": max(1, STEPS // 4), "save_steps": STEPS}
        (folder / "config.json").write_text(json.dumps(config))
        cuset("train", folder / "config.json")
        events = [json.loads(line) for line in (folder / "run/events.jsonl").read_text().splitlines()]
        steps = [e for e in events if e["type"] == "step"]
        tenth = max(1, len(steps) // 10)
        keys = ("loss", "nll", "mean_confidence", "sensitive_confidence", "neutral_confidence")
        ends = [{k: sum(s[k] for s in part) / len(part) for k in keys} for part in (steps[:tenth], steps[-tenth:])]
        print(json.dumps({"steps": len(steps), "first": ends[0], "last": ends[1]}))
        for event in events:
            if event["type"] == "evaluation":
                print(json.dumps({k: event[k] for k in ("step", *keys) if k in event}))
        finished = next(e for e in events if e["type"] == "finished")
        print(json.dumps({"seconds": finished["seconds"], "logit_difference": finished["logit_difference"]}))

        final, merged = folder / "run/final", folder / "merged"
        sample = json.loads(SAMPLES.read_text().splitlines()[0])
        one = folder / "one.jsonl"
        one.write_text(json.dumps(sample) + "\n")
        cuset("score", MODEL, one, "--adapter", final, "--dtype", "float32", "--max-length", 512, "-o",
              folder / "a.scores.safetensors")
        scores = load_file(folder / "a.scores.safetensors")
        report = json.loads(cuset("merge", MODEL, final, "-o", merged, "--dtype", "float32", "--json"))
        print(json.dumps({"merge": report}))

        plain = AutoModelForCausalLM.from_pretrained(MODEL.parent, gguf_file=MODEL.name, dtype=torch.float32)
        tuned = PeftModel.from_pretrained(plain, final).eval()
        whole = AutoModelForCausalLM.from_pretrained(merged, dtype=torch.float32).eval()
        tokenizer = AutoTokenizer.from_pretrained(merged)
        text = tokenizer.apply_chat_template([{"role": "user", "content": sample["prompt"]}], tokenize=False,
                                             add_generation_prompt=True)
        prompt = tokenizer(text, add_special_tokens=False).input_ids
        response = tokenizer(sample["response"], add_special_tokens=False).input_ids
        target = scores["token_id"].tolist()
        length = min(len(response), len(target) - 1)
        assert response[:length] == target[:length], "the merged folder's tokenizer gives other ids"
        ids = torch.tensor([prompt + target])
        with torch.no_grad():
            differences = {}
            for name, model in (("peft", tuned), ("merged", whole)):
                rows = torch.log_softmax(model(ids).logits[0].float(), -1)[len(prompt) - 1:-1]
                found = rows.gather(1, torch.tensor(target)[:, None])[:, 0]
                differences[name] = (found - scores["logprob"]).abs().max().item()
        print(json.dumps({"largest_difference_of_a_logprob": differences, "tokens": len(target)}))
        falls = ends[1]["nll"] < ends[0]["nll"] and ends[1]["sensitive_confidence"] > ends[0]["sensitive_confidence"]
        return 0 if falls and max(differences.values()) < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
