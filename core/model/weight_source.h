// WeightSource: a checkpoint's tensors by their Hugging Face names, whatever file they are in. Sees
// torch.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/model_config.h"
#include "core/model/torch_pch.h"

namespace cuset {

class GgufFile;
class ModelFolder;

class WeightSource {
public:
    virtual ~WeightSource() = default;
    virtual std::optional<std::vector<std::int64_t>> find_shape(const std::string& name) const = 0;
    // Converts the tensor into `out`: contiguous, on the processor, of the tensor's shape and a
    // floating type. The tensor must be there. Throws Error(unsupported) for a type that is not a
    // floating one.
    virtual void read(const std::string& name, at::Tensor& out) const = 0;
    // The type that most weights are stored as, e.g. "BF16", "Q4_1".
    virtual std::string stored_dtype() const = 0;
    virtual std::string subject() const = 0;
    // Calls see(name, type and shape as text, bytes) for each tensor in a fixed order.
    using Visitor =
        std::function<void(const std::string&, const std::string&, std::span<const std::byte>)>;
    virtual void visit(const Visitor& see) const = 0;
};

// The folder or file must outlive the source. Throws Error(unsupported) for quantised checkpoints.
std::unique_ptr<WeightSource> open_weights(const ModelFolder& folder);
std::unique_ptr<WeightSource> open_weights(const GgufFile& file, const ModelConfig& config);

// The pages of a mapped file that were read are dropped from this process; the kernel keeps the
// file cached.
void drop_pages(std::span<const std::byte> bytes);

} // namespace cuset
