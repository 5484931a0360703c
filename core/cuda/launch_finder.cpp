#include "core/cuda/launch_finder.h"

#include <algorithm>
#include <utility>

namespace cuset::cuda_scan {

namespace {

using TokenRange = std::pair<std::int32_t, std::int32_t>; // half open

class LaunchFinder {
public:
    explicit LaunchFinder(const CodeView& code)
        : code_(code) { }

    std::vector<KernelLaunch> run() {
        for (std::int32_t i = 0; i < code_.size(); ++i) {
            const Token& token = code_[i];
            if (token.kind == TokenKind::identifier) {
                if (token.word >= Word::launch_runtime && token.word <= Word::launch_hip)
                    add_call(i);
            } else if (token.kind == TokenKind::sign && token.sign == '<' && token.sign2 == '\0') {
                const std::int32_t run = code_.run_length(i, '<');
                if (run == 3 && is_launched(i - 1))
                    i = read_chevrons(i) - 1;
                else
                    i += run - 1;
            }
        }
        std::stable_sort(found_.begin(), found_.end(),
                         [](const KernelLaunch& a, const KernelLaunch& b) {
                             return a.span.begin < b.span.begin;
                         });
        return std::move(found_);
    }

private:
    // What stands before `<<<` can be a kernel: a name, template arguments, a call, a subscript.
    bool is_launched(std::int32_t last) const {
        if (code_.is_identifier(last))
            return code_.word(last) != Word::operator_word && code_.word(last) != Word::flow;
        if (code_.is_sign(last, '>'))
            return code_.template_open(last) > 0;
        return (code_.is_sign(last, ')') || code_.is_sign(last, ']')) && code_.match(last) >= 0;
    }

    // `open` is at the first `<`. Returns the index to go on at.
    std::int32_t read_chevrons(std::int32_t open) {
        std::vector<TokenRange> arguments;
        std::int32_t begin = open + 3;
        std::int32_t i = begin;
        for (; i < code_.size(); ++i) {
            const Token& token = code_[i];
            if (token.kind == TokenKind::identifier) {
                if (code_.is_sign(i + 1, '<') && code_.run_length(i + 1, '<') == 1)
                    if (const std::int32_t after = code_.after_template_arguments(i + 1); after > 0)
                        i = after - 1;
                continue;
            }
            if (token.kind != TokenKind::sign)
                continue;
            if (token.sign == ',') {
                arguments.emplace_back(begin, i);
                begin = i + 1;
            } else if (token.sign == '>' && token.sign2 == '\0') {
                const std::int32_t run = code_.run_length(i, '>');
                if (run >= 3) {
                    arguments.emplace_back(begin, i + run - 3);
                    add_chevrons(open, i + run, arguments);
                    return i + run;
                }
                i += run - 1;
            } else if (token.sign == '<' && code_.run_length(i, '<') == 3) {
                return i;
            } else if (token.sign == '(' || token.sign == '[' || token.sign == '{') {
                const std::int32_t close = code_.match(i);
                if (close >= code_.size()) {
                    if (!is_open_to_end(i))
                        return i;
                    i = code_.size();
                    break;
                }
                i = std::max(i, close);
            } else if (token.sign == ';' || token.sign == ')' || token.sign == ']'
                       || token.sign == '}') {
                return i;
            }
        }
        // The text ends inside the configuration.
        arguments.emplace_back(begin, code_.size());
        add_chevrons(open, -1, arguments);
        return code_.size();
    }

    // An unclosed bracket of a configuration: the text may simply end in it, or the code is broken
    // and goes on with other statements, which a bare `;` or `<<<` shows.
    bool is_open_to_end(std::int32_t open) const {
        if (code_[open].sign == '{')
            return true;
        for (std::int32_t i = open + 1; i < code_.size(); ++i) {
            const Token& token = code_[i];
            if (token.kind != TokenKind::sign)
                continue;
            if (token.sign == '{')
                i = std::max(i, std::min(code_.match(i), code_.size()));
            else if (token.sign == ';' || token.sign == '}'
                     || (token.sign == '<' && code_.run_length(i, '<') == 3))
                return false;
        }
        return true;
    }

    ByteSpan bytes(TokenRange range) const {
        return {code_[range.first].begin, code_[range.second - 1].end};
    }

    void add_arguments(KernelLaunch& launch, const std::vector<TokenRange>& arguments) const {
        for (const TokenRange& range : arguments)
            if (range.first < range.second)
                launch.arguments.push_back(bytes(range));
    }

    // `after`: the index after `>>>`, -1 if it is not there.
    void add_chevrons(std::int32_t open, std::int32_t after,
                      const std::vector<TokenRange>& arguments) {
        KernelLaunch launch;
        launch.in_macro = code_.in_macro();
        const std::int32_t first = code_.expression_begin(open - 1);
        launch.kernel = code_.text_between(code_[first].begin, code_[open - 1].end);
        launch.span.begin = code_[first].begin;
        launch.config.begin = code_[open].begin;
        launch.config.end = after < 0 ? code_.text_end() : code_[after - 1].end;
        launch.span.end = launch.config.end;
        launch.complete = after >= 0;
        if (after >= 0 && code_.is_sign(after, '(')) {
            launch.complete = code_.match(after) < code_.size();
            launch.span.end = code_.end_of_group(after);
        } else if (after >= 0 && after == code_.size() && !code_.in_macro()) {
            launch.complete = false;
        }
        add_arguments(launch, arguments);
        found_.push_back(std::move(launch));
    }

    // The arguments of the call whose `(` is at `open`.
    std::vector<TokenRange> split_arguments(std::int32_t open) const {
        std::vector<TokenRange> arguments;
        const std::int32_t close = std::min(code_.match(open), code_.size());
        std::int32_t begin = open + 1;
        for (std::int32_t i = begin; i < close; ++i) {
            const Token& token = code_[i];
            if (token.kind == TokenKind::identifier && code_.is_sign(i + 1, '<')
                && code_.run_length(i + 1, '<') == 1) {
                const std::int32_t after = code_.after_template_arguments(i + 1);
                if (after > 0 && after <= close)
                    i = after - 1;
            } else if (token.kind == TokenKind::sign) {
                if (token.sign == ',') {
                    arguments.emplace_back(begin, i);
                    begin = i + 1;
                } else if (token.sign == '(' || token.sign == '[' || token.sign == '{') {
                    i = std::max(i, std::min(code_.match(i), close));
                }
            }
        }
        if (begin < close || !arguments.empty())
            arguments.emplace_back(begin, close);
        return arguments;
    }

    // Which arguments are the function, and [first, last] of the configuration.
    struct CallShape {
        std::size_t function;
        std::vector<std::size_t> config;
        std::size_t config_last; // of the contiguous configuration that `config` spans
    };
    static CallShape shape_of(Word word) {
        switch (word) {
        case Word::launch_ex:
            return {1, {0}, 0};
        case Word::launch_driver:
            return {0, {1, 2, 3, 4, 5, 6, 7, 8}, 8};
        case Word::launch_hip:
            return {0, {1, 2, 3, 4}, 4};
        default:
            return {
                0, {1, 2, 4, 5}, 2}; // the kernel's arguments stand between block and shared memory
        }
    }

    void add_call(std::int32_t name) {
        const std::int32_t open = code_.call_open(name);
        if (open < 0 || code_.is_declared(name))
            return;
        const CallShape shape = shape_of(code_.word(name));
        const std::vector<TokenRange> arguments = split_arguments(open);
        const auto present = [&](std::size_t i) {
            return i < arguments.size() && arguments[i].first < arguments[i].second;
        };
        if (!present(shape.config.front()))
            return;
        KernelLaunch launch;
        launch.api = true;
        launch.in_macro = code_.in_macro();
        launch.complete = code_.match(open) < code_.size();
        launch.span = {code_[name].begin, code_.end_of_group(open)};
        if (present(shape.function)) {
            const ByteSpan function = bytes(arguments[shape.function]);
            launch.kernel = code_.text_between(function.begin, function.end);
        }
        launch.config.begin = bytes(arguments[shape.config.front()]).begin;
        for (const std::size_t i : shape.config) {
            if (!present(i))
                continue;
            const ByteSpan argument = bytes(arguments[i]);
            launch.arguments.push_back(argument);
            if (i <= shape.config_last)
                launch.config.end = argument.end;
        }
        if (!launch.complete && arguments.size() <= shape.config_last + 1)
            launch.config.end = code_.text_end();
        found_.push_back(std::move(launch));
    }

    const CodeView& code_;
    std::vector<KernelLaunch> found_;
};

} // namespace

std::vector<KernelLaunch> find_launches(const CodeView& code) {
    return LaunchFinder(code).run();
}

} // namespace cuset::cuda_scan
