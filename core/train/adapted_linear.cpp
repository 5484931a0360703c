#include "core/train/adapted_linear.h"

namespace cuset {

void AdaptedLinear::refresh(const Parameters& parameters) {
    if (parts.empty())
        return;
    const auto options = linear->weight.options();
    std::int64_t rows = 0;
    for (const AdapterPart& part : parts)
        rows += part.rank;
    if (!a_.defined()) {
        a_ = at::zeros({rows, linear->weight.size(1)}, options);
        b_ = at::zeros({linear->weight.size(0), rows}, options);
    }
    std::int64_t row = 0;
    for (const AdapterPart& part : parts) {
        a_.narrow(0, row, part.rank).copy_(parameters.value(part.a) * part.scale);
        b_.narrow(0, part.begin, part.end - part.begin)
            .narrow(1, row, part.rank)
            .copy_(parameters.value(part.b));
        row += part.rank;
    }
}

at::Tensor AdaptedLinear::forward(const at::Tensor& x, const std::vector<Segment>* segments,
                                  bool adapted) const {
    at::Tensor y = linear->forward_base(x);
    if (!adapted || parts.empty())
        return y;
    const at::Tensor input = drops(segments) ? dropout(x, *segments, number, dropout_share) : x;
    return y.addmm_(at::mm(input, a_.t()), b_.t());
}

at::Tensor AdaptedLinear::backward(const at::Tensor& x, const at::Tensor& dy,
                                   const std::vector<Segment>* segments,
                                   const Parameters& parameters, bool needs_input) const {
    if (weight_gradient.defined())
        weight_gradient.add_(at::mm(dy.t(), x));
    if (bias_gradient.defined())
        bias_gradient.add_(at::sum(dy, {0}, false, at::kFloat));
    at::Tensor dx = needs_input ? at::mm(dy, linear->weight) : at::Tensor();
    if (parts.empty())
        return dx;
    const at::Tensor input = drops(segments) ? dropout(x, *segments, number, dropout_share) : x;
    const at::Tensor low = at::mm(input, a_.t()); // scales included
    const at::Tensor dlow = at::mm(dy, b_);
    const at::Tensor db = at::mm(dy.t(), low);
    const at::Tensor da = at::mm(dlow.t(), input);
    std::int64_t row = 0;
    for (const AdapterPart& part : parts) {
        parameters.gradient(part.b).add_(
            db.narrow(0, part.begin, part.end - part.begin).narrow(1, row, part.rank));
        parameters.gradient(part.a).add_(da.narrow(0, row, part.rank), part.scale);
        row += part.rank;
    }
    if (!needs_input)
        return dx;
    if (!drops(segments))
        return dx.addmm_(dlow, a_);
    return dx.add_(dropout(at::mm(dlow, a_), *segments, number, dropout_share));
}

} // namespace cuset
