#!/usr/bin/env python3
"""Convert the fixture models to GGUF with llama.cpp's own converter, in float32 norms and bfloat16 matrices
(float32 where the model is stored so).

Usage: make_gguf.py LLAMA_CPP_DIR [--models DIR] [--out DIR] [NAME...]
LLAMA_CPP_DIR holds convert_hf_to_gguf.py and the folder conversion/, e.g. vendor/llama.cpp of the source
distribution of llama-cpp-python 0.3.36; it is used, not copied. The one thing changed: the fixtures' tokenizers
are none that the converter knows by their hash, and are given the name whose splits they have; Phi 3 and
Gemma 2, which it expects with SentencePiece, are given the same byte-level vocabulary; StarCoder 2's window, which
it leaves out, is written.
Needs: torch transformers gguf safetensors
"""
import argparse
import json
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ["phi3", "phi3-longrope", "granite", "olmo2", "smollm3", "starcoder2", "gemma2", "gemma3", "qwen3-moe", "mixtral",
         "qwen2", "qwen2-yarn", "qwen3", "llama3-rope", "deepseek-v2", "deepseek-v2-groups"]
PRE_TOKENIZERS = {"qwen2": "qwen2", "qwen2-yarn": "qwen2", "qwen3": "qwen2", "llama3-rope": "llama-bpe"}
FLOAT32 = ["qwen2-yarn"]
# For the verdict on quantised weights.
QUANTISED = {"smollm3-q8_0": ("smollm3", "q8_0")}


def with_head_dim(folder):
    """Some of the converter's classes read keys that a config may leave out."""
    path = os.path.join(folder, "config.json")
    config = json.load(open(path))
    if config.get("head_dim", 0) is None:
        del config["head_dim"]
    json.dump(config, open(path, "w"))


def no_sentencepiece(model):
    raise FileNotFoundError("tokenizer.model")


def with_window(model):
    super(type(model), model).set_gguf_parameters()
    model.gguf_writer.add_sliding_window(model.hparams["sliding_window"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("llama_cpp")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--models", default=HERE)
    parser.add_argument("--out", default=os.path.join(HERE, "gguf"))
    args = parser.parse_args()
    sys.path[:0] = [os.path.join(args.llama_cpp, "gguf-py"), args.llama_cpp]
    import convert_hf_to_gguf
    from conversion import base, gemma, phi, starcoder
    base.TextModel._create_vocab_sentencepiece = no_sentencepiece
    for model in (gemma.Gemma2Model, phi.Phi3MiniModel):
        model.set_vocab = lambda self: self._set_vocab_gpt2()
    starcoder.StarCoder2Model.set_gguf_parameters = with_window
    os.makedirs(args.out, exist_ok=True)
    for wanted in args.names or [*NAMES, *QUANTISED]:
        name, outtype = QUANTISED.get(wanted, (wanted, "f32" if wanted in FLOAT32 else "bf16"))
        base.TextModel.get_vocab_base_pre = lambda self, tokenizer: PRE_TOKENIZERS.get(name, "smollm")
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, name)
            shutil.copytree(os.path.join(args.models, name), copy)
            with_head_dim(copy)
            out = os.path.join(args.out, wanted + ".gguf")
            sys.argv = ["convert_hf_to_gguf.py", copy, "--outfile", out, "--outtype", outtype]
            convert_hf_to_gguf.main()
            print(wanted, os.path.getsize(out), "bytes")


if __name__ == "__main__":
    main()
