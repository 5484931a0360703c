#include "core/io/foreign_content.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "core/base/message.h"

namespace cuset {
namespace {

// https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md: lines "version", "oid", "size"; under
// 1024 bytes.
std::string explain_lfs_pointer(std::string_view text) {
    std::string size_text;
    if (const std::size_t at = text.find("\nsize "); at != std::string_view::npos) {
        std::uint64_t size = 0;
        const char* first = text.data() + at + 6;
        if (std::from_chars(first, text.data() + text.size(), size).ec == std::errc())
            size_text = " of " + std::to_string(size) + " bytes (" + format_bytes(size) + ")";
    }
    return "is a Git LFS pointer, not the weights: the real file" + size_text
        + " was not downloaded (run `git lfs pull` in its folder, or download it again)";
}

bool is_web_page(std::string_view text) {
    std::string lower;
    for (const char c : text.substr(0, 256))
        lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const std::size_t begin = lower.find_first_not_of(" \t\r\n");
    return begin != std::string::npos
        && (lower.compare(begin, 9, "<!doctype") == 0 || lower.compare(begin, 5, "<html") == 0);
}

} // namespace

std::string explain_foreign_content(std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                                std::min<std::size_t>(bytes.size(), 1024));
    if (text.starts_with("version https://git-lfs.github.com/spec/"))
        return explain_lfs_pointer(text);
    if (is_web_page(text))
        return "is a web page, not weights: the download got an error page (download it again)";
    if (text.starts_with("GGUF"))
        return "is a GGUF file (name it with the ending .gguf)";
    if (text.starts_with("PK\x03\x04") || text.starts_with("\x80\x02"))
        return "is a pickle checkpoint or archive, which may run code when loaded and is not read "
               "(convert it: load it in Python and save with `safetensors.torch.save_file`)";
    if (text.starts_with("\x1f\x8b") || text.starts_with("\x28\xb5\x2f\xfd"))
        return "is a compressed file (unpack it first)";
    return {};
}

} // namespace cuset
