// ScopeTable: what each name stands for at a place of the text, by C++'s rules of scope and
// shadowing.
#pragma once

#include <cstdint>
#include <vector>

namespace cuset::cuda_scan {

enum class SymbolKind : std::uint8_t {
    unknown, // not declared in the text seen so far
    scalar, // a local value that is none of the below
    local_array, // an array of the thread, or a pointer to a local
    parameter, // passed by value, a structure perhaps
    pointer, // to global memory, as far as can be told
    shared, // a __shared__ variable, or a pointer or reference to one
    index, // derived from the thread's index
    atomic,
    barrier,
    dim3,
    launch_config, // a cudaLaunchConfig_t
};

class ScopeTable {
public:
    explicit ScopeTable(std::size_t names)
        : top_(names, -1) { }

    // `open_token`: the brace that opens the scope. `device`: its code runs on the device.
    void enter(std::int32_t open_token, bool device) {
        scopes_.push_back({open_token, static_cast<std::int32_t>(symbols_.size()), device});
    }
    // Leaves the scope that `open_token` opened, and all inside it that were never closed.
    void leave(std::int32_t open_token) {
        while (!scopes_.empty() && scopes_.back().open_token >= open_token) {
            truncate(scopes_.back().symbols);
            scopes_.pop_back();
        }
    }
    // Forgets everything.
    void clear() {
        truncate(0);
        scopes_.clear();
    }
    bool device() const { return !scopes_.empty() && scopes_.back().device; }

    void declare(std::int32_t name, SymbolKind kind) {
        symbols_.push_back({name, top_[name], kind});
        top_[name] = static_cast<std::int32_t>(symbols_.size()) - 1;
    }
    // Changes what the innermost symbol of that name is.
    void set_kind(std::int32_t name, SymbolKind kind) {
        if (top_[name] >= 0)
            symbols_[top_[name]].kind = kind;
    }
    SymbolKind find(std::int32_t name) const {
        return name < 0 || top_[name] < 0 ? SymbolKind::unknown : symbols_[top_[name]].kind;
    }

private:
    struct Symbol {
        std::int32_t name;
        std::int32_t shadowed;
        SymbolKind kind;
    };
    struct Scope {
        std::int32_t open_token;
        std::int32_t symbols;
        bool device;
    };
    void truncate(std::int32_t size) {
        while (static_cast<std::int32_t>(symbols_.size()) > size) {
            top_[symbols_.back().name] = symbols_.back().shadowed;
            symbols_.pop_back();
        }
    }

    std::vector<std::int32_t> top_;
    std::vector<Symbol> symbols_;
    std::vector<Scope> scopes_;
};

} // namespace cuset::cuda_scan
