#include "core/text/aligned_text.h"

namespace cuset {

void AlignedText::append(std::string_view bytes, std::int32_t begin, std::int32_t end) {
    const auto count = static_cast<std::int64_t>(bytes.size());
    const std::int64_t length = end - begin;
    for (std::int64_t k = 0; k < count; ++k)
        origin_.push_back(begin + static_cast<std::int32_t>(k * length / count));
    text_.append(bytes);
}

void AlignedText::append(AlignedView view) {
    for (std::size_t k = 0; k < view.text.size(); ++k)
        origin_.push_back(view.source(k));
    text_.append(view.text);
}

} // namespace cuset
