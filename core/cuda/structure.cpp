#include "core/cuda/structure.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/cuda/code_view.h"
#include "core/cuda/function_finder.h"
#include "core/cuda/islands.h"
#include "core/cuda/launch_finder.h"
#include "core/cuda/python_strings.h"
#include "core/cuda/sensitivity.h"

namespace cuset {

namespace {

using namespace cuda_scan;

void add_view(const CodeView& code, const MacroSet& kernel_macros, const MacroUses& macros,
              ScopeTable& scopes, CudaStructure& out) {
    const std::vector<DeviceFunction> functions = find_device_functions(code, kernel_macros);
    for (const DeviceFunction& function : functions) {
        if (!function.kernel)
            continue;
        KernelDefinition kernel;
        if (function.name >= 0)
            kernel.name = code.text(function.name);
        kernel.span = {code[function.first].begin, function.body_end};
        kernel.body = {code[function.body].begin, function.body_end};
        kernel.complete = function.complete;
        kernel.in_macro = code.in_macro();
        out.kernels.push_back(std::move(kernel));
    }
    std::vector<KernelLaunch> launches = find_launches(code);
    find_sensitive_spans(code, functions, launches, macros, scopes, out);
    std::move(launches.begin(), launches.end(), std::back_inserter(out.launches));
}

void sort_by_place(CudaStructure& structure) {
    const auto by_begin = [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; };
    std::stable_sort(structure.kernels.begin(), structure.kernels.end(), by_begin);
    std::stable_sort(structure.launches.begin(), structure.launches.end(), by_begin);
    std::sort(structure.dim3.begin(), structure.dim3.end(),
              [](ByteSpan a, ByteSpan b) { return a.begin < b.begin; });
    std::stable_sort(structure.spans.begin(), structure.spans.end(),
                     [](const SensitiveSpan& a, const SensitiveSpan& b) {
                         return std::tuple(a.span.begin, a.kind, a.span.end)
                             < std::tuple(b.span.begin, b.kind, b.span.end);
                     });
    const auto same = [](const SensitiveSpan& a, const SensitiveSpan& b) {
        return a.kind == b.kind && a.span == b.span;
    };
    structure.spans.erase(std::unique(structure.spans.begin(), structure.spans.end(), same),
                          structure.spans.end());
}

// Kernels, launches, dim3 and spans of source text; no islands.
CudaStructure scan_source(std::string_view text) {
    const LexedSource source = lex_source(text);
    const MacroSet kernel_macros = find_kernel_macros(source);
    const MacroUses macros = find_macro_uses(source);
    ScopeTable scopes(source.names.size());
    CudaStructure out;
    out.unfinished = source.unfinished;
    const CodeView code(source, source.code, source.directives,
                        static_cast<std::int32_t>(text.size()), false);
    out.unfinished = out.unfinished || code.ends_open();
    add_view(code, kernel_macros, macros, scopes, out);
    for (const Directive& directive : source.directives) {
        if (directive.body_begin >= directive.body_end)
            continue;
        const auto tokens =
            std::span(source.macro_tokens)
                .subspan(directive.body_begin, directive.body_end - directive.body_begin);
        add_view(CodeView(source, tokens, {}, directive.span.end, true), kernel_macros, macros,
                 scopes, out);
    }
    const auto size = static_cast<std::int32_t>(text.size());
    for (const KernelDefinition& kernel : out.kernels)
        out.unfinished = out.unfinished || (!kernel.complete && kernel.body.end == size);
    for (const KernelLaunch& launch : out.launches)
        out.unfinished = out.unfinished || (!launch.complete && launch.span.end == size);
    return out;
}

// Moves every span by `place` and appends all to `out`.
template <class Place> void append(CudaStructure&& part, Place place, CudaStructure& out) {
    for (KernelDefinition& kernel : part.kernels) {
        kernel.span = place(kernel.span);
        kernel.body = place(kernel.body);
        out.kernels.push_back(std::move(kernel));
    }
    for (KernelLaunch& launch : part.launches) {
        launch.span = place(launch.span);
        launch.config = place(launch.config);
        for (ByteSpan& argument : launch.arguments)
            argument = place(argument);
        out.launches.push_back(std::move(launch));
    }
    for (const ByteSpan span : part.dim3)
        out.dim3.push_back(place(span));
    for (SensitiveSpan& span : part.spans) {
        span.span = place(span.span);
        out.spans.push_back(span);
    }
}

ByteSpan shifted(ByteSpan span, std::int32_t by) {
    return {span.begin + by, span.end + by};
}

void add_python(std::string_view text, Island island, CudaStructure& out) {
    const auto sources = find_python_sources(text.substr(island.span.begin, island.span.size()));
    if (sources.empty()) {
        out.islands.push_back(island);
        return;
    }
    std::int32_t at = island.span.begin;
    const auto add_island = [&](IslandKind kind, std::int32_t end) {
        if (end > at)
            out.islands.push_back({kind, {at, end}});
        at = std::max(at, end);
    };
    const auto end = static_cast<std::int32_t>(text.size());
    for (const EmbeddedSource& source : sources) {
        const ByteSpan span = shifted(source.span, island.span.begin);
        add_island(IslandKind::python, span.begin);
        add_island(IslandKind::cuda_source, span.end);
        CudaStructure part = scan_source(source.text);
        out.unfinished = out.unfinished || (source.unfinished && span.end == end);
        append(
            std::move(part),
            [&](ByteSpan s) { return shifted(source.place(s), island.span.begin); }, out);
    }
    add_island(IslandKind::python, island.span.end);
}

double share_placed(const CudaStructure& structure, std::size_t size) {
    if (size == 0)
        return 1.0;
    std::int64_t other = 0;
    for (const Island& island : structure.islands)
        if (island.kind == IslandKind::other_code)
            other += island.span.size();
    return 1.0 - static_cast<double>(other) / static_cast<double>(size);
}

} // namespace

std::string_view island_kind_name(IslandKind kind) noexcept {
    switch (kind) {
    case IslandKind::cuda_source:
        return "cuda_source";
    case IslandKind::prose:
        return "prose";
    case IslandKind::reasoning:
        return "reasoning";
    case IslandKind::python:
        return "python";
    case IslandKind::other_code:
        return "other_code";
    case IslandKind::triton:
        return "triton";
    }
    return "unknown";
}

CudaStructure find_cuda_structure_in_source(std::string_view source) {
    CudaStructure out = scan_source(source);
    if (!source.empty())
        out.islands.push_back(
            {IslandKind::cuda_source, {0, static_cast<std::int32_t>(source.size())}});
    sort_by_place(out);
    return out;
}

CudaStructure find_cuda_structure(std::string_view response_text) {
    if (response_text.size()
        > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) - 16)
        throw Error(ErrorCode::limit,
                    "response of " + std::to_string(response_text.size())
                        + " bytes, at most 2147483631 can be labelled; split it");
    IslandMap map = find_islands(response_text);
    CudaStructure out;
    out.unfinished = map.unfinished;
    const auto size = static_cast<std::int32_t>(response_text.size());
    for (const Island& island : map.islands) {
        if (island.kind == IslandKind::python || island.kind == IslandKind::triton) {
            add_python(response_text, island, out);
            continue;
        }
        out.islands.push_back(island);
        if (island.kind != IslandKind::cuda_source)
            continue;
        CudaStructure part =
            scan_source(response_text.substr(island.span.begin, island.span.size()));
        out.unfinished = out.unfinished || (part.unfinished && island.span.end == size);
        append(
            std::move(part), [&](ByteSpan s) { return shifted(s, island.span.begin); }, out);
    }
    sort_by_place(out);
    out.placed_share = share_placed(out, response_text.size());
    return out;
}

} // namespace cuset
