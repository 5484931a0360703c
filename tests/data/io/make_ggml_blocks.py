#!/usr/bin/env python3
"""Makes ggml_blocks.bin: random blocks of every quantised tensor type and what they decode to.

Needs the `gguf` package (0.19.0 was used). For each type: uint32 type, uint32 bytes, uint32 elements, the blocks,
the elements as float32, all little-endian.
"""
import struct
import sys
from pathlib import Path

import gguf
import numpy as np

TYPES = ["F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL",
         "IQ4_XS", "TQ1_0", "TQ2_0", "MXFP4"]
# Where the half-precision scales lie in a block: random bits there could be infinite or not a number.
HALVES = {"F16": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82],
          "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0],
          "TQ1_0": [52], "TQ2_0": [64]}


def main():
    random = np.random.default_rng(20260928)
    out = bytearray()
    for name in TYPES:
        number = gguf.GGMLQuantizationType[name]
        block_elements, block_bytes = gguf.GGML_QUANT_SIZES[number]
        count = 96 if block_elements == 1 else 5 if block_elements == 32 else 2
        blocks = random.integers(0, 256, (count, block_bytes), dtype=np.uint8)
        for at in HALVES.get(name, []):
            # Every exponent but the last, so normal and subnormal values of both signs.
            blocks[:, at + 1] = np.where((blocks[:, at + 1] & 0x7C) == 0x7C, blocks[:, at + 1] & 0x83,
                                         blocks[:, at + 1])
        if name == "BF16":
            blocks[:, 1] &= 0xBF
        if name == "MXFP4":
            blocks[:2, 0] = [0, 1]
        values = gguf.dequantize(blocks.reshape(1, -1), number).astype(np.float32).reshape(-1)
        assert np.isfinite(values).all(), name
        out += struct.pack("<III", number, blocks.size, values.size) + blocks.tobytes() + values.tobytes()
    (Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("ggml_blocks.bin")).write_bytes(out)


main()
