#!/usr/bin/env python3
"""Writes rows.parquet, rows.arrow, rows.arrows (a stream) and rows.jsonl: the same rows, the last as what a reader must make of them.

Usage: make_columnar_files.py [FOLDER]. Made with pyarrow 26.0.1.
"""
import datetime
import decimal
import json
import pathlib
import sys

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
COUNT = 300  # more than one batch of the reader
kernel = "__global__ void k{}(float* x) {{ x[threadIdx.x] = {}.0f; }}\n"

rows = []
for i in range(COUNT):
    rows.append({
        "id": f"row-{i}",
        "problem statement": f"Write kernel {i}.",
        "solution": None if i == 5 else kernel.format(i, i),
        "language": ["cuda", "cpp", "cuda"][i % 3],
        "Correct": i % 2 == 0,
        "speed.up": i / 8,
        "extra_info": {"question": f"Q{i}", "answer": kernel.format(i, -i)},
        "messages": [{"role": "user", "content": f"M{i}"}, {"role": "assistant", "content": kernel.format(i, i + 1)}],
        "level": i % 4,
        "tags": ["a", "b"][: i % 3],
        "scores": [i / 2, None] if i % 2 else None,
        "name": f"größe {i} \U0001f600",
        "big": 2**63 + i,
    })

schema = pa.schema([
    ("id", pa.string()),
    ("problem statement", pa.large_string()),
    ("solution", pa.string_view()),
    ("language", pa.dictionary(pa.int32(), pa.string())),
    ("Correct", pa.bool_()),
    ("speed.up", pa.float64()),
    ("extra_info", pa.struct([("question", pa.string()), ("answer", pa.string())])),
    ("messages", pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))),
    ("level", pa.int8()),
    ("tags", pa.large_list(pa.string())),
    ("scores", pa.list_(pa.float32())),
    ("name", pa.string()),
    ("big", pa.uint64()),
])
table = pa.Table.from_pylist(rows, schema=schema)
extra = {  # name: (array, what a reader makes of it)
    "half": (pa.array(np.arange(COUNT, dtype=np.float16)), [float(i) for i in range(COUNT)]),
    "day": (pa.array([datetime.date(2026, 1, 1) + datetime.timedelta(days=i) for i in range(COUNT)]),
            [str(datetime.date(2026, 1, 1) + datetime.timedelta(days=i)) for i in range(COUNT)]),
    "price": (pa.array([decimal.Decimal(i) / 4 for i in range(COUNT)], pa.decimal128(10, 2)),
              [f"{i / 4:.2f}" for i in range(COUNT)]),
    "attributes": (pa.array([[("k", i)] for i in range(COUNT)], pa.map_(pa.string(), pa.int64())),
                   [{"k": i} for i in range(COUNT)]),
    "bytes": (pa.array([b"ok\xff" if i == 7 else b"ok" for i in range(COUNT)], pa.binary()),
              ["ok\ufffd" if i == 7 else "ok" for i in range(COUNT)]),
    "nothing": (pa.nulls(COUNT), [None] * COUNT),
    "pair": (pa.array([[i, -i] for i in range(COUNT)], pa.list_(pa.int16(), 2)), [[i, -i] for i in range(COUNT)]),
}
for name, (array, expected) in extra.items():
    table = table.append_column(name, array)
    for row, value in zip(rows, expected):
        row[name] = value

pq.write_table(table, folder / "rows.parquet", compression="zstd", row_group_size=120)
with pa.ipc.new_file(folder / "rows.arrow", table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as sink:
    for batch in table.to_batches(max_chunksize=256):
        sink.write_batch(batch)
with pa.ipc.new_stream(folder / "rows.arrows", table.schema,
                       options=pa.ipc.IpcWriteOptions(compression="lz4", emit_dictionary_deltas=True)) as sink:
    for batch in table.to_batches(max_chunksize=256):
        sink.write_batch(batch)
(folder / "rows.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
