#!/usr/bin/env python3
"""Makes the broken and whole weight files beside it: what is found in place of weights in the field."""
import json
import struct
from pathlib import Path

HERE = Path(__file__).parent
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8, "num_hidden_layers": 1,
          "num_attention_heads": 2, "vocab_size": 264, "torch_dtype": "float32"}
TENSORS = ["model.embed_tokens.weight", "model.layers.0.input_layernorm.weight", "model.layers.0.mlp.up_proj.weight",
           "model.norm.weight", "lm_head.weight"]


def safetensors(tensors):
    """tensors: name -> (dtype, shape, bytes)"""
    header, data = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def square(name):
    start = TENSORS.index(name) * 4
    return "F32", [2, 2], struct.pack("<4f", *range(start, start + 4))


def write(name, data):
    path = HERE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data, indent=1).encode())


def not_safetensors():
    whole = safetensors({"a": ("F32", [1], struct.pack("<f", 1))})
    write("not-safetensors/lfs-pointer.safetensors",
          b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0123456789abcdef" * 4 + b"\nsize 3087467144\n")
    write("not-safetensors/five-bytes.safetensors", whole[:5])
    write("not-safetensors/length-2e63.safetensors", struct.pack("<Q", 2**63 + 64) + whole[8:])
    write("not-safetensors/length-beyond-end.safetensors", struct.pack("<Q", 4096) + whole[8:])
    write("not-safetensors/array-header.safetensors", struct.pack("<Q", 8) + b"[1,2,3] " + bytes(4))


def shards(folder, layout, homes):
    """layout: file -> tensors in it; homes: file number in the index -> tensors"""
    write(f"shards/{folder}/config.json", CONFIG)
    for file, names in layout.items():
        write(f"shards/{folder}/{file}", safetensors({name: square(name) for name in names}))
    write(f"shards/{folder}/model.safetensors.index.json",
          {"metadata": {"total_size": 80}, "weight_map": {name: file for file, names in homes for name in names}})


def missing_shards():
    def name(part, count):
        return f"model-{part:05}-of-{count:05}.safetensors"
    t = TENSORS
    three = [(name(1, 3), t[:2]), (name(2, 3), t[2:4]), (name(3, 3), t[4:])]
    two = {name(1, 2): t[:3], name(2, 2): t[3:]}
    shards("missing", {k: v for k, v in three if k != name(2, 3)}, three)
    shards("stale", two, [(name(1, 4), t[:1]), (name(2, 4), t[1:2]), (name(3, 4), t[2:3]), (name(4, 4), t[3:])])
    shards("wrong-home", two, [(name(1, 2), t[:2]), (name(2, 2), t[2:])])


def fp8():
    values = bytes([0x38, 0xB8, 0x40, 0x01, 0x7E, 0xFE, 0x00, 0x80, 0x08, 0x30, 0x44, 0x4C, 0x50, 0x20, 0x10, 0x48])
    write("fp8.safetensors", safetensors({
        "model.layers.0.mlp.up_proj.weight": ("F8_E4M3", [4, 4], values),
        "model.layers.0.mlp.up_proj.weight_scale_inv": ("F32", [1, 1], struct.pack("<f", 0.5))}))


def gguf_cut_short():
    def text(value):
        return struct.pack("<Q", len(value)) + value.encode()

    def whole(last_offset=None):
        shapes = [("token_embd.weight", [8, 16]), ("blk.0.attn_q.weight", [8, 8]), ("blk.0.ffn_up.weight", [8, 32]),
                  ("output_norm.weight", [8])]
        out = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), 2)
        out += text("general.architecture") + struct.pack("<I", 8) + text("llama")
        out += text("llama.context_length") + struct.pack("<II", 4, 256)
        data = b""
        for name, shape in shapes:
            size = shape[0] * (shape[1] if len(shape) > 1 else 1)
            offset = len(data) if name != "output_norm.weight" or last_offset is None else last_offset
            out += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, offset)
            data += struct.pack(f"<{size}f", *(n / 8 - 3 for n in range(size)))
        return out + bytes(-len(out) % 32) + data

    good = whole()
    write("gguf/whole.gguf", good)
    write("gguf/cut-in-header.gguf", good[:70])
    write("gguf/cut-in-data.gguf", good[:-8])
    write("gguf/model.gguf.part1of2", good[:len(good) // 2])
    write("gguf/offset-wraps.gguf", whole(last_offset=2**64 - 32))


not_safetensors()
missing_shards()
fp8()
gguf_cut_short()
