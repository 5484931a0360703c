#include "core/train/adapted_linear.h"

#include "core/model/matrix_product.h"

namespace cuset {

void AdaptedLinear::refresh(const Parameters& parameters, const at::TensorOptions& options) {
    if (parts.empty())
        return;
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
    const Linear& base = *linear;
    at::Tensor y = at::empty({x.size(0), base.weight.size(0)}, x.options());
    if (base.bias.defined())
        y.copy_(base.bias.expand_as(y));
    std::vector<MatrixTerm> terms{{x, weight().t()}};
    if (adapted && !parts.empty()) {
        const at::Tensor input = drops(segments) ? dropout(x, *segments, number, dropout_share) : x;
        terms.push_back({matrix_product(input, a_.t()), b_.t()});
    }
    matrix_product(terms, y, base.bias.defined());
    return y;
}

at::Tensor AdaptedLinear::backward(const at::Tensor& x, const at::Tensor& dy,
                                   const std::vector<Segment>* segments,
                                   const Parameters& parameters, bool needs_input) const {
    if (weight_gradient.defined())
        matrix_product({{dy.t(), x}}, weight_gradient, true);
    if (bias_gradient.defined())
        bias_gradient.add_(at::sum(dy, {0}, false, at::kFloat));
    at::Tensor dx = needs_input ? at::empty_like(x) : at::Tensor();
    if (parts.empty()) {
        if (needs_input)
            matrix_product({{dy, weight()}}, dx);
        return dx;
    }
    const at::Tensor dlow = matrix_product(dy, b_);
    add_gradients(x, dy, dlow, segments, parameters);
    if (!needs_input)
        return dx;
    if (!drops(segments)) {
        matrix_product({{dy, weight()}, {dlow, a_}}, dx);
        return dx;
    }
    matrix_product({{dy, weight()}}, dx);
    add_dropout(matrix_product(dlow, a_), *segments, number, dropout_share, dx);
    return dx;
}

void AdaptedLinear::add_gradients(const at::Tensor& x, const at::Tensor& dy, const at::Tensor& dlow,
                                  const std::vector<Segment>* segments,
                                  const Parameters& parameters) const {
    const at::Tensor input = drops(segments) ? dropout(x, *segments, number, dropout_share) : x;
    const at::Tensor low = matrix_product(input, a_.t()); // scales included
    const auto wide = at::TensorOptions().dtype(at::kFloat).device(x.device());
    const at::Tensor db = at::empty({low.size(1), dy.size(1)}, wide);
    const at::Tensor da = at::empty({dlow.size(1), x.size(1)}, wide);
    matrix_product({{low.t(), dy}}, db);
    matrix_product({{dlow.t(), input}}, da);
    std::int64_t row = 0;
    for (const AdapterPart& part : parts) {
        parameters.gradient(part.b).add_(
            db.narrow(0, row, part.rank).narrow(1, part.begin, part.end - part.begin).t());
        parameters.gradient(part.a).add_(da.narrow(0, row, part.rank), part.scale);
        row += part.rank;
    }
}

} // namespace cuset
