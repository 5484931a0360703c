#include "core/cuda/ptx.h"

#include <optional>

namespace cuset::cuda_scan {

namespace {

bool is_opcode_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
        || c == '.' || c == ':';
}

struct Classified {
    SensitiveKind kind;
    std::string_view rule;
};

// True if `opcode` is `name` or begins with `name.`.
bool is_op(std::string_view opcode, std::string_view name) {
    return opcode.starts_with(name) && (opcode.size() == name.size() || opcode[name.size()] == '.');
}

template <std::size_t N> bool is_any(std::string_view opcode, const std::string_view (&names)[N]) {
    for (const std::string_view name : names)
        if (is_op(opcode, name))
            return true;
    return false;
}

bool reads_index_register(std::string_view instruction) {
    constexpr std::string_view registers[] = {
        "%tid",     "%ntid",     "%ctaid",         "%nctaid",         "%laneid",    "%warpid",
        "%nwarpid", "%lanemask", "%cluster_ctaid", "%cluster_nctaid", "%clusterid", "%gridid"};
    for (const std::string_view name : registers)
        if (instruction.find(name) != std::string_view::npos)
            return true;
    return false;
}

std::optional<Classified> classify(std::string_view opcode, std::string_view instruction) {
    constexpr std::string_view synchronizing[] = {"bar",
                                                  "barrier",
                                                  "membar",
                                                  "fence",
                                                  "mbarrier",
                                                  "griddepcontrol",
                                                  "cp.async.wait_group",
                                                  "cp.async.wait_all",
                                                  "cp.async.commit_group",
                                                  "cp.async.bulk.commit_group",
                                                  "cp.async.bulk.wait_group",
                                                  "cp.async.mbarrier",
                                                  "wgmma.fence",
                                                  "wgmma.commit_group",
                                                  "wgmma.wait_group",
                                                  "tcgen05.wait",
                                                  "tcgen05.fence"};
    constexpr std::string_view warp[] = {"shfl", "vote", "match", "redux", "activemask",
                                         "mma",  "wmma", "wgmma", "elect", "tcgen05.mma"};
    constexpr std::string_view memory[] = {
        "ld",   "ldu",           "st",      "cp", "prefetch", "prefetchu", "tex", "tld4", "suld",
        "sust", "applypriority", "discard", "ldg"};
    if (is_any(opcode, synchronizing))
        return Classified{SensitiveKind::synchronization, "PTX barrier or fence"};
    if (is_op(opcode, "atom") || is_op(opcode, "red") || is_op(opcode, "multimem"))
        return Classified{SensitiveKind::atomic, "PTX atomic"};
    if (is_any(opcode, warp))
        return Classified{SensitiveKind::warp_intrinsic, "PTX warp or matrix instruction"};
    if (is_op(opcode, "ldmatrix") || is_op(opcode, "stmatrix") || is_op(opcode, "ld.shared")
        || is_op(opcode, "st.shared") || is_op(opcode, "ld.volatile.shared")
        || is_op(opcode, "st.volatile.shared") || is_op(opcode, ".shared") || is_op(opcode, "mapa")
        || is_op(opcode, "cvta.to.shared"))
        return Classified{SensitiveKind::shared_memory, "PTX shared memory"};
    if (is_any(opcode, memory) && !is_op(opcode, "ld.param") && !is_op(opcode, "st.param")
        && !is_op(opcode, "ld.local") && !is_op(opcode, "st.local"))
        return Classified{SensitiveKind::memory_access, "PTX load, store or copy"};
    if (reads_index_register(instruction))
        return Classified{SensitiveKind::thread_index, "PTX thread index register"};
    return std::nullopt;
}

} // namespace

void find_ptx_instructions(std::string_view literal, std::int32_t offset,
                           std::vector<SensitiveSpan>& out) {
    const auto size = static_cast<std::int32_t>(literal.size());
    std::int32_t at = 0;
    while (at < size) {
        const char c = literal[at];
        if (c == '\\') { // an escape of the literal: \n, \t
            at += 2;
            continue;
        }
        if (c == '@') { // a predicate
            while (at < size && literal[at] != ' ' && literal[at] != '\t' && literal[at] != '\\')
                ++at;
            continue;
        }
        if (!is_opcode_char(c)) {
            ++at;
            continue;
        }
        const std::int32_t begin = at;
        while (at < size && is_opcode_char(literal[at]))
            ++at;
        if (literal[at - 1] == ':') // a label
            continue;
        const std::string_view opcode = literal.substr(begin, at - begin);
        while (at < size && literal[at] != ';' && literal[at] != '"')
            ++at;
        if (at < size && literal[at] == ';')
            ++at;
        if (const auto found = classify(opcode, literal.substr(begin, at - begin)))
            out.push_back({found->kind, {offset + begin, offset + at}, found->rule});
    }
}

} // namespace cuset::cuda_scan
