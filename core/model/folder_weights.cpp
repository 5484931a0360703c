// WeightSource of a Hugging Face folder's safetensors files.
#include <map>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/model_folder.h"
#include "core/model/float8_weights.h"
#include "core/model/model_support.h"
#include "core/model/weight_source.h"

namespace cuset {
namespace {

std::optional<at::ScalarType> floating_type(DType dtype) {
    switch (dtype) {
    case DType::f32:
        return at::kFloat;
    case DType::f16:
        return at::kHalf;
    case DType::bf16:
        return at::kBFloat16;
    case DType::f64:
        return at::kDouble;
    default:
        return std::nullopt;
    }
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (std::int64_t n : shape)
        text += (text.empty() ? "" : ", ") + std::to_string(n);
    return "[" + text + "]";
}

class FolderWeights : public WeightSource {
public:
    explicit FolderWeights(const ModelFolder& folder)
        : folder_(folder)
        , names_(folder.tensor_names())
        , float8_block_(float8_block_size(folder)) {
        refuse_quantized_tensors(names_, subject());
        check_scaled_weights(folder, names_);
    }

    std::optional<std::vector<std::int64_t>> find_shape(const std::string& name) const override {
        const TensorView* view = folder_.find_tensor(name);
        return view ? std::optional(view->shape) : std::nullopt;
    }

    void read(const std::string& name, at::Tensor& out) const override {
        const TensorView& view = folder_.require_tensor(name);
        if (is_float8(view.dtype)) {
            read_float8(folder_, name, float8_block_, out);
            drop_pages(view.bytes);
            return;
        }
        const auto type = floating_type(view.dtype);
        if (!type)
            throw Error(ErrorCode::unsupported,
                        "stored as " + std::string(dtype_name(view.dtype))
                            + ", needed F32, F16, BF16 or scaled FP8; use the unquantised model or "
                              "a GGUF version",
                        printable(name));
        // from_blob takes no const pointer; the copy only reads.
        void* bytes = const_cast<std::byte*>(view.bytes.data());
        out.copy_(at::from_blob(bytes, out.sizes(), at::TensorOptions().dtype(*type)));
        drop_pages(view.bytes);
    }

    std::string stored_dtype() const override {
        std::map<std::string, std::size_t> bytes;
        for (const std::string& name : names_) {
            const TensorView& view = folder_.require_tensor(name);
            bytes[std::string(dtype_name(view.dtype))] += view.bytes.size();
        }
        std::string most;
        for (const auto& [name, count] : bytes)
            if (most.empty() || count > bytes[most])
                most = name;
        return most;
    }

    std::string subject() const override { return folder_.path().string(); }

    void visit(const Visitor& see) const override {
        for (const std::string& name : names_) {
            const TensorView& view = folder_.require_tensor(name);
            see(name, std::string(dtype_name(view.dtype)) + shape_text(view.shape), view.bytes);
        }
    }

private:
    const ModelFolder& folder_;
    std::vector<std::string> names_;
    std::vector<std::int64_t> float8_block_; // of quantization_config, or empty
};

} // namespace

std::unique_ptr<WeightSource> open_weights(const ModelFolder& folder) {
    return std::make_unique<FolderWeights>(folder);
}

} // namespace cuset
