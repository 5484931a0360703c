// What a file is by its first bytes, whatever its name.
#pragma once

#include <filesystem>

namespace cuset {

enum class FileContent { scores, safetensors, gguf, other };

// `other` too if it cannot be read. A file whose header says safetensors but breaks a rule of the
// format is `safetensors`, so that reading it tells which.
FileContent recognise_content(const std::filesystem::path& path);

} // namespace cuset
