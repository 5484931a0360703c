// Regex: a pattern of tokenizer.json, matched as the reference's engine (Oniguruma, Ruby syntax)
// matches it. PCRE2 does the work; where the two differ (Unicode tables, \s, \h, anchors) the
// pattern or the text is adapted.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace cuset::text {

class Regex {
public:
    // `where` names the pattern's place for messages. Throws Error: bad_value (does not compile),
    // unsupported (a construct of the reference's syntax that PCRE2 lacks).
    Regex(const std::string& pattern, const std::string& where, const std::string& subject);
    ~Regex();

    const std::string& pattern() const { return pattern_; }
    // Calls `found` with each match [begin, end) from left to right, empty matches as the reference
    // reports them. `text` is valid UTF-8. Throws Error(limit) with the pattern if a match takes
    // too many steps.
    void find_all(std::string_view text,
                  const std::function<void(std::size_t, std::size_t)>& found) const;

private:
    struct Code;
    int match(const Code& code, std::string_view text, std::size_t at, std::size_t& begin,
              std::size_t& end) const;

    std::string pattern_, where_, subject_;
    std::unique_ptr<Code> code_;
};

} // namespace cuset::text
