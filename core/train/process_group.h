// The ranks of a run: data-parallel training over LibTorch's c10d. Started by torchrun, by srun, or
// with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set by hand. Sees torch; c10d's own headers
// stay in process_group_gloo.cpp.
#pragma once

#include <memory>
#include <span>

#include "core/model/torch_pch.h"

namespace cuset {

class ProcessGroup {
public:
    virtual ~ProcessGroup() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    // Sums over all ranks, in place; every rank must call it. Throws Error(failure) if a rank is
    // lost.
    virtual void all_reduce(at::Tensor& sum) = 0;
    void all_reduce(std::span<double> sums);
    bool leads() const { return rank() == 0; }
};

// What the environment says; a single rank without it. `device` is where tensors will be. Throws
// Error: usage (an incomplete environment), unsupported (built without c10d), failure (the other
// ranks cannot be reached).
std::unique_ptr<ProcessGroup> open_process_group(at::Device device);

// RANK and WORLD_SIZE, or SLURM's, before anything is connected; 0 and 1 without them.
struct RankEnvironment {
    int rank = 0, size = 1, local_rank = 0;
};
RankEnvironment rank_environment();

// Ranks over LibTorch's Gloo back end, process_group_gloo.cpp (without Gloo's headers process_group_none.cpp, which refuses).
// GPU tensors go through host memory.
std::unique_ptr<ProcessGroup> connect_gloo(const RankEnvironment& environment);

} // namespace cuset
