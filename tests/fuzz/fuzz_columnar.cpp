// A Parquet or Arrow file is refused with an Error or its rows can be read. Arrow's libraries are not
// instrumented: what is looked for is a crash, an exception of another kind or a hang.
#include <string_view>

#include "core/base/error.h"
#include "core/io/columnar_file.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto format =
        cuset::columnar_format(std::string_view(reinterpret_cast<const char*>(data), size));
    if (!format)
        return 0;
    const cuset::MemoryFile bytes(data, size);
    try {
        const auto rows = cuset::open_columnar(bytes.path(), *format, 1 << 20);
        while (rows->next()) { }
    } catch (const cuset::Error&) { }
    return 0;
}
