// Reads variable declarations and parameter lists from tokens, as far as the sensitivity rules need
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cuda/code_view.h"

namespace cuset::cuda_scan {

struct Declarator {
    std::int32_t name = -1; // token
    int pointers = 0; // `*` before the name
    bool reference = false;
    bool array = false;
    std::int32_t init_begin = 0, init_end = 0; // tokens of the initialiser, empty if there is none
    bool value_init =
        false; // the initialiser follows a `=` or stands in brackets, else it is a range
};

struct Declaration {
    bool shared = false; // __shared__
    bool device_variable = false; // __device__, __constant__ or __managed__
    bool integer = false; // an integer type, or auto
    bool is_auto = false;
    bool other = false; // a known type that can't be an index: float, bool, void
    Word type_word =
        Word::none; // of a type that is known by name: a barrier, an atomic, a fragment
    std::vector<Declarator> declarators;
    std::int32_t end = 0; // token of the `;`, `:` or `)` that ends it, or size() if it is open
};

// True and the declaration if one begins at token `first`. Bounded look-ahead.
bool read_declaration(const CodeView& code, std::int32_t first, Declaration& out);

// The parameters of the function whose `(` is at `open`.
std::vector<Declarator> read_parameters(const CodeView& code, std::int32_t open);

// The token that ends the statement around `first`: its `;`, or size() if the text ends before it,
// or -1 if a bracket closes first or it is too long to be one.
std::int32_t statement_end(const CodeView& code, std::int32_t first);

// The first `,`, `;` or closing bracket outside of groups from token `first` on: where an
// initialiser or an assigned value ends; at most size(). Bounded look-ahead.
std::int32_t expression_end(const CodeView& code, std::int32_t first);

} // namespace cuset::cuda_scan
