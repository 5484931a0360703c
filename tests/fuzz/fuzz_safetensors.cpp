// A safetensors file is refused with an Error or every tensor it hands out can be read.
#include "core/base/error.h"
#include "core/io/safetensors_file.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const cuset::MemoryFile bytes(data, size);
    try {
        const cuset::SafetensorsFile file(bytes.path());
        volatile unsigned sum = 0;
        for (const auto& [name, tensor] : file.tensors()) {
            for (const std::byte byte : tensor.bytes)
                sum = sum + std::to_integer<unsigned>(byte);
        }
    } catch (const cuset::Error&) { }
    return 0;
}
