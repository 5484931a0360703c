#!/usr/bin/env python3
"""Take what we need out of downloaded wheels.

usage: unpack_wheels.py cpu|cuda|arrow|demo WHEEL_FOLDER OUT_FOLDER

cpu:  LibTorch's headers and CPU libraries, the CUDA runtime and CUPTI that libtorch_cpu links to, licences.
cuda: the same with LibTorch's CUDA libraries, and NVIDIA's with their headers.
arrow: the headers and libraries of Apache Arrow and Parquet, licences.
demo: the GGUF file of the demo model and its licence.
OUT_FOLDER/complete is written last.
"""
import pathlib
import sys
import zipfile

PYTHON_ONLY = ("libtorch_python", "libshm")
CUDA_ONLY = ("libtorch_cuda", "libtorch_nvshmem", "libc10_cuda", "libcaffe2_nvrtc")


def wanted(name: str, flavour: str) -> str | None:
    """The path to unpack `name` to, or None to leave it out."""
    file = name.rsplit("/", 1)[-1]
    if not file or ".." in name or name.startswith("/"):
        return None
    if flavour == "demo":
        return file if file.endswith(".gguf") or file == "LICENSE" else None
    if ".dist-info/" in name and ("licen" in name.lower() or "notice" in name.lower()):
        return "licenses/" + name.replace("/", "_")
    if flavour == "arrow":
        library = file.startswith(("libarrow.so.", "libparquet.so.")) and file.count(".") == 2
        header = name.startswith(("pyarrow/include/arrow/", "pyarrow/include/parquet/")) and "/python/" not in name
        return name if library or header else None
    if name.startswith(("torch/include/", "torch/lib/")):
        if file.startswith(PYTHON_ONLY) or (flavour == "cpu" and file.startswith(CUDA_ONLY)):
            return None
        return name
    if name.startswith("nvidia/") and "/lib/" in name and (".so" in file):
        return name
    if flavour == "cuda" and name.startswith("nvidia/") and "/include/" in name:
        return name  # for NCCL, whose headers include CUDA's
    return None


def main() -> int:
    flavour, wheel_folder, out_folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    for wheel in sorted(wheel_folder.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for info in archive.infolist():
                path = wanted(info.filename, flavour)
                if path is None:
                    continue
                target = out_folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(info) as source, open(target, "wb") as sink:
                    while block := source.read(1 << 20):
                        sink.write(block)
        wheel.unlink()
    (out_folder / "complete").write_text("")
    return 0


if __name__ == "__main__":
    sys.exit(main())
