// What is trained, as one flat float32 vector with its gradient and AdamW's moments. Sees torch.
// AdamW: Loshchilov and Hutter, arXiv 1711.05101 (decoupled weight decay); torch.optim.AdamW's
// order of operations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/torch_pch.h"

namespace cuset {

struct AdamSettings {
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
};

class Parameters {
public:
    // Reserves room for a tensor; returns its number. Before allocate() only.
    std::size_t add(std::vector<std::int64_t> shape);
    void allocate(at::Device device);

    std::int64_t count() const { return count_; } // of scalars
    std::size_t slots() const { return slots_.size(); }
    at::Tensor value(std::size_t slot) const { return view(values_, slot); }
    at::Tensor gradient(std::size_t slot) const { return view(gradients_, slot); }
    // [count] each.
    const at::Tensor& values() const { return values_; }
    const at::Tensor& gradients() const { return gradients_; }
    const at::Tensor& first_moment() const { return first_moment_; }
    const at::Tensor& second_moment() const { return second_moment_; }

    void clear_gradients() { gradients_.zero_(); }
    // The L2 norm of all gradients, before they are scaled to at most `max_norm` (0: not at all).
    double clip(double max_norm);
    // One step; `updates` counts from 1.
    void adam_step(const AdamSettings& settings, double learning_rate, std::int64_t updates);

private:
    struct Slot {
        std::int64_t offset = 0;
        std::vector<std::int64_t> shape;
    };
    at::Tensor view(const at::Tensor& flat, std::size_t slot) const;

    std::vector<Slot> slots_;
    std::int64_t count_ = 0;
    at::Tensor values_, gradients_, first_moment_, second_moment_;
};

} // namespace cuset
