#include "core/model/linear.h"

#include "core/model/matrix_product.h"

namespace cuset {

at::Tensor Linear::forward_base(const at::Tensor& x) const {
    return at::linear(x, weight, bias.defined() ? std::optional<at::Tensor>(bias) : std::nullopt);
}

at::Tensor Linear::forward(const at::Tensor& x, bool training) const {
    at::Tensor y = forward_base(x);
    for (const LowRankBranch& branch : branches) {
        const bool drop = training && branch.dropout > 0;
        const at::Tensor input = drop ? at::dropout(x, branch.dropout, true) : x;
        // The adapter may be kept in float32 beside bfloat16 weights.
        const at::Tensor low = at::linear(input.to(branch.a.scalar_type()), branch.a);
        const at::Tensor delta = at::linear(low, branch.b) * branch.scale;
        const at::Tensor part = y.narrow(-1, branch.begin, branch.end - branch.begin);
        const at::Tensor sum = part + delta.to(y.scalar_type());
        if (branch.end - branch.begin == y.size(-1)) {
            y = sum;
            continue;
        }
        y = at::cat(
            {y.narrow(-1, 0, branch.begin), sum, y.narrow(-1, branch.end, y.size(-1) - branch.end)},
            -1);
    }
    return y;
}

void Linear::forward_into(const at::Tensor& x, at::Tensor& out) const {
    linear_product(x, weight, bias, out);
    for (const LowRankBranch& branch : branches) {
        const at::Tensor low = at::mm(x.to(branch.a.scalar_type()), branch.a.t());
        const at::Tensor delta = at::mm(low, branch.b.t()).mul_(branch.scale);
        out.narrow(1, branch.begin, branch.end - branch.begin).add_(delta.to(out.scalar_type()));
    }
}

const LinearPart* Linear::find_part(const std::string& name) const {
    for (const LinearPart& part : parts)
        if (part.name == name)
            return &part;
    return nullptr;
}

} // namespace cuset
