#include "core/train/parameters.h"

#include <cmath>

namespace cuset {

std::size_t Parameters::add(std::vector<std::int64_t> shape) {
    std::int64_t size = 1;
    for (const std::int64_t n : shape)
        size *= n;
    slots_.push_back({count_, std::move(shape)});
    count_ += size;
    return slots_.size() - 1;
}

void Parameters::allocate(at::Device device) {
    const auto options = at::TensorOptions().dtype(at::kFloat).device(device);
    values_ = at::zeros({count_}, options);
    gradients_ = at::zeros({count_}, options);
    first_moment_ = at::zeros({count_}, options);
    second_moment_ = at::zeros({count_}, options);
}

at::Tensor Parameters::view(const at::Tensor& flat, std::size_t slot) const {
    const Slot& s = slots_[slot];
    std::int64_t size = 1;
    for (const std::int64_t n : s.shape)
        size *= n;
    return flat.narrow(0, s.offset, size).view(s.shape);
}

double Parameters::clip(double max_norm) {
    const double norm = at::linalg_vector_norm(gradients_).item<double>();
    // As torch.nn.utils.clip_grad_norm_.
    if (max_norm > 0 && norm > 0 && std::isfinite(norm)) {
        const double factor = max_norm / (norm + 1e-6);
        if (factor < 1)
            gradients_.mul_(factor);
    }
    return norm;
}

void Parameters::adam_step(const AdamSettings& settings, double learning_rate,
                           std::int64_t updates) {
    const auto t = static_cast<double>(updates);
    const double correction1 = 1 - std::pow(settings.beta1, t);
    const double correction2 = 1 - std::pow(settings.beta2, t);
    values_.mul_(1 - learning_rate * settings.weight_decay);
    first_moment_.lerp_(gradients_, 1 - settings.beta1);
    second_moment_.mul_(settings.beta2).addcmul_(gradients_, gradients_, 1 - settings.beta2);
    const at::Tensor scale =
        second_moment_.sqrt().div_(std::sqrt(correction2)).add_(settings.epsilon);
    values_.addcdiv_(first_moment_, scale, -learning_rate / correction1);
}

} // namespace cuset
