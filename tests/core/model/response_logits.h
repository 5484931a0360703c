// A response's whole rows of logits, which scoring never keeps: to show ties. Free of torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cuset::test {

// float32 on the processor, by the same layers that score: [T, V] for ids[response_begin:].
std::vector<std::vector<float>> response_logits(const std::string& model,
                                                const std::vector<std::int32_t>& ids,
                                                std::int32_t response_begin);

} // namespace cuset::test
