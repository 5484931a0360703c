// A GGUF file is refused with an Error or every tensor it hands out can be decoded.
#include <vector>

#include "core/base/error.h"
#include "core/io/gguf_file.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const cuset::MemoryFile bytes(data, size);
    try {
        const cuset::GgufFile file(bytes.path());
        for (const cuset::GgufTensor& tensor : file.tensors()) {
            if (tensor.bytes.empty())
                continue;
            std::size_t elements = 1;
            for (const std::int64_t dimension : tensor.shape)
                elements *= static_cast<std::size_t>(dimension);
            std::vector<float> values(elements);
            cuset::dequantize(tensor.type, tensor.bytes, values);
        }
    } catch (const cuset::Error&) { }
    return 0;
}
