#!/usr/bin/env python3
"""Make the reference that `cuset verify MODEL` compares with: token ids and log-probabilities by transformers.

Usage: make_reference.py MODEL [--out FILE] [--text FILE]... [--dtype float32]
MODEL is a Hugging Face folder or name; the reference is written to MODEL/cuset-reference.json unless --out says
otherwise. Each --text file is one sample; without them a few pieces of CUDA are taken. A text is tokenised as it
stands, without special tokens; log_probs holds ln p of every token but the first.
Needs: torch transformers
"""
import argparse
import json
import os

import torch
import transformers

TEXTS = [
    "__global__ void saxpy(int n, float a, const float* x, float* y) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        y[i] = a * x[i] + y[i];\n}\n\n"
    "void run(int n, float a, const float* x, float* y, cudaStream_t stream) {\n"
    "    saxpy<<<(n + 255) / 256, 256, 0, stream>>>(n, a, x, y);\n}\n",
    "template <int N>\n__global__ void block_sum(const float* in, float* out) {\n\t__shared__ float part[N];\n"
    "\tpart[threadIdx.x] = in[blockIdx.x * N + threadIdx.x];\n\t__syncthreads();\n"
    "\tfor (int s = N / 2; s > 0; s >>= 1) {\n\t\tif (threadIdx.x < s)\n"
    "\t\t\tpart[threadIdx.x] += part[threadIdx.x + s];\n\t\t__syncthreads();\n\t}\n"
    "\tif (threadIdx.x == 0)\n\t\tout[blockIdx.x] = part[0];\n}\n",
    "// Gr\u00f6\u00dfe 32\u00d732, \u8f6c\u7f6e\r\nconstexpr int k = 1234567890;" + " " * 20 + "/* 0x7f 1e-6f */\r\n\r\n"
    "The kernel above reads each value once and writes it once.\n",
]


def sample(model, text, ids):
    with torch.no_grad():
        logits = model(torch.tensor([ids], device=model.device)).logits[0].double()
    log_probs = torch.log_softmax(logits[:-1], -1).gather(1, torch.tensor(ids[1:], device=logits.device)[:, None])
    return {"text": text, "ids": ids, "log_probs": [round(min(float(v), 0.0), 7) for v in log_probs[:, 0]]}


def samples(model, tokenizer, texts):
    """One for each text, worked out from short to long: with dynamic rope transformers keeps the longest length."""
    ids = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
    order = sorted(range(len(texts)), key=lambda k: len(ids[k]))
    made = {k: sample(model, texts[k], ids[k]) for k in order}
    return [made[k] for k in range(len(texts))]


def main():
    parser = argparse.ArgumentParser(description="Make the reference that cuset verify compares with.")
    parser.add_argument("model")
    parser.add_argument("--out", help="file to write (default: MODEL/cuset-reference.json)")
    parser.add_argument("--text", action="append", default=[], help="a text file, one sample; may be given again")
    parser.add_argument("--dtype", default="float32", help="type that transformers computes with")
    args = parser.parse_args()
    out = args.out or os.path.join(args.model, "cuset-reference.json")
    if not args.out and not os.path.isdir(args.model):
        parser.error("MODEL is no folder: say with --out where the reference goes")
    texts = [open(path, encoding="utf-8", newline="").read() for path in args.text] or TEXTS
    tokenizer = transformers.AutoTokenizer.from_pretrained(args.model)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        args.model, dtype=getattr(torch, args.dtype), attn_implementation="eager").eval()
    made_with = f"transformers {transformers.__version__}, torch {torch.__version__.split('+')[0]}, {args.dtype}"
    reference = {"format": "cuset-reference", "version": 1, "made_with": made_with,
                 "samples": samples(model, tokenizer, texts)}
    with open(out, "w", encoding="utf-8") as file:
        json.dump(reference, file, ensure_ascii=False)
        file.write("\n")
    print(out, sum(len(s["log_probs"]) for s in reference["samples"]), "log-probabilities by", made_with)


if __name__ == "__main__":
    main()
