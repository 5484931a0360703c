#include "core/io/ggml_types.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/error.h"
#include "core/io/checked_math.h"
#include "core/io/gguf_file.h"

namespace cuset {
namespace {

constexpr std::array ggml_types{
    GgmlTypeInfo{0, "F32", 1, 4, true},          GgmlTypeInfo{1, "F16", 1, 2, true},
    GgmlTypeInfo{2, "Q4_0", 32, 18, true},       GgmlTypeInfo{3, "Q4_1", 32, 20, true},
    GgmlTypeInfo{4, "Q4_2", 16, 10, false},      GgmlTypeInfo{5, "Q4_3", 16, 12, false},
    GgmlTypeInfo{6, "Q5_0", 32, 22, true},       GgmlTypeInfo{7, "Q5_1", 32, 24, true},
    GgmlTypeInfo{8, "Q8_0", 32, 34, true},       GgmlTypeInfo{9, "Q8_1", 32, 36, true},
    GgmlTypeInfo{10, "Q2_K", 256, 84, true},     GgmlTypeInfo{11, "Q3_K", 256, 110, true},
    GgmlTypeInfo{12, "Q4_K", 256, 144, true},    GgmlTypeInfo{13, "Q5_K", 256, 176, true},
    GgmlTypeInfo{14, "Q6_K", 256, 210, true},    GgmlTypeInfo{15, "Q8_K", 256, 292, true},
    GgmlTypeInfo{16, "IQ2_XXS", 256, 66, false}, GgmlTypeInfo{17, "IQ2_XS", 256, 74, false},
    GgmlTypeInfo{18, "IQ3_XXS", 256, 98, false}, GgmlTypeInfo{19, "IQ1_S", 256, 50, false},
    GgmlTypeInfo{20, "IQ4_NL", 32, 18, true},    GgmlTypeInfo{21, "IQ3_S", 256, 110, false},
    GgmlTypeInfo{22, "IQ2_S", 256, 82, false},   GgmlTypeInfo{23, "IQ4_XS", 256, 136, true},
    GgmlTypeInfo{24, "I8", 1, 1, true},          GgmlTypeInfo{25, "I16", 1, 2, true},
    GgmlTypeInfo{26, "I32", 1, 4, true},         GgmlTypeInfo{27, "I64", 1, 8, true},
    GgmlTypeInfo{28, "F64", 1, 8, true},         GgmlTypeInfo{29, "IQ1_M", 256, 56, false},
    GgmlTypeInfo{30, "BF16", 1, 2, true},        GgmlTypeInfo{34, "TQ1_0", 256, 54, true},
    GgmlTypeInfo{35, "TQ2_0", 256, 66, true},    GgmlTypeInfo{39, "MXFP4", 32, 17, true},
    GgmlTypeInfo{40, "NVFP4", 64, 36, false},    GgmlTypeInfo{41, "Q1_0", 128, 18, false},
};

} // namespace

const GgmlTypeInfo* find_ggml_type(std::uint32_t number) noexcept {
    const auto at = std::ranges::find(ggml_types, number, &GgmlTypeInfo::number);
    return at == ggml_types.end() ? nullptr : &*at;
}

std::string_view ggml_type_name(GgmlType type) noexcept {
    const GgmlTypeInfo* info = find_ggml_type(static_cast<std::uint32_t>(type));
    return info == nullptr ? std::string_view("unknown") : info->name;
}

std::uint64_t ggml_bytes(GgmlType type, std::uint64_t elements) {
    const GgmlTypeInfo* info = find_ggml_type(static_cast<std::uint32_t>(type));
    if (info == nullptr)
        throw Error(ErrorCode::bad_format,
                    "unknown tensor type " + std::to_string(static_cast<std::uint32_t>(type)));
    if (elements % info->block_elements != 0)
        throw Error(ErrorCode::bad_format,
                    std::to_string(elements) + " elements are not whole blocks of "
                        + std::to_string(info->block_elements) + " (" + std::string(info->name)
                        + ")");
    const auto bytes = checked_multiply(elements / info->block_elements, info->block_bytes);
    if (!bytes)
        throw Error(ErrorCode::bad_format,
                    std::to_string(elements) + " elements need more bytes than 64 bits can count");
    return *bytes;
}

} // namespace cuset
