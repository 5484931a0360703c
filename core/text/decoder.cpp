#include "core/text/decoder.h"

#include <algorithm>

#include "core/text/regex.h"
#include "core/text/unicode.h"
#include "core/text/vocabulary.h"

namespace cuset::text {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

class SpellingStep final : public DecodeStep { // ByteLevel
public:
    void apply(std::vector<std::string>& tokens, bool) const override {
        for (std::string& token : tokens)
            if (auto bytes = byte_level_decode(token))
                token = std::move(*bytes);
    }
};

class ByteFallbackStep final : public DecodeStep {
public:
    void apply(std::vector<std::string>& tokens, bool) const override {
        constexpr std::string_view digits = "0123456789ABCDEFabcdef";
        const auto value = [&](char c) {
            const auto at = static_cast<int>(digits.find(c));
            return at < 16 ? at : at - 6;
        };
        for (std::string& token : tokens)
            if (token.size() == 6 && token.starts_with("<0x") && token[5] == '>'
                && token.find_first_not_of(digits, 3) == 5)
                token = std::string(1, static_cast<char>(value(token[3]) * 16 + value(token[4])));
    }
};

class FuseStep final : public DecodeStep {
public:
    void apply(std::vector<std::string>& tokens, bool) const override {
        std::string all;
        for (const std::string& token : tokens)
            all += token;
        tokens.assign(1, std::move(all));
    }
};

class ReplaceStep final : public DecodeStep {
public:
    ReplaceStep(std::string from, std::unique_ptr<const Regex> regex, std::string to)
        : from_(std::move(from))
        , regex_(std::move(regex))
        , to_(std::move(to)) { }
    void apply(std::vector<std::string>& tokens, bool) const override {
        for (std::string& token : tokens) {
            if (regex_ == nullptr)
                replace_all(token, from_, to_);
            else if (unicode::is_valid_utf8(token))
                replace_matches(token);
        }
    }

private:
    void replace_matches(std::string& token) const {
        std::string out;
        std::size_t done = 0;
        if (!token.empty())
            regex_->find_all(token, [&](std::size_t begin, std::size_t end) {
                out.append(token, done, begin - done);
                out += to_;
                done = end;
            });
        out.append(token, done);
        token = std::move(out);
    }

    std::string from_;
    std::unique_ptr<const Regex> regex_;
    std::string to_;
};

class StripStep final : public DecodeStep {
public:
    StripStep(std::string content, std::int64_t start, std::int64_t stop)
        : content_(std::move(content))
        , start_(start)
        , stop_(stop) { }
    void apply(std::vector<std::string>& tokens, bool whole) const override {
        if (!whole)
            return;
        for (std::string& token : tokens) {
            for (std::int64_t k = 0; k < start_ && token.starts_with(content_); ++k)
                token.erase(0, content_.size());
            for (std::int64_t k = 0; k < stop_ && token.ends_with(content_); ++k)
                token.erase(token.size() - content_.size());
        }
    }

private:
    std::string content_;
    std::int64_t start_, stop_;
};

class SpaceMarkStep final : public DecodeStep { // Metaspace
public:
    SpaceMarkStep(std::string mark, bool prepended)
        : mark_(std::move(mark))
        , prepended_(prepended) { }
    void apply(std::vector<std::string>& tokens, bool whole) const override {
        for (std::size_t k = 0; k < tokens.size(); ++k)
            replace_all(tokens[k], mark_, whole && k == 0 && prepended_ ? "" : " ");
    }

private:
    std::string mark_;
    bool prepended_;
};

std::string single_character(const Node& node, const char* name) {
    const std::string text = node.string(name);
    if (text.empty() || unicode::decode(text, 0).size != text.size())
        node.member(name).fail(ErrorCode::bad_value, "needs exactly one character");
    return text;
}

std::int64_t small_count(const Node& node, const char* name) {
    const std::int64_t value = node.integer(name);
    if (value < 0 || value > 1024)
        node.member(name).fail(ErrorCode::bad_value,
                               "is " + std::to_string(value) + ", needs 0 to 1024");
    return value;
}

} // namespace

Decoder::Decoder(const Node& node) {
    if (!node.json().is_null())
        parse(node);
}

void Decoder::parse(const Node& node) {
    const std::string type = node.string("type");
    if (type == "Sequence") {
        const Node list = node.require_array("decoders");
        for (std::size_t k = 0; k < list.json().size(); ++k)
            parse(list.element(k));
    } else if (type == "ByteLevel") {
        steps_.push_back(std::make_unique<SpellingStep>());
    } else if (type == "ByteFallback") {
        steps_.push_back(std::make_unique<ByteFallbackStep>());
    } else if (type == "Fuse") {
        steps_.push_back(std::make_unique<FuseStep>());
    } else if (type == "Strip") {
        steps_.push_back(std::make_unique<StripStep>(single_character(node, "content"),
                                                     small_count(node, "start"),
                                                     small_count(node, "stop")));
    } else if (type == "Metaspace") {
        const bool prepended = node.string("prepend_scheme", "always") != "never"
            && node.boolean("add_prefix_space", true);
        steps_.push_back(
            std::make_unique<SpaceMarkStep>(single_character(node, "replacement"), prepended));
    } else if (type == "Replace") {
        const Node pattern = node.require_object("pattern");
        const bool literal = pattern.json().contains("String");
        const std::string from = pattern.string(literal ? "String" : "Regex");
        if (literal && from.empty())
            pattern.fail(ErrorCode::bad_value, "is an empty string");
        std::unique_ptr<const Regex> regex;
        if (!literal)
            regex = std::make_unique<Regex>(from, pattern.path() + ".Regex", node.subject());
        steps_.push_back(
            std::make_unique<ReplaceStep>(from, std::move(regex), node.string("content")));
    } else {
        node.fail(ErrorCode::unsupported,
                  "is " + type
                      + "; supported are Sequence, ByteLevel, ByteFallback, Fuse, "
                        "Replace, Strip and Metaspace");
    }
}

Decoder Decoder::sentence_piece(bool strip_prefix) {
    Decoder out;
    out.steps_.push_back(std::make_unique<ReplaceStep>("\xe2\x96\x81", nullptr, " "));
    out.steps_.push_back(std::make_unique<ByteFallbackStep>());
    out.steps_.push_back(std::make_unique<FuseStep>());
    if (strip_prefix)
        out.steps_.push_back(std::make_unique<StripStep>(" ", 1, 0));
    return out;
}

Decoder Decoder::byte_level() {
    Decoder out;
    out.steps_.push_back(std::make_unique<SpellingStep>());
    return out;
}

std::string Decoder::decode(std::vector<std::string> tokens, bool whole) const {
    for (const auto& step : steps_)
        step->apply(tokens, whole);
    std::string out;
    for (const std::string& token : tokens)
        out += token;
    return out;
}

} // namespace cuset::text
