#!/usr/bin/env python3
"""README's table of exactness: each family's fixture model against transformers, as `cuset verify` finds it.

Usage: family_table.py CUSET_PROGRAM [NAME...]
For each model in tests/data/models a reference is made with packaging/make_reference.py (transformers, float32,
attention `eager`, three texts), then the folder is verified in float32 and bfloat16, and the GGUF file that
llama.cpp's converter made of it (tests/data/models/make_gguf.py), where there is one, in float32. Prints Markdown:
the largest difference of ln p in float32 and from GGUF, and the largest of p in bfloat16.
Exit code 1 if a model is not proven. Needs: torch transformers
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODELS = ROOT / "tests" / "data" / "models"
sys.path.insert(0, str(ROOT / "packaging"))
import make_reference  # noqa: E402

FAMILIES = {
    "llama": "Llama", "llama-linear-rope": "Llama, linear rope", "llama-dynamic-rope": "Llama, dynamic rope",
    "llama3-rope": "Llama 3", "mistral-window": "Mistral, sliding window", "mixtral": "Mixtral", "qwen2": "Qwen 2",
    "qwen2-yarn": "Qwen 2, YaRN", "qwen3": "Qwen 3", "qwen3-moe": "Qwen 3 MoE", "phi3": "Phi 3",
    "phi3-longrope": "Phi 3, LongRoPE, sliding window", "gemma2": "Gemma 2", "gemma3": "Gemma 3 (text)",
    "deepseek-v2": "DeepSeek-V2 (Lite: yarn, first layer dense)",
    "deepseek-v2-groups": "DeepSeek-V2 (narrow queries, groups)", "granite": "Granite", "olmo2": "OLMo 2", "smollm3": "SmolLM 3", "starcoder2": "StarCoder 2",
}


def reference_of(folder):
    import torch
    import transformers
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager").eval()
    return {"format": "cuset-reference", "version": 1, "made_with": "transformers " + transformers.__version__,
            "samples": make_reference.samples(model, tokenizer, make_reference.TEXTS)}


def verify(program, model, reference, *options):
    done = subprocess.run([program, "verify", model, "--reference", reference, "--device", "cpu", "--json", *options],
                          capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(f"{model}: {done.stderr}")
    return json.loads(done.stdout)


def main():
    program, names = sys.argv[1], sys.argv[2:] or list(FAMILIES)
    proven = True
    print("| family | float32, largest difference of ln p | bfloat16, largest of p (mean) | GGUF, largest of ln p |")
    print("|---|---|---|---|")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reference.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(reference_of(MODELS / name), file)
            found = verify(program, MODELS / name, path)
            exact, narrow = found["dtypes"]
            cells = [f"{exact['largest']:.1e}",
                     f"{narrow['largest_probability']:.3f} ({narrow['mean_probability']:.4f})", ""]
            proven = proven and found["verdict"] == "proven"
            gguf = MODELS / "gguf" / f"{name}.gguf"
            if gguf.exists():
                found = verify(program, gguf, path, "--dtype", "float32")
                cells[2] = f"{found['dtypes'][0]['largest']:.1e}"
                proven = proven and found["verdict"] == "proven"
        print(f"| {FAMILIES[name]} | {' | '.join(cells)} |", flush=True)
    return 0 if proven else 1


if __name__ == "__main__":
    sys.exit(main())
