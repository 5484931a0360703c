#include "core/model/float8_weights.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/float8.h"

namespace cuset {
namespace {

using nlohmann::json;
constexpr std::string_view inverse_scale = "_scale_inv", plain_scale = "_scale";
constexpr const char* instead = "use the unquantised model or a GGUF version of it";

std::vector<float> to_floats(const TensorView& view, const std::string& name) {
    std::vector<float> values(view.bytes.size() / std::max<std::size_t>(1, dtype_size(view.dtype)));
    at::ScalarType type = at::kFloat;
    if (view.dtype == DType::bf16)
        type = at::kBFloat16;
    else if (view.dtype == DType::f16)
        type = at::kHalf;
    else if (view.dtype != DType::f32)
        throw Error(ErrorCode::unsupported,
                    "scales stored as " + std::string(dtype_name(view.dtype))
                        + ", needed F32, F16 or BF16; " + instead,
                    printable(name));
    void* bytes = const_cast<std::byte*>(view.bytes.data()); // only read
    const auto count = static_cast<std::int64_t>(values.size());
    at::from_blob(values.data(), {count}, at::kFloat)
        .copy_(at::from_blob(bytes, {count}, at::TensorOptions().dtype(type)));
    return values;
}

std::int64_t blocks(std::int64_t size, std::int64_t block) {
    return (size + block - 1) / block;
}

} // namespace

bool is_float8(DType dtype) noexcept {
    return dtype == DType::f8_e4m3 || dtype == DType::f8_e5m2;
}

std::vector<std::int64_t> float8_block_size(const ModelFolder& folder) {
    const json config = json::parse(folder.config_json(), nullptr, false);
    if (!config.is_object())
        return {};
    const auto settings = config.find("quantization_config");
    if (settings == config.end() || !settings->is_object())
        return {};
    const auto size = settings->find("weight_block_size");
    if (size == settings->end() || size->is_null())
        return {};
    std::vector<std::int64_t> result;
    if (size->is_array() && size->size() == 2)
        for (const json& n : *size)
            if (n.is_number_integer() && n >= 1 && n <= (1 << 20))
                result.push_back(n.get<std::int64_t>());
    if (result.size() != 2)
        throw Error(ErrorCode::bad_value, "weight_block_size needs two positive numbers",
                    folder.path().string());
    return result;
}

Float8Scales find_float8_scales(const ModelFolder& folder, const std::string& name,
                                const std::vector<std::int64_t>& block_size) {
    const TensorView& weight = folder.require_tensor(name);
    Float8Scales found;
    for (std::string_view suffix : {inverse_scale, plain_scale})
        if (!found.scales)
            found.scales = folder.find_tensor(name + std::string(suffix));
    if (!found.scales)
        throw Error(ErrorCode::unsupported,
                    std::string("FP8 weight without ") + name.substr(name.rfind('.') + 1)
                        + "_scale_inv or _scale: not to be read as plain numbers; " + instead,
                    printable(name));
    if (weight.shape.size() != 2)
        throw Error(ErrorCode::unsupported, std::string("FP8 weight that is no matrix; ") + instead,
                    printable(name));
    const std::int64_t rows = weight.shape[0], columns = weight.shape[1];
    const std::vector<std::int64_t>& shape = found.scales->shape;
    const auto has_shape = [&](std::int64_t a, std::int64_t b) {
        return shape == std::vector<std::int64_t>{a, b};
    };
    const std::int64_t block_rows = block_size.empty() ? 128 : block_size[0];
    const std::int64_t block_columns = block_size.empty() ? 128 : block_size[1];
    const bool one = std::ranges::all_of(shape, [](std::int64_t n) { return n == 1; });
    const bool by_row = has_shape(rows, 1) || shape == std::vector<std::int64_t>{rows};
    if (has_shape(blocks(rows, block_rows), blocks(columns, block_columns))) {
        found.block_rows = block_rows;
        found.block_columns = block_columns;
    } else if (one) {
        found.block_rows = std::max<std::int64_t>(rows, 1);
        found.block_columns = std::max<std::int64_t>(columns, 1);
    } else if (by_row) {
        found.block_rows = 1;
        found.block_columns = std::max<std::int64_t>(columns, 1);
    } else {
        throw Error(ErrorCode::bad_value,
                    "FP8 weight [" + std::to_string(rows) + ", " + std::to_string(columns)
                        + "]: its scales fit neither blocks of " + std::to_string(block_rows)
                        + " x " + std::to_string(block_columns) + " nor rows nor the whole weight",
                    printable(name));
    }
    return found;
}

void read_float8(const ModelFolder& folder, const std::string& name,
                 const std::vector<std::int64_t>& block_size, at::Tensor& out) {
    const TensorView& weight = folder.require_tensor(name);
    const Float8Scales found = find_float8_scales(folder, name, block_size);
    const std::vector<float> scales = to_floats(*found.scales, name);
    const std::int64_t rows = weight.shape[0], columns = weight.shape[1];
    // Whole rows of blocks at a time, so that float32 of all of it is never there.
    const std::int64_t step = found.block_rows * blocks(64, found.block_rows);
    const std::int64_t scale_columns = blocks(columns, found.block_columns);
    for (std::int64_t first = 0; first < rows; first += step) {
        const std::int64_t count = std::min(step, rows - first);
        TensorView part = weight;
        part.shape[0] = count;
        part.bytes = weight.bytes.subspan(static_cast<std::size_t>(first * columns),
                                          static_cast<std::size_t>(count * columns));
        const std::span<const float> part_scales(
            scales.data() + first / found.block_rows * scale_columns,
            static_cast<std::size_t>(blocks(count, found.block_rows) * scale_columns));
        const at::Tensor wide = at::empty({count, columns}, at::kFloat);
        decode_float8(part, part_scales, found.block_rows, found.block_columns,
                      std::span(wide.data_ptr<float>(), static_cast<std::size_t>(wide.numel())));
        out.narrow(0, first, count).copy_(wide);
    }
}

void check_scaled_weights(const ModelFolder& folder, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        if (is_float8(folder.require_tensor(name).dtype) && name.ends_with(".weight"))
            find_float8_scales(folder, name, float8_block_size(folder));
        for (std::string_view suffix : {inverse_scale, plain_scale}) {
            if (!name.ends_with(".weight" + std::string(suffix)))
                continue;
            const std::string weight = name.substr(0, name.size() - suffix.size());
            const TensorView* scaled = folder.find_tensor(weight);
            if (!scaled || !is_float8(scaled->dtype))
                throw Error(ErrorCode::unsupported,
                            "quantised checkpoint (tensor " + printable(name, 120)
                                + ", and its weight is no FP8): not supported; " + instead,
                            folder.path().string());
        }
    }
}

} // namespace cuset
