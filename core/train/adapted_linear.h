// A linear layer in training: frozen with LoRA branches beside it, or trained itself. Sees torch.
// LoRA: arXiv 2106.09685. The branches of layers that share an input (q, k, v; gate, up) share one
// product with A and one dropout mask.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/linear.h"
#include "core/train/parameters.h"
#include "core/train/quantized_matrix.h"
#include "core/train/training_ops.h"

namespace cuset {

// output[begin:end] += scale * B A dropout(x).
struct AdapterPart {
    std::string name; // of the checkpoint's layer
    std::int64_t begin = 0, end = 0; // output rows
    std::int64_t rank = 0;
    double scale = 1;
    std::size_t a = 0, b = 0; // slots in Parameters: [rank, in], [end - begin, rank]
};

class AdaptedLinear {
public:
    Linear* linear = nullptr;
    std::uint64_t number = 0; // of the layer, for its random numbers
    std::vector<AdapterPart> parts; // by begin
    double dropout_share = 0;
    QuantizedMatrix quantized; // in the place of the linear layer's weight, if defined
    at::Tensor weight_gradient, bias_gradient; // float32; defined if the layer itself is trained

    // Copies A and B into the compute type, after every change of the parameters.
    void refresh(const Parameters& parameters, const at::TensorOptions& options);

    // x [S, in] -> [S, out]. `segments` null: no dropout. `adapted` false: the untouched layer.
    at::Tensor forward(const at::Tensor& x, const std::vector<Segment>* segments,
                       bool adapted) const;
    // Adds the gradients of what is trained; returns that of x, or nothing if it is not needed.
    at::Tensor backward(const at::Tensor& x, const at::Tensor& dy,
                        const std::vector<Segment>* segments, const Parameters& parameters,
                        bool needs_input) const;

private:
    // Of A and B.
    void add_gradients(const at::Tensor& x, const at::Tensor& dy, const at::Tensor& dlow,
                       const std::vector<Segment>* segments, const Parameters& parameters) const;
    // [out, in] to compute with, for one product.
    at::Tensor weight() const { return quantized.defined() ? quantized.widened() : linear->weight; }
    bool drops(const std::vector<Segment>* segments) const { return segments && dropout_share > 0; }

    at::Tensor a_; // [R, in], scales folded in
    at::Tensor b_; // [out, R], block by block
};

} // namespace cuset
