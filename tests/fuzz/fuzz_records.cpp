// A data file (JSON, JSON Lines, CSV) is refused with an Error or read into samples.
#include "core/base/error.h"
#include "core/base/run_control.h"
#include "core/io/sample_reader.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const cuset::MemoryFile bytes(data, size);
    try {
        cuset::RunControl control;
        cuset::read_samples({bytes.path()}, {}, control);
    } catch (const cuset::Error&) { }
    return 0;
}
