#!/usr/bin/env python3
"""Right answers for the demo model: transformers on the weights that the `gguf` package dequantises, float32.

Usage: make_demo_golden.py MODEL.gguf [OUT.json]
For two prompts of the model's own template with a CUDA response: ids, log-probability, entropy, rank and top 5 of every
response token; and the greedy continuation of a plain question (ids).
Needs: torch transformers gguf numpy safetensors
"""
import json
import os
import subprocess
import sys
import tempfile

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = [
    ("Write a CUDA kernel that adds two vectors.",
     "__global__ void add(const float* a, const float* b, float* c, int n) {\n"
     "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) c[i] = a[i] + b[i];\n}\n"),
    ("Launch a kernel named scale on 1024 elements.",
     "dim3 block(256);\ndim3 grid(4);\nscale<<<grid, block>>>(x, 2.0f, 1024);\ncudaDeviceSynchronize();\n"),
]
QUESTION = "What is the capital of France?"


def prompt_text(tok, text):
    return tok.apply_chat_template([{"role": "user", "content": text}], add_generation_prompt=True, tokenize=False)


def scores(model, tok, prompt, response):
    p = tok(prompt_text(tok, prompt), add_special_tokens=False)["input_ids"]
    r = tok(response, add_special_tokens=False)["input_ids"] + [tok.convert_tokens_to_ids("<|im_end|>")]
    with torch.no_grad():
        lp = torch.log_softmax(model(torch.tensor([p + r])).logits[0].double()[len(p) - 1:-1], -1)
    target = lp.gather(1, torch.tensor(r)[:, None])
    top = lp.topk(5, -1)
    number = lambda t: [round(float(v), 6) for v in t]
    return dict(prompt=prompt, response=response, ids=p + r, prompt_tokens=len(p), logprob=number(target[:, 0]),
                entropy=number(-(lp.exp() * lp).sum(-1)), rank=(lp > target).sum(-1).tolist(),
                top_ids=top.indices.tolist(), top_logprob=[number(v) for v in top.values])


def main():
    out = sys.argv[2] if len(sys.argv) > 2 else os.path.join(HERE, "golden.json")
    with tempfile.TemporaryDirectory() as folder:
        maker = os.path.join(HERE, "..", "..", "bench", "make_hf_folder.py")
        subprocess.check_call([sys.executable, maker, sys.argv[1], folder, "--dtype", "float32"])
        tok = AutoTokenizer.from_pretrained(folder)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        golden = [scores(model, tok, *s) for s in SAMPLES]
        text = prompt_text(tok, QUESTION)
        ids = tok(text, add_special_tokens=False, return_tensors="pt")
        with torch.no_grad():
            got = model.generate(**ids, max_new_tokens=24, do_sample=False)[0, ids["input_ids"].shape[1]:].tolist()
    end = tok.convert_tokens_to_ids("<|im_end|>")
    got = got[:got.index(end)] if end in got else got
    with open(out, "w", encoding="utf-8") as f:
        json.dump(dict(samples=golden, question=QUESTION, rendered=text, prompt_ids=ids["input_ids"][0].tolist(),
                       greedy=got, text=tok.decode(got)), f)


if __name__ == "__main__":
    main()
