// Questions about expressions in device code: what memory they reach, whether they are made of
// thread indices.
#pragma once

#include <cstdint>

#include "core/cuda/code_view.h"
#include "core/cuda/scope_table.h"
#include "core/cuda/sensitivity.h"

namespace cuset::cuda_scan {

class Expressions {
public:
    Expressions(const CodeView& code, const ScopeTable& scopes, const MacroUses& macros)
        : code_(code)
        , scopes_(scopes)
        , macros_(macros) { }

    // True if the name at token `index` is a member's: `.x`, `->x`, `ns::x` (`this->x` is not).
    bool is_member(std::int32_t index) const;
    // The memory that the expression [begin, end) of tokens points into: pointer, shared,
    // local_array, or unknown if no name of it is known. Bounded look-ahead.
    SymbolKind base(std::int32_t begin, std::int32_t end) const;
    // True if the value of the expression is an index made of thread indices.
    bool is_index(std::int32_t begin, std::int32_t end) const;

    struct Chain {
        std::int32_t end; // token after the last subscript or `->` member
        bool subscript;
        bool arrow; // `->` before any subscript
    };
    // Subscripts and members after the name, group or cast whose last token is `last`.
    Chain chain_after(std::int32_t last) const;
    // True if the `*` at `index` is a dereference.
    bool is_unary(std::int32_t index) const;
    // Token after the operand of a unary operator that begins at `begin`.
    std::int32_t operand_end(std::int32_t begin) const;
    // True if the template arguments of the cast at `index`, or the cast in parentheses at it, name
    // a vector type.
    bool casts_to_vector(std::int32_t begin, std::int32_t end) const;

private:
    bool is_index_term(std::int32_t index) const;
    bool calls_function(std::int32_t open) const;

    const CodeView& code_;
    const ScopeTable& scopes_;
    const MacroUses& macros_;
};

// float4, int2, uint4, half2, ...: types that one instruction loads as a vector.
bool is_vector_type(std::string_view name);

} // namespace cuset::cuda_scan
