#include <string>

#include "core/base/error.h"
#include "core/io/ggml_blocks.h"
#include "core/io/ggml_types.h"
#include "core/io/gguf_file.h"

namespace cuset {
namespace {

using namespace ggml_blocks;

using BlockDecoder = void (*)(const std::uint8_t* block, float* out);

// Nothing for types that are not made of quantised blocks.
BlockDecoder block_decoder(GgmlType type) {
    switch (type) {
    case GgmlType::q4_0:
        return decode_q4_0;
    case GgmlType::q4_1:
        return decode_q4_1;
    case GgmlType::q5_0:
        return decode_q5_0;
    case GgmlType::q5_1:
        return decode_q5_1;
    case GgmlType::q8_0:
        return decode_q8_0;
    case GgmlType::q8_1:
        return decode_q8_1;
    case GgmlType::q2_k:
        return decode_q2_k;
    case GgmlType::q3_k:
        return decode_q3_k;
    case GgmlType::q4_k:
        return decode_q4_k;
    case GgmlType::q5_k:
        return decode_q5_k;
    case GgmlType::q6_k:
        return decode_q6_k;
    case GgmlType::q8_k:
        return decode_q8_k;
    case GgmlType::iq4_nl:
        return decode_iq4_nl;
    case GgmlType::iq4_xs:
        return decode_iq4_xs;
    case GgmlType::tq1_0:
        return decode_tq1_0;
    case GgmlType::tq2_0:
        return decode_tq2_0;
    case GgmlType::mxfp4:
        return decode_mxfp4;
    default:
        return nullptr;
    }
}

template <typename T, typename Convert>
void convert_each(const std::uint8_t* bytes, std::span<float> out, Convert convert) {
    for (std::size_t n = 0; n < out.size(); ++n)
        out[n] = convert(load<T>(bytes + n * sizeof(T)));
}

} // namespace

void dequantize(GgmlType type, std::span<const std::byte> bytes, std::span<float> out) {
    const std::uint64_t needed = ggml_bytes(type, out.size());
    if (needed != bytes.size())
        throw Error(ErrorCode::bad_format,
                    std::to_string(out.size()) + " elements of type "
                        + std::string(ggml_type_name(type)) + " need " + std::to_string(needed)
                        + " bytes, there are " + std::to_string(bytes.size()));
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    if (const BlockDecoder decode = block_decoder(type)) {
        const GgmlTypeInfo& info = *find_ggml_type(static_cast<std::uint32_t>(type));
        const std::size_t blocks = out.size() / info.block_elements;
        for (std::size_t n = 0; n < blocks; ++n)
            decode(first + n * info.block_bytes, out.data() + n * info.block_elements);
    } else if (type == GgmlType::f32)
        convert_each<float>(first, out, [](float value) { return value; });
    else if (type == GgmlType::f64)
        convert_each<double>(first, out, [](double value) { return static_cast<float>(value); });
    else if (type == GgmlType::f16)
        convert_each<std::uint16_t>(first, out, half_to_float);
    else if (type == GgmlType::bf16)
        convert_each<std::uint16_t>(first, out, bfloat16_to_float);
    else
        throw Error(ErrorCode::unsupported,
                    "tensors of type " + std::string(ggml_type_name(type))
                        + " hold whole numbers, not weights");
}

} // namespace cuset
