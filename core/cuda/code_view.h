// CodeView: a stretch of tokens (the code of a file, or a macro's replacement) with its brackets
// matched, and the small questions that the finders ask of it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/cuda/source_lexer.h"

namespace cuset::cuda_scan {

class CodeView {
public:
    // `directives`: those of the file, empty for a macro. `text_end`: where an open construct ends.
    CodeView(const LexedSource& source, std::span<const Token> tokens,
             std::span<const Directive> directives, std::int32_t text_end, bool in_macro);

    std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
    const Token& operator[](std::int32_t index) const { return tokens_[index]; }
    std::int32_t text_end() const { return text_end_; }
    bool in_macro() const { return in_macro_; }
    std::span<const Directive> directives() const { return directives_; }
    std::string_view text(std::int32_t index) const {
        return source_->text.substr(tokens_[index].begin,
                                    tokens_[index].end - tokens_[index].begin);
    }
    std::string_view text_between(std::int32_t begin, std::int32_t end) const {
        return source_->text.substr(begin, end - begin);
    }
    // True if the text ends with a bracket open or in the middle of an expression.
    bool ends_open() const { return ends_open_; }

    // Index out of range answers false.
    bool is_sign(std::int32_t index, char sign, char sign2 = '\0') const {
        return index >= 0 && index < size() && tokens_[index].kind == TokenKind::sign
            && tokens_[index].sign == sign && tokens_[index].sign2 == sign2;
    }
    bool is_identifier(std::int32_t index) const {
        return index >= 0 && index < size() && tokens_[index].kind == TokenKind::identifier;
    }
    Word word(std::int32_t index) const {
        return index >= 0 && index < size() ? tokens_[index].word : Word::none;
    }

    // For an opening bracket the index of its closing one, or size() if it is never closed; for a
    // closing one that of its opening one, or -1. Branches of a conditional are matched side by
    // side.
    std::int32_t match(std::int32_t index) const { return match_[index]; }
    // As match(), for an opening one; the end of the text if it is open.
    std::int32_t end_of_group(std::int32_t open) const {
        return match_[open] < size() ? tokens_[match_[open]].end : text_end_;
    }
    // `open` is at a `<`. The index after the `>` that closes a template argument list, or -1 if it
    // is none.
    std::int32_t after_template_arguments(std::int32_t open) const;
    // `close` is at a `>`. The index of the `<` that opens its template argument list, or -1.
    std::int32_t template_open(std::int32_t close) const;
    // First token of the postfix expression that ends at `last`: `a.b->c`, `(*f)`, `ns::k<float>`,
    // `t[i]`.
    std::int32_t expression_begin(std::int32_t last) const;
    // Number of adjacent `sign` tokens from `index` on, with no blank between them.
    std::int32_t run_length(std::int32_t index, char sign) const;
    // The index of the call's `(` if token `index` is called, template arguments allowed between;
    // else -1.
    std::int32_t call_open(std::int32_t index) const;
    // True if the called name is being declared or defined rather than called: a type stands before
    // it.
    bool is_declared(std::int32_t index) const;

private:
    void match_brackets();

    const LexedSource* source_;
    std::span<const Token> tokens_;
    std::span<const Directive> directives_;
    std::int32_t text_end_;
    bool in_macro_;
    bool ends_open_ = false;
    std::vector<std::int32_t> match_;
};

} // namespace cuset::cuda_scan
