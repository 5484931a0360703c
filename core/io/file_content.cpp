#include "core/io/file_content.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <system_error>

#include "core/base/error.h"
#include "core/io/safetensors_file.h"
#include "core/io/score_file.h"

namespace cuset {

FileContent recognise_content(const std::filesystem::path& path) {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(path, unknown)) // a pipe would be emptied
        return FileContent::other;
    std::array<char, 9> head{};
    std::ifstream file(path, std::ios::binary);
    if (!file.read(head.data(), head.size()))
        return FileContent::other;
    if (std::string_view(head.data(), 4) == "GGUF")
        return FileContent::gguf;
    // The length of a JSON header, below 4 GiB, and the header's brace.
    if (head[8] != '{' || std::string_view(head.data() + 4, 4) != std::string_view("\0\0\0\0", 4))
        return FileContent::other;
    try {
        return is_score_file(SafetensorsFile(path)) ? FileContent::scores
                                                    : FileContent::safetensors;
    } catch (const Error&) {
        return FileContent::safetensors;
    }
}

} // namespace cuset
