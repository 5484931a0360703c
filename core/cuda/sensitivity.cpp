#include "core/cuda/sensitivity.h"

#include <algorithm>

#include "core/cuda/declarations.h"
#include "core/cuda/expressions.h"
#include "core/cuda/ptx.h"

namespace cuset::cuda_scan {

namespace {

using Kind = SensitiveKind;

constexpr std::int32_t longest_asm = 1024; // tokens of an asm statement that are looked at

bool named_for_index(std::string_view name) {
    for (std::string_view known :
         {"tid", "gtid", "lane", "lane_id", "laneId", "laneid", "warp_id", "warpId", "wid",
          "thread_id", "threadId", "tid_x", "tid_y", "tx", "ty", "bx", "by"})
        if (name == known)
            return true;
    return false;
}

bool named_for_shared(std::string_view name) {
    for (std::string_view part : {"smem", "shmem", "sdata", "shared", "s_mem", "sh_mem"})
        if (name.find(part) != std::string_view::npos)
            return true;
    return name.starts_with("s_") || name.starts_with("sh_");
}

bool is_launch_member(std::string_view name) {
    for (std::string_view known :
         {"gridDim", "blockDim", "dynamicSmemBytes", "stream", "attrs", "numAttrs", "id", "val",
          "gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ",
          "sharedMemBytes", "hStream"})
        if (name == known)
            return true;
    return false;
}

class SensitivityScanner {
public:
    SensitivityScanner(const CodeView& code, const std::vector<DeviceFunction>& functions,
                       const MacroUses& macros, ScopeTable& scopes, CudaStructure& out)
        : code_(code)
        , functions_(functions)
        , macros_(macros)
        , scopes_(scopes)
        , expressions_(code, scopes, macros)
        , out_(out) {
        for (std::size_t i = 0; i < functions.size(); ++i)
            by_body_.push_back(i);
        std::stable_sort(by_body_.begin(), by_body_.end(), [&](std::size_t a, std::size_t b) {
            return functions[a].body < functions[b].body;
        });
    }

    void run() {
        scopes_.clear();
        std::size_t directive = 0;
        const auto directives = code_.directives();
        for (std::int32_t i = 0; i < code_.size(); ++i) {
            for (; directive < directives.size() && directives[directive].code_index <= i;
                 ++directive)
                statement_ = i;
            if (i == statement_)
                begin_statement(i);
            if (code_[i].kind == TokenKind::identifier)
                visit_word(i);
            else if (code_[i].kind == TokenKind::sign)
                visit_sign(i);
        }
        scopes_.clear();
    }

private:
    // ---- spans ----

    void emit(Kind kind, ByteSpan span, std::string_view rule) {
        out_.spans.push_back({kind, span, rule});
    }
    // Tokens [first, end); an `end` past a bracket that is never closed reaches to the end of the
    // text.
    void emit(Kind kind, std::int32_t first, std::int32_t end, std::string_view rule) {
        const bool open = end >= code_.size() && code_.size() > 0 && is_cut(first);
        emit(kind,
             ByteSpan{code_[first].begin,
                      open ? code_.text_end() : code_[std::min(end, code_.size()) - 1].end},
             rule);
    }
    // True if a bracket opened at or after `first` is never closed.
    bool is_cut(std::int32_t first) const {
        const std::int32_t last = code_.size() - 1;
        for (std::int32_t i = first; i <= last && i < first + 64; ++i)
            if (code_[i].kind == TokenKind::sign
                && (code_[i].sign == '(' || code_[i].sign == '[' || code_[i].sign == '{')
                && code_.match(i) >= code_.size())
                return true;
        return false;
    }

    void emit_call(Kind kind, std::int32_t name, std::string_view rule) {
        const std::int32_t open = code_.call_open(name);
        if (open < 0 || code_.is_declared(name))
            return;
        std::int32_t first = name;
        for (int i = 0; i < 8 && code_.is_sign(first - 1, ':', ':'); ++i) {
            --first;
            if (code_.is_identifier(first - 1) && code_.word(first - 1) != Word::flow)
                --first;
        }
        emit(kind, ByteSpan{code_[first].begin, code_.end_of_group(open)}, rule);
    }

    bool is_method(std::int32_t name) const {
        return (code_.is_sign(name - 1, '.') || code_.is_sign(name - 1, '-', '>'))
            && code_.call_open(name) > 0;
    }

    void emit_method(Kind kind, std::int32_t name, std::string_view rule) {
        if (!is_method(name))
            return;
        const std::int32_t first = code_.expression_begin(name);
        emit(kind, ByteSpan{code_[first].begin, code_.end_of_group(code_.call_open(name))}, rule);
    }

    // True if only qualifiers and `ns::` stand between the statement's begin and token `index`.
    bool leads_statement(std::int32_t index) const {
        for (int i = 0; i < 16 && index > statement_; ++i) {
            const bool prefix = code_.word(index - 1) == Word::qualifier
                || code_.is_sign(index - 1, ':', ':')
                || (code_.is_identifier(index - 1) && code_.is_sign(index, ':', ':'));
            if (!prefix)
                return false;
            --index;
        }
        return index == statement_;
    }

    // A declaration of that type, from its first word (`extern`, `ns::`) to its `;`.
    bool emit_declaration(Kind kind, std::int32_t type, std::string_view rule) {
        if (!leads_statement(type) || statement_ < emitted_statement_)
            return false;
        std::int32_t name = type + 1;
        if (code_.is_sign(name, '<'))
            name = code_.after_template_arguments(name);
        while (name > 0
               && (code_.is_sign(name, '*') || code_.is_sign(name, '&')
                   || code_.word(name) == Word::qualifier))
            ++name;
        if (name < 0 || !code_.is_identifier(name) || code_.is_sign(name + 1, ':', ':'))
            return false;
        if (code_.is_sign(name + 1, '(') && code_.match(name + 1) < code_.size()) {
            const std::int32_t after =
                code_.match(name + 1) + 1; // a function's body or qualifiers may follow
            if (after < code_.size() && !code_.is_sign(after, ';') && !code_.is_sign(after, ','))
                return false;
        }
        return emit_statement(kind, statement_, rule);
    }

    bool emit_statement(Kind kind, std::int32_t first, std::string_view rule) {
        const std::int32_t end = statement_end(code_, first);
        if (end < 0)
            return false;
        const bool open = end >= code_.size();
        if (open && !code_.in_macro())
            out_.unfinished = true;
        emit(kind, ByteSpan{code_[first].begin, open ? code_.text_end() : code_[end].end}, rule);
        emitted_statement_ = end;
        return true;
    }

    // ---- statements, declarations and scopes ----

    void begin_statement(std::int32_t first) {
        if (!scopes_.device() || code_[first].kind != TokenKind::identifier)
            return;
        if (assign_index(first))
            return;
        if (read_declaration(code_, first, declaration_)) {
            for (const Declarator& declarator : declaration_.declarators)
                declare(declarator);
        }
    }

    void declare(const Declarator& declarator) {
        const SymbolKind kind = classify(declarator);
        scopes_.declare(code_[declarator.name].name, kind);
        if (kind == SymbolKind::index && declarator.init_end > declarator.init_begin)
            emit(Kind::thread_index, declarator.name, declarator.init_end,
                 "index computed from thread indices");
    }

    SymbolKind classify(const Declarator& declarator) const {
        const std::int32_t begin = declarator.init_begin;
        const std::int32_t end = declarator.init_end;
        if (declaration_.shared)
            return declaration_.type_word == Word::sync_type ? SymbolKind::barrier
                                                             : SymbolKind::shared;
        if (declaration_.type_word == Word::atomic_type)
            return SymbolKind::atomic;
        if (declaration_.type_word == Word::sync_type)
            return SymbolKind::barrier;
        if (declarator.pointers > 0 && !declarator.array) {
            const SymbolKind base = expressions_.base(begin, end);
            return base == SymbolKind::shared || base == SymbolKind::local_array
                ? base
                : SymbolKind::pointer;
        }
        if (declarator.reference)
            return expressions_.base(begin, end) == SymbolKind::shared ? SymbolKind::shared
                                                                       : SymbolKind::scalar;
        if (declarator.array || declaration_.type_word == Word::warp_type)
            return SymbolKind::local_array;
        if (declaration_.is_auto && holds_pointer(begin, end)) {
            const SymbolKind base = expressions_.base(begin, end);
            return base == SymbolKind::unknown ? SymbolKind::scalar : base;
        }
        if (!declaration_.other && declarator.value_init && expressions_.is_index(begin, end))
            return SymbolKind::index;
        return SymbolKind::scalar;
    }

    // Whether an `auto` initialiser is a pointer rather than a value read through one.
    bool holds_pointer(std::int32_t begin, std::int32_t end) const {
        if (begin >= end)
            return false;
        if (code_.is_sign(begin, '&'))
            return true;
        const std::int32_t next =
            code_.is_sign(begin + 1, '<') ? code_.after_template_arguments(begin + 1) : -1;
        if (code_.word(begin) == Word::cast)
            return next > 0 && code_.is_sign(next - 2, '*');
        if (code_.is_sign(begin, '(') && code_.match(begin) < code_.size()
            && code_.is_sign(code_.match(begin) - 1, '*'))
            return true;
        return code_.is_identifier(begin)
            && (begin + 1 == end || code_.is_sign(begin + 1, '+') || code_.is_sign(begin + 1, '-'));
    }

    // `i = expression` and `i += expression` of a local whose value then comes from thread indices.
    bool assign_index(std::int32_t first) {
        const std::int32_t sign = first + 1;
        if (sign >= code_.size() || code_[sign].kind != TokenKind::sign || code_[first].name < 0)
            return false;
        const bool plain = code_.is_sign(sign, '=');
        if (!plain && !code_.is_sign(sign, '+', '=') && !code_.is_sign(sign, '-', '='))
            return false;
        const SymbolKind kind = scopes_.find(code_[first].name);
        if (kind == SymbolKind::pointer && plain) {
            const std::int32_t end = expression_end(code_, sign + 1);
            if (expressions_.base(sign + 1, end) == SymbolKind::shared)
                scopes_.set_kind(code_[first].name, SymbolKind::shared);
        }
        if (kind == SymbolKind::scalar || kind == SymbolKind::index) {
            const std::int32_t end = expression_end(code_, sign + 1);
            if (end > sign + 1 && expressions_.is_index(sign + 1, end)) {
                scopes_.set_kind(code_[first].name, SymbolKind::index);
                emit(Kind::thread_index, first, end, "index computed from thread indices");
            }
        }
        return true;
    }

    void enter_scope(std::int32_t brace) {
        const DeviceFunction* function = nullptr;
        while (next_function_ < by_body_.size()
               && functions_[by_body_[next_function_]].body <= brace) {
            if (functions_[by_body_[next_function_]].body == brace)
                function = &functions_[by_body_[next_function_]];
            ++next_function_;
        }
        scopes_.enter(brace, function || scopes_.device());
        if (!function || function->parameters < 0)
            return;
        for (const Declarator& parameter : read_parameters(code_, function->parameters)) {
            const SymbolKind kind = classify_parameter(parameter, *function);
            scopes_.declare(code_[parameter.name].name, kind);
            if (kind == SymbolKind::index)
                emit(Kind::thread_index, parameter.name, parameter.name + 1,
                     "parameter named for a thread index");
        }
    }

    SymbolKind classify_parameter(const Declarator& parameter,
                                  const DeviceFunction& function) const {
        const std::string_view name = code_.text(parameter.name);
        const bool memory = parameter.pointers > 0 || parameter.array;
        if (!function.kernel && (memory || parameter.reference) && named_for_shared(name))
            return SymbolKind::shared;
        if (parameter.reference && parameter.array) // most often registers: `float (&r)[4]`
            return SymbolKind::local_array;
        if (memory)
            return SymbolKind::pointer;
        return !function.kernel && named_for_index(name) ? SymbolKind::index
                                                         : SymbolKind::parameter;
    }

    // ---- signs ----

    void visit_sign(std::int32_t i) {
        const Token& token = code_[i];
        switch (token.sign) {
        case '{':
            enter_scope(i);
            statement_ = i + 1;
            break;
        case '}':
            if (code_.match(i) >= 0)
                scopes_.leave(code_.match(i));
            statement_ = i + 1;
            break;
        case ';':
            statement_ = i + 1;
            break;
        case ':':
            if (token.sign2 == '\0'
                && (code_.word(i - 1) == Word::access || code_.word(statement_) == Word::flow))
                statement_ = i + 1;
            break;
        case ')':
            if (code_.match(i) > 0 && code_.word(code_.match(i) - 1) == Word::control)
                statement_ = i + 1;
            break;
        case '(':
            if (code_.word(i - 1) == Word::control)
                statement_ = i + 1;
            else if (scopes_.device())
                visit_group(i);
            break;
        case '*':
            if (token.sign2 == '\0' && scopes_.device() && expressions_.is_unary(i))
                visit_dereference(i);
            break;
        default:
            break;
        }
    }

    void emit_access(SymbolKind base, std::int32_t first, std::int32_t end, std::string_view rule) {
        if (base == SymbolKind::shared || base == SymbolKind::barrier)
            emit(Kind::shared_memory, first, end, "access of shared memory");
        else if (base != SymbolKind::local_array)
            emit(Kind::memory_access, first, end, rule);
    }

    // `(p + i)[j]`, `((float4*)p)[i]`, `((S*)p)->x`
    void visit_group(std::int32_t open) {
        const std::int32_t close = code_.match(open);
        if (close >= code_.size()
            || (!code_.is_sign(close + 1, '[') && !code_.is_sign(close + 1, '-', '>')))
            return;
        const bool called = open > 0
            && ((code_.is_identifier(open - 1) && code_.word(open - 1) != Word::flow)
                || code_.is_sign(open - 1, ')') || code_.is_sign(open - 1, ']')
                || code_.is_sign(open - 1, '>'));
        if (called)
            return;
        const Expressions::Chain chain = expressions_.chain_after(close);
        if (chain.subscript || chain.arrow)
            emit_access(expressions_.base(open + 1, close), open, chain.end,
                        access_rule(open + 1, close));
    }

    std::string_view access_rule(std::int32_t begin, std::int32_t end) const {
        return expressions_.casts_to_vector(begin, end) ? "access through a cast pointer"
                                                        : "pointer dereference";
    }

    void visit_dereference(std::int32_t star) {
        const std::int32_t end = expressions_.operand_end(star + 1);
        if (end <= star + 1)
            return;
        SymbolKind base = expressions_.base(star + 1, end);
        const bool name_only = end == star + 2 && code_.is_identifier(star + 1);
        if (name_only && base == SymbolKind::unknown
            && scopes_.find(code_[star + 1].name) == SymbolKind::index)
            return;
        emit_access(base, star, end, access_rule(star + 1, end));
    }

    // ---- words ----

    void visit_word(std::int32_t i) {
        switch (code_[i].word) {
        case Word::none:
        case Word::integer_math:
        case Word::other_type:
        case Word::flow:
            return visit_name(i);
        case Word::cast:
            return visit_cast(i);
        case Word::shared_space:
            return visit_shared(i);
        case Word::constant_space:
        case Word::device_space:
            return visit_device_variable(i);
        case Word::asm_word:
            return visit_asm(i);
        case Word::index_vector: {
            const bool member = code_.is_sign(i + 1, '.') && code_.is_identifier(i + 2);
            if (!expressions_.is_member(i))
                emit(Kind::thread_index, i, member ? i + 3 : i + 1, "thread index");
            return;
        }
        case Word::index_value:
            return emit(Kind::thread_index, i, i + 1, "thread index");
        case Word::index_call:
            if (code_.call_open(i) > 0)
                return emit_call(Kind::thread_index, i, "thread index");
            return visit_name(i);
        case Word::index_method:
            if (code_.is_sign(i - 1, ':', ':'))
                return emit_call(Kind::thread_index, i, "thread index of a group");
            return is_method(i) ? emit_method(Kind::thread_index, i, "thread index of a group")
                                : visit_name(i);
        case Word::dim3_type:
            return visit_dim3(i);
        case Word::launch_bounds:
            if (code_.is_sign(i + 1, '('))
                emit(Kind::launch_config, ByteSpan{code_[i].begin, code_.end_of_group(i + 1)},
                     "launch bounds");
            return;
        case Word::launch_config_type:
            return visit_launch_config(i);
        case Word::launch_config_call:
            return emit_call(Kind::launch_config, i, "launch attributes");
        default:
            visit_api(i);
        }
    }

    void visit_api(std::int32_t i) {
        switch (code_[i].word) {
        case Word::sync_call:
            return emit_call(Kind::synchronization, i,
                             code_.text(i).find("Event") != std::string_view::npos
                                 ? "event"
                                 : "barrier, fence or wait");
        case Word::sync_method:
            if (code_.is_sign(i - 1, ':', ':'))
                return emit_call(Kind::synchronization, i, "barrier, fence or wait");
            return is_method(i) ? emit_method(Kind::synchronization, i, "synchronisation method")
                                : visit_name(i);
        case Word::sync_type:
            return visit_sync_type(i);
        case Word::atomic_call:
            return emit_call(Kind::atomic, i, "atomic function");
        case Word::atomic_method:
            return emit_method(Kind::atomic, i, "atomic method");
        case Word::atomic_type:
            if (code_.is_sign(i + 1, '<'))
                emit_declaration(Kind::atomic, i, "atomic declaration");
            return;
        case Word::warp_call:
            return emit_call(Kind::warp_intrinsic, i, "warp function");
        case Word::warp_method:
            return is_method(i) ? emit_method(Kind::warp_intrinsic, i, "warp method of a group")
                                : visit_name(i);
        case Word::warp_type:
            if (code_.is_sign(i + 1, '<'))
                emit_declaration(Kind::warp_intrinsic, i, "matrix fragment");
            return;
        case Word::memory_call:
            return emit_call(Kind::memory_access, i, "load, copy or texture function");
        case Word::shared_call:
            return emit_call(Kind::shared_memory, i, "shared address conversion");
        case Word::manage_call:
            return emit_call(Kind::memory_management, i, "allocation, copy or stream");
        case Word::manage_type:
            emit_declaration(Kind::memory_management, i, "stream or device container");
            return;
        default:
            return;
        }
    }

    void visit_sync_type(std::int32_t i) {
        const bool event = code_[i].end - code_[i].begin > 4
            && code_.text(i).find("vent") != std::string_view::npos;
        if (event)
            emit_declaration(Kind::synchronization, i, "event");
        else if (code_.is_sign(i + 1, '<') && statement_ < code_.size()
                 && code_.word(statement_) != Word::shared_space)
            emit_declaration(Kind::synchronization, i, "barrier declaration");
        else if (!code_.is_sign(i + 1, '<'))
            visit_name(i);
    }

    void visit_shared(std::int32_t i) {
        if (statement_ < emitted_statement_ || i < emitted_statement_)
            return;
        std::int32_t first = i;
        while (first > statement_ && code_.word(first - 1) == Word::qualifier)
            --first;
        emit_statement(Kind::shared_memory, first, "shared memory declaration");
        // In device code begin_statement declares the names; in a macro nothing does.
        if (!scopes_.device() && read_declaration(code_, first, declaration_))
            for (const Declarator& declarator : declaration_.declarators)
                scopes_.declare(code_[declarator.name].name, SymbolKind::shared);
    }

    void visit_device_variable(std::int32_t i) {
        if (!scopes_.device() && i >= statement_ && read_declaration(code_, i, declaration_))
            for (const Declarator& declarator : declaration_.declarators)
                if (!code_.is_sign(declarator.name + 1, '('))
                    scopes_.declare(code_[declarator.name].name,
                                    declarator.array || declarator.pointers > 0
                                        ? SymbolKind::pointer
                                        : SymbolKind::unknown);
    }

    void visit_dim3(std::int32_t i) {
        const bool named = code_.is_identifier(i + 1);
        if (code_.is_sign(i + 1, '(') || code_.is_sign(i + 1, '{'))
            return emit(Kind::launch_config, ByteSpan{code_[i].begin, code_.end_of_group(i + 1)},
                        "dim3 value");
        if (!named || !leads_statement(i) || !is_dim3_variable(i + 1))
            return;
        const std::size_t before = out_.spans.size();
        if (!emit_statement(Kind::launch_config, i, "dim3 declaration"))
            return;
        out_.dim3.push_back(out_.spans[before].span);
        if (read_declaration(code_, i, declaration_))
            for (const Declarator& declarator : declaration_.declarators)
                scopes_.declare(code_[declarator.name].name, SymbolKind::dim3);
    }

    // `dim3 f(int n)` declares a function: a body follows, or its parameters have a type and a
    // name.
    bool is_dim3_variable(std::int32_t name) const {
        if (!code_.is_sign(name + 1, '('))
            return !code_.is_sign(name + 1, ':', ':');
        const std::int32_t close = code_.match(name + 1);
        if (close >= code_.size())
            return true;
        if (code_.is_sign(close + 1, '{') || code_.is_identifier(close + 1))
            return false;
        const bool empty = close == name + 2;
        const bool typed = code_.is_identifier(name + 2)
            && (code_.is_identifier(name + 3) || code_.word(name + 2) == Word::integer_type)
            && !code_.is_sign(name + 3, '(');
        return !empty && !typed;
    }

    void visit_launch_config(std::int32_t i) {
        if (!emit_declaration(Kind::launch_config, i, "launch attributes"))
            return;
        if (read_declaration(code_, statement_, declaration_))
            for (const Declarator& declarator : declaration_.declarators)
                scopes_.declare(code_[declarator.name].name, SymbolKind::launch_config);
    }

    // `grid = dim3(...)`, `grid.x = n`, `config.blockDim = b`
    void visit_launch_assignment(std::int32_t i, SymbolKind kind) {
        if (i != statement_)
            return;
        std::int32_t at = i + 1;
        if (code_.is_sign(at, '[') && code_.match(at) < code_.size())
            at = code_.match(at) + 1;
        if (kind == SymbolKind::launch_config
            && !((code_.is_sign(at, '.') || code_.is_sign(at, '-', '>'))
                 && code_.is_identifier(at + 1) && is_launch_member(code_.text(at + 1))))
            return;
        for (int links = 0; links < 8 && (code_.is_sign(at, '.') || code_.is_sign(at, '-', '>'))
             && code_.is_identifier(at + 1);
             ++links)
            at += 2;
        if (!code_.is_sign(at, '='))
            return;
        const std::int32_t end = statement_end(code_, i);
        if (end > at)
            emit(Kind::launch_config, i, end,
                 kind == SymbolKind::dim3 ? "dim3 assignment" : "launch attributes");
    }

    void visit_asm(std::int32_t i) {
        std::int32_t open = i + 1;
        while (code_.word(open) == Word::qualifier || code_.word(open) == Word::flow
               || (code_.is_identifier(open) && code_.text(open) == "__volatile__"))
            ++open;
        if (!code_.is_sign(open, '('))
            return;
        const std::int32_t close = std::min({code_.match(open), code_.size(), open + longest_asm});
        instructions_.clear();
        for (std::int32_t at = open + 1; at < close; ++at) {
            if (code_.is_sign(at, ':') || code_.is_sign(at, ':', ':')
                || code_.word(at) == Word::asm_word)
                break;
            if (code_[at].kind == TokenKind::string)
                find_ptx_instructions(code_.text(at), code_[at].begin, instructions_);
        }
        if (instructions_.empty())
            return;
        const Kind kind = instructions_.front().kind;
        const bool same = std::all_of(instructions_.begin(), instructions_.end(),
                                      [&](const SensitiveSpan& span) { return span.kind == kind; });
        if (same)
            emit(kind, ByteSpan{code_[i].begin, code_.end_of_group(open)},
                 instructions_.front().rule);
        else
            out_.spans.insert(out_.spans.end(), instructions_.begin(), instructions_.end());
    }

    void visit_cast(std::int32_t i) {
        if (code_.text(i) != "reinterpret_cast" || !code_.is_sign(i + 1, '<'))
            return;
        const std::int32_t open = code_.after_template_arguments(i + 1);
        if (open < 0 || !code_.is_sign(open, '(') || code_.match(open) >= code_.size())
            return;
        const bool vector = expressions_.casts_to_vector(i + 2, open);
        if (!scopes_.device() && !(code_.in_macro() && vector))
            return;
        const std::int32_t close = code_.match(open);
        const Expressions::Chain chain = expressions_.chain_after(close);
        if (chain.subscript || chain.arrow)
            emit_access(expressions_.base(open + 1, close), i, chain.end,
                        "access through a cast pointer");
    }

    void visit_name(std::int32_t i) {
        const Token& token = code_[i];
        if (visit_group_function(i))
            return;
        if (macros_.thread_index.holds(token) && !expressions_.is_member(i)) {
            if (code_.is_sign(i + 1, '('))
                emit(Kind::thread_index, ByteSpan{token.begin, code_.end_of_group(i + 1)},
                     "thread index macro");
            else
                emit(Kind::thread_index, i, i + 1, "thread index macro");
            return;
        }
        if (expressions_.is_member(i))
            return;
        const SymbolKind kind = scopes_.find(token.name);
        if (kind == SymbolKind::dim3 || kind == SymbolKind::launch_config)
            return visit_launch_assignment(i, kind);
        if (kind == SymbolKind::index)
            return emit(Kind::thread_index, i, i + 1, "variable derived from a thread index");
        if (scopes_.device())
            visit_memory_name(i, kind);
    }

    // Functions that are known by their namespace: cg::sync(group), cg::wait(group),
    // cg::reduce(tile, ...); and the methods of barriers and atomics that have common names.
    bool visit_group_function(std::int32_t i) {
        const std::string_view name = code_.text(i);
        if (name != "wait" && name != "reduce" && name != "init" && name != "load"
            && name != "store" && name != "exchange")
            return false;
        if (code_.is_sign(i - 1, ':', ':') && code_.is_identifier(i - 2)
            && (code_.text(i - 2) == "cg" || code_.text(i - 2) == "cooperative_groups")) {
            if (name == "wait")
                emit_call(Kind::synchronization, i, "barrier, fence or wait");
            else if (name == "reduce")
                emit_call(Kind::warp_intrinsic, i, "warp function");
            return true;
        }
        if (!is_method(i)) {
            if (name == "init" && code_.is_sign(i + 1, '(') && code_.is_sign(i + 2, '&')
                && code_.is_identifier(i + 3)
                && scopes_.find(code_[i + 3].name) == SymbolKind::barrier)
                emit_call(Kind::synchronization, i, "barrier, fence or wait");
            return false;
        }
        const SymbolKind object =
            code_.is_identifier(i - 2) ? scopes_.find(code_[i - 2].name) : SymbolKind::unknown;
        if (object == SymbolKind::barrier && name == "wait")
            emit_method(Kind::synchronization, i, "synchronisation method");
        else if (object == SymbolKind::atomic && name != "wait")
            emit_method(Kind::atomic, i, "atomic method");
        return true;
    }

    void visit_memory_name(std::int32_t i, SymbolKind kind) {
        const Token& token = code_[i];
        if (macros_.vector_access.holds(token) && code_.is_sign(i + 1, '(')) {
            const std::int32_t close = std::min(code_.match(i + 1), code_.size());
            return emit_access(expressions_.base(i + 2, close), i,
                               std::min(close + 1, code_.size()), "vector access macro");
        }
        if (token.word == Word::flow)
            return;
        const Expressions::Chain chain = expressions_.chain_after(i);
        switch (kind) {
        case SymbolKind::shared:
        case SymbolKind::barrier:
            if (chain.subscript || chain.arrow)
                emit(Kind::shared_memory, i, chain.end, "access of shared memory");
            else
                emit(Kind::shared_memory, i, i + 1, "name of shared memory");
            return;
        case SymbolKind::pointer:
            if (chain.subscript)
                emit(Kind::memory_access, i, chain.end, "subscript of a kernel pointer");
            else if (chain.arrow)
                emit(Kind::memory_access, i, chain.end, "member through a pointer");
            return;
        case SymbolKind::parameter:
            if (chain.subscript)
                emit(Kind::memory_access, i, chain.end, "subscript of a parameter's member");
            return;
        case SymbolKind::unknown:
            if (chain.subscript)
                emit(Kind::memory_access, i, chain.end, "subscript of a device variable");
            return;
        default:
            return;
        }
    }

    const CodeView& code_;
    const std::vector<DeviceFunction>& functions_;
    const MacroUses& macros_;
    ScopeTable& scopes_;
    Expressions expressions_;
    CudaStructure& out_;
    std::vector<std::size_t> by_body_;
    std::size_t next_function_ = 0;
    std::int32_t statement_ = 0; // token that the statement at hand begins with
    std::int32_t emitted_statement_ =
        -1; // token that ends the last declaration that was emitted whole
    Declaration declaration_;
    std::vector<SensitiveSpan> instructions_;
};

} // namespace

MacroUses find_macro_uses(const LexedSource& source) {
    MacroUses uses{MacroSet(source.names.size()), MacroSet(source.names.size())};
    for (const Directive& directive : source.directives) {
        if (directive.kind != DirectiveKind::define || directive.macro_name < 0)
            continue;
        bool index = false;
        bool statement = false;
        bool vector = false;
        for (std::int32_t i = directive.body_begin; i < directive.body_end; ++i) {
            const Token& token = source.macro_tokens[i];
            const bool sign = token.kind == TokenKind::sign;
            index = index || token.word == Word::index_vector || token.word == Word::index_value
                || uses.thread_index.holds(token);
            statement = statement
                || (sign
                    && (token.sign == ';' || token.sign == '{' || token.sign == '='
                        || token.sign == '[' || token.sign2 == '='));
            vector = vector
                || (sign && token.sign == '*' && token.sign2 == '\0' && i > directive.body_begin
                    && source.macro_tokens[i - 1].kind == TokenKind::identifier
                    && is_vector_type(source.names[source.macro_tokens[i - 1].name]));
        }
        if (index && !statement)
            uses.thread_index.add(directive.macro_name, directive.span.begin);
        if (vector && !index)
            uses.vector_access.add(directive.macro_name, directive.span.begin);
    }
    return uses;
}

void find_sensitive_spans(const CodeView& code, const std::vector<DeviceFunction>& functions,
                          const std::vector<KernelLaunch>& launches, const MacroUses& macros,
                          ScopeTable& scopes, CudaStructure& out) {
    for (const KernelLaunch& launch : launches) {
        if (!launch.api)
            out.spans.push_back({Kind::launch_config, launch.config, "launch configuration"});
        else
            for (const ByteSpan& argument : launch.arguments)
                out.spans.push_back({Kind::launch_config, argument, "launch configuration"});
    }
    SensitivityScanner(code, functions, macros, scopes, out).run();
}

} // namespace cuset::cuda_scan
