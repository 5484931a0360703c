#!/usr/bin/env python3
"""Turn the demo model's GGUF file into a Hugging Face folder, weights dequantised by the `gguf` package.

Usage: make_hf_folder.py MODEL.gguf OUT_DIR [--dtype float32|bfloat16] [--write-gguf BF16.gguf]
--write-gguf also writes a GGUF file of the same weights in BF16, for llama.cpp.
For files of the llama architecture with byte-level BPE and the `smollm` pre-tokenizer (digits one by one, then the
GPT-2 split). Rows of q and k are stored pairwise interleaved in such files and are put back in order.
Needs: torch gguf numpy safetensors
"""
import argparse
import json
import os

import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter, quants
from safetensors.torch import save_file

NAMES = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj",
         "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
         "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
TOP = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight",
       "output.weight": "lm_head.weight"}


class Reader:
    def __init__(self, path):
        self.file = GGUFReader(path)

    def __call__(self, key, default=None):
        field = self.file.fields.get(key)
        return default if field is None else field.contents()


def weights(read, dtype):
    """name -> tensor, dequantised."""
    heads = read("llama.attention.head_count")
    kv_heads = read("llama.attention.head_count_kv", heads)
    state = {}
    for tensor in read.file.tensors:
        w = quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if tensor.name in TOP:
            name = TOP[tensor.name]
        else:
            _, layer, rest = tensor.name.split(".", 2)
            part, kind = rest.rsplit(".", 1)
            name = f"model.layers.{layer}.{NAMES[part]}.{kind}"
            count = {"attn_q": heads, "attn_k": kv_heads}.get(part)
            if count:
                w = w.reshape(count, -1, 2, w.shape[-1]).swapaxes(1, 2).reshape(w.shape)
        state[name] = torch.from_numpy(np.ascontiguousarray(w)).to(dtype)
    return state


def config(read, tied, dtype):
    heads = read("llama.attention.head_count")
    hidden = read("llama.embedding_length")
    return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
            "hidden_size": hidden, "intermediate_size": read("llama.feed_forward_length"),
            "num_hidden_layers": read("llama.block_count"), "num_attention_heads": heads,
            "num_key_value_heads": read("llama.attention.head_count_kv", heads), "head_dim": hidden // heads,
            "max_position_embeddings": read("llama.context_length"),
            "rms_norm_eps": float("%.6g" % read("llama.attention.layer_norm_rms_epsilon")),
            "rope_theta": read("llama.rope.freq_base", 10000.0), "tie_word_embeddings": tied,
            "vocab_size": len(read("tokenizer.ggml.tokens")), "torch_dtype": str(dtype).split(".")[1],
            "bos_token_id": read("tokenizer.ggml.bos_token_id"), "eos_token_id": read("tokenizer.ggml.eos_token_id")}


def tokenizer(read):
    if read("tokenizer.ggml.model") != "gpt2" or read("tokenizer.ggml.pre") != "smollm":
        raise SystemExit("only byte-level BPE with the smollm pre-tokenizer is handled")
    tokens, types = read("tokenizer.ggml.tokens"), read("tokenizer.ggml.token_type")
    added = [dict(id=i, content=t, single_word=False, lstrip=False, rstrip=False, normalized=False,
                  special=types[i] == 3) for i, t in enumerate(tokens) if types[i] in (3, 4)]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                {"type": "Digits", "individual_digits": True}, byte_level]},
            "post_processor": None, "decoder": byte_level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                      "ignore_merges": False, "vocab": {t: i for i, t in enumerate(tokens)},
                      "merges": [m.split(" ") for m in read("tokenizer.ggml.merges")]}}


def write_gguf(read, path):
    """The same file with matrices in BF16 and vectors in F32; all metadata but the file type is kept."""
    writer = GGUFWriter(path, "llama")
    for name, field in read.file.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
            continue
        kind = field.types[0]
        sub_type = field.types[-1] if kind == GGUFValueType.ARRAY else None
        writer.add_key_value(name, field.contents(), kind, sub_type=sub_type)
    writer.add_file_type(32)  # mostly BF16
    for tensor in read.file.tensors:
        w = quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        kind = GGMLQuantizationType.BF16 if w.ndim > 1 else GGMLQuantizationType.F32
        writer.add_tensor(tensor.name, quants.quantize(w, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("gguf")
    ap.add_argument("out")
    ap.add_argument("--dtype", default="bfloat16", choices=["float32", "bfloat16"])
    ap.add_argument("--write-gguf", metavar="BF16.gguf")
    args = ap.parse_args()
    read = Reader(args.gguf)
    dtype = getattr(torch, args.dtype)
    state = weights(read, dtype)
    os.makedirs(args.out, exist_ok=True)
    save_file(state, os.path.join(args.out, "model.safetensors"), metadata={"format": "pt"})
    tokens = read("tokenizer.ggml.tokens")
    names = {k + "_token": tokens[read(f"tokenizer.ggml.{k}_token_id")] for k in ("bos", "eos")}
    for name, value in [("config.json", config(read, "lm_head.weight" not in state, dtype)),
                        ("tokenizer.json", tokenizer(read)),
                        ("tokenizer_config.json", dict(tokenizer_class="PreTrainedTokenizerFast",
                                                       chat_template=read("tokenizer.chat_template"), **names))]:
        with open(os.path.join(args.out, name), "w", encoding="utf-8") as f:
            json.dump(value, f, ensure_ascii=False)
    if args.write_gguf:
        write_gguf(read, args.write_gguf)


if __name__ == "__main__":
    main()
