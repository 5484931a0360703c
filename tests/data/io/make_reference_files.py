#!/usr/bin/env python3
"""Makes the files that other programs wrote, for the readers' tests.

Needs torch 2.15, safetensors 0.8.0, gguf 0.19.0. reference.safetensors: element n of each tensor is n % 2 or n;
reference.gguf: likewise. float8.bin: float32 of all 256 float8_e4m3fn values, then of all float8_e5m2 ones.
"""
from pathlib import Path

import gguf
import numpy as np
import torch
from safetensors.torch import save_file

HERE = Path(__file__).parent


def main():
    dtypes = {"BOOL": torch.bool, "U8": torch.uint8, "I8": torch.int8, "U16": torch.uint16, "I16": torch.int16,
              "U32": torch.uint32, "I32": torch.int32, "U64": torch.uint64, "I64": torch.int64,
              "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2, "BF16": torch.bfloat16,
              "F16": torch.float16, "F32": torch.float32, "F64": torch.float64}
    tensors = {name: (torch.arange(6) % (2 if name == "BOOL" else 8)).to(dtype).reshape(2, 3)
               for name, dtype in dtypes.items()}
    tensors["scalar"] = torch.tensor(7.0)
    tensors["empty"] = torch.zeros(0, 4)
    tensors["naïve \"name\" 名"] = torch.arange(2, dtype=torch.float32)
    save_file(tensors, HERE / "reference.safetensors", {"format": "pt", "clé": "a \"b\"\n"})

    writer = gguf.GGUFWriter(HERE / "reference.gguf", "llama")
    writer.add_uint8("u8", 255)
    writer.add_int8("i8", -128)
    writer.add_uint16("u16", 65535)
    writer.add_int16("i16", -32768)
    writer.add_uint32("u32", 4294967295)
    writer.add_int32("i32", -2147483648)
    writer.add_uint64("u64", 18446744073709551615)
    writer.add_int64("i64", -9223372036854775808)
    writer.add_float32("f32", 0.25)
    writer.add_float64("f64", -0.1)
    writer.add_bool("yes", True)
    writer.add_bool("no", False)
    writer.add_string("text", "naïve\n名")
    writer.add_array("strings", ["a", "", "名"])
    writer.add_array("integers", [3, -1, 2])
    writer.add_array("numbers", [0.5, -2.0])
    writer.add_array("bools", [True, False])
    writer.add_tensor("f32", np.arange(6, dtype=np.float32).reshape(2, 3))
    writer.add_tensor("f16", np.arange(4, dtype=np.float16))
    rows = np.arange(64, dtype=np.float32).reshape(2, 32)
    writer.add_tensor("q8_0", gguf.quantize(rows, gguf.GGMLQuantizationType.Q8_0),
                      raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    codes = torch.arange(256, dtype=torch.uint8)
    values = [codes.view(dtype).to(torch.float32).numpy() for dtype in (torch.float8_e4m3fn, torch.float8_e5m2)]
    (HERE / "float8.bin").write_bytes(b"".join(v.tobytes() for v in values))


main()
