// model.safetensors.index.json: which shard holds which tensor.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cuset {

// Tensor name -> shard file name. Every shard name is a plain file name: one component that cannot
// leave the folder. Throws Error: bad_format (not JSON, no weight_map, a key twice, nested too
// deep), bad_value (a shard name that is a path), unsupported (a pickle shard), with subject
// `file`.
std::map<std::string, std::string, std::less<>> parse_shard_index(std::string_view text,
                                                                  const std::string& file);

} // namespace cuset
