// A strict little reader of the pages we write: says what is wrong with a page's markup.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace cuset::test {

// "" if every element is closed in order, every attribute is quoted, every & begins one of the
// entities we write, and no control character but \n and \t occurs; else what is wrong and where.
inline std::string fault_of_page(std::string_view page) {
    std::vector<std::string> open;
    const auto fault = [&](std::string_view what, std::size_t at) {
        return std::string(what) + " at " + std::to_string(at) + ": "
            + std::string(page.substr(at, 60));
    };
    for (std::size_t at = 0; at < page.size(); ++at) {
        const auto c = static_cast<unsigned char>(page[at]);
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
            return fault("control character", at);
        if (c == '&') {
            const std::string_view name = page.substr(at, page.find(';', at) - at + 1);
            static constexpr std::string_view known[]{"&amp;", "&lt;",   "&gt;",    "&quot;",
                                                      "&#39;", "&#183;", "&#8220;", "&#8221;"};
            if (std::find(std::begin(known), std::end(known), name) == std::end(known))
                return fault("unknown entity", at);
        }
        if (c != '<')
            continue;
        bool quoted = false;
        std::size_t end = at + 1;
        for (; end < page.size() && (quoted || page[end] != '>'); ++end) {
            quoted ^= page[end] == '"';
            if (page[end] == '<' || (!quoted && page[end] == '\''))
                return fault("stray character in a tag", at);
            if (page[end] == '=' && !quoted && page[end + 1] != '"')
                return fault("attribute without quotes", at);
        }
        const std::string_view tag = page.substr(at + 1, end - at - 1);
        const std::string name(tag.substr(0, tag.find_first_of(" /\n", 1)));
        if (tag.starts_with("/")) {
            if (open.empty() || "/" + open.back() != tag)
                return fault("closes what is not open", at);
            open.pop_back();
        } else if (!tag.ends_with("/") && !tag.starts_with("!DOCTYPE")) {
            open.push_back(name);
        }
        at = end;
    }
    return open.empty() ? "" : "left open: " + open.back();
}

} // namespace cuset::test
