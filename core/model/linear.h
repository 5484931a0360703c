// Linear: one weight, or several that share an input fused into one product, with low-rank branches
// beside it. Sees torch: for this room and core/train only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/torch_pch.h"

namespace cuset {

// One of the checkpoint's linear layers within a fused product.
struct LinearPart {
    std::string name; // e.g. "model.layers.0.self_attn.q_proj"
    std::int64_t begin = 0; // output rows [begin, end)
    std::int64_t end = 0;
};

// LoRA (arXiv 2106.09685): output[begin:end] += scale * B A dropout(x).
struct LowRankBranch {
    std::int64_t begin = 0, end = 0; // output rows
    at::Tensor a; // [r, in]
    at::Tensor b; // [end - begin, r]
    double scale = 1;
    double dropout = 0; // only while training
};

class Linear {
public:
    at::Tensor weight; // [out, in]
    at::Tensor bias; // [out] or undefined
    std::vector<LinearPart> parts;
    std::vector<LowRankBranch> branches;

    // x [..., in] -> [..., out]; differentiable in x and in the branches.
    at::Tensor forward(const at::Tensor& x, bool training = false) const;
    // The same without branches: the untouched model.
    at::Tensor forward_base(const at::Tensor& x) const;
    // x [n, in] -> out [n, out], preallocated; for inference mode only.
    void forward_into(const at::Tensor& x, at::Tensor& out) const;
    const LinearPart* find_part(const std::string& name) const;
};

} // namespace cuset
