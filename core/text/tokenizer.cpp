#include "core/text/tokenizer.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/text/tokenizer_parts.h"
#include "core/text/unicode.h"

namespace cuset {

using text::AddedToken;
using text::no_token;
using text::PieceList;
using text::PieceTokens;
using text::Section;

namespace {

// Encodes one text; collects tokens with the places where they begin in the text as given.
class Encoder {
public:
    Encoder(const Tokenizer::Impl& parts, const TokenizeOptions& options, TokenizedText& out)
        : parts_(parts)
        , options_(options)
        , out_(out) { }

    void run(AlignedView text) {
        std::vector<Section> sections;
        parts_.raw_tokens.split(text, options_.parse_special, options_.plain_spans, sections);
        for (const Section& section : sections) {
            const AlignedView view = text.slice(section.begin, section.end);
            if (section.id != no_token)
                add_token(section.id, view.source(0));
            else
                normalize(view);
        }
    }

private:
    void normalize(AlignedView view) {
        AlignedText normal;
        if (parts_.normalizer != nullptr && parts_.normalizer->apply(view, normal))
            view = normal.view();
        if (parts_.normalized_tokens.empty())
            return encode(view);
        std::vector<Section> sections;
        parts_.normalized_tokens.split(view, options_.parse_special, options_.plain_spans,
                                       sections);
        for (const Section& section : sections) {
            const AlignedView part = view.slice(section.begin, section.end);
            if (section.id != no_token)
                add_token(section.id, part.source(0));
            else
                encode(part);
        }
    }

    void encode(AlignedView view) {
        PieceList list{view};
        parts_.pre_tokenizer.apply(list);
        PieceTokens tokens;
        const std::size_t guess = list.text.text.size() / 3 + 8;
        tokens.ids.reserve(guess);
        tokens.begins.reserve(guess);
        for (const text::Piece piece : list.pieces)
            parts_.bpe->encode(list.text.text.substr(piece.begin, piece.end - piece.begin),
                               static_cast<std::int32_t>(piece.begin), tokens);
        out_.dropped_bytes += tokens.dropped_bytes;
        out_.ids.insert(out_.ids.end(), tokens.ids.begin(), tokens.ids.end());
        for (const std::int32_t begin : tokens.begins)
            out_.spans.push_back({list.text.source(static_cast<std::size_t>(begin)), 0});
    }

    void add_token(std::int32_t id, std::int32_t begin) {
        out_.ids.push_back(id);
        out_.spans.push_back({begin, 0});
        const auto at = parts_.added.find(id);
        out_.special_tokens += at != parts_.added.end() && at->second.special;
    }

    const Tokenizer::Impl& parts_;
    const TokenizeOptions& options_;
    TokenizedText& out_;
};

// Each token reaches to the beginning of the next, so the spans cover the text.
void close_spans(std::vector<ByteSpan>& spans, std::int32_t size) {
    for (std::size_t k = 0; k < spans.size(); ++k)
        spans[k].end = k + 1 < spans.size() ? spans[k + 1].begin : size;
    if (!spans.empty())
        spans.front().begin = 0;
}

void add_around(TokenizedText& out, const text::PostProcessor& post, std::int32_t size) {
    out.ids.insert(out.ids.begin(), post.before.begin(), post.before.end());
    out.ids.insert(out.ids.end(), post.after.begin(), post.after.end());
    out.spans.insert(out.spans.begin(), post.before.size(), ByteSpan{0, 0});
    out.spans.insert(out.spans.end(), post.after.size(), ByteSpan{size, size});
}

} // namespace

void Tokenizer::Impl::add_tokens(std::vector<AddedToken> tokens) {
    // The reference's rule: the ids that a file gives its added tokens do not count. A token that
    // the model knows has the model's id, the others are numbered from the model's count on.
    auto next = static_cast<std::int32_t>(vocabulary.count());
    size = vocabulary.size();
    std::vector<std::int32_t> order;
    for (AddedToken& token : tokens) {
        if (token.content.empty())
            continue;
        const auto seen = added_ids.find(token.content);
        const std::int32_t known =
            seen != added_ids.end() ? seen->second : vocabulary.find(token.content);
        token.id = known != no_token ? known : next++;
        size = std::max(size, token.id + 1);
        added_ids[token.content] = token.id;
        order.push_back(token.id);
        added[token.id] = std::move(token);
    }
    // Of two tokens with one normalised form the first counts, special ones before the others; the
    // reference takes now one, now the other.
    std::stable_partition(order.begin(), order.end(),
                          [&](std::int32_t id) { return added.at(id).special; });
    for (const std::int32_t id : order) {
        const AddedToken& token = added.at(id);
        if (!token.normalized) {
            raw_tokens.add(token.content, token);
            continue;
        }
        AlignedText normal;
        const AlignedView content{token.content};
        const bool changed = normalizer != nullptr && normalizer->apply(content, normal);
        normalized_tokens.add(changed ? std::string(normal.view().text) : token.content, token);
    }
}

Tokenizer::Tokenizer(std::unique_ptr<const Impl> impl)
    : impl_(std::move(impl)) { }
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

TokenizedText Tokenizer::encode(std::string_view given, const TokenizeOptions& options) const {
    // Rewriting at most triples a text (each byte may become a replacement character or a mark).
    constexpr std::size_t size_limit = INT32_MAX / 4;
    if (given.size() > size_limit)
        throw Error(ErrorCode::limit,
                    "the text has " + std::to_string(given.size()) + " bytes, at most "
                        + std::to_string(size_limit) + " can be tokenised at once",
                    "text");
    const auto size = static_cast<std::int32_t>(given.size());
    TokenizedText out;
    out.ids.reserve(given.size() / 3 + 8);
    out.spans.reserve(given.size() / 3 + 8);
    Encoder encoder(*impl_, options, out);
    if (unicode::is_valid_utf8(given)) {
        encoder.run({given});
    } else {
        const AlignedText repaired = unicode::replace_invalid(given);
        encoder.run(repaired.view());
    }
    close_spans(out.spans, size);
    if (options.add_special_tokens)
        add_around(out, impl_->post_processor, size);
    return out;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special) const {
    std::string out;
    std::vector<std::string> run; // tokens of the model since the last added token
    bool first = true;
    const auto flush = [&] {
        if (run.empty())
            return;
        out += impl_->decoder.decode(std::move(run), first);
        run.clear();
        first = false;
    };
    for (const std::int32_t id : ids) {
        const auto added = impl_->added.find(id);
        if (added == impl_->added.end()) {
            if (impl_->vocabulary.contains(id))
                run.push_back(impl_->vocabulary.written(id));
        } else if (!(added->second.special && skip_special)) {
            flush();
            out += added->second.content;
            first = false;
        }
    }
    flush();
    return out;
}

std::string Tokenizer::token_bytes(std::int32_t id) const {
    const auto added = impl_->added.find(id);
    if (added != impl_->added.end())
        return added->second.content;
    if (!impl_->vocabulary.contains(id))
        return {};
    return impl_->decoder.decode({impl_->vocabulary.written(id)}, false);
}

std::optional<std::int32_t> Tokenizer::find_token(std::string_view text) const {
    const auto added = impl_->added_ids.find(std::string(text));
    if (added != impl_->added_ids.end())
        return added->second;
    const std::int32_t id = impl_->vocabulary.find(text);
    return id != no_token ? std::optional(id) : std::nullopt;
}

bool Tokenizer::is_special(std::int32_t id) const {
    const auto at = impl_->added.find(id);
    return at != impl_->added.end() && at->second.special;
}

std::vector<ByteSpan> Tokenizer::find_special(std::string_view text) const {
    std::vector<ByteSpan> spans;
    for (const text::TokenMatcher* matcher : {&impl_->raw_tokens, &impl_->normalized_tokens}) {
        std::vector<Section> sections;
        if (!matcher->empty() && unicode::is_valid_utf8(text))
            matcher->split({text}, true, {}, sections);
        for (const Section& section : sections)
            if (section.id != no_token && is_special(section.id))
                spans.push_back({static_cast<std::int32_t>(section.begin),
                                 static_cast<std::int32_t>(section.end)});
    }
    std::ranges::sort(spans, {}, &ByteSpan::begin);
    return spans;
}

std::int32_t Tokenizer::vocabulary_size() const {
    return impl_->size;
}

} // namespace cuset
