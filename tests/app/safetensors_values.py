"""The float32 tensors of a safetensors file, with Python's standard library alone."""
import array
import json
import pathlib
import struct


def tensors(path):
    """name -> array of float; throws if a tensor is of another type."""
    data = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    values = {}
    for name, entry in json.loads(data[8:8 + length]).items():
        if name != "__metadata__":
            assert entry["dtype"] == "F32", name
            begin, end = entry["data_offsets"]
            values[name] = array.array("f", data[8 + length + begin:8 + length + end])
    return values


def largest_difference(a, b):
    a, b = tensors(a), tensors(b)
    assert a.keys() == b.keys()
    return max(abs(x - y) for name in a for x, y in zip(a[name], b[name], strict=True))
