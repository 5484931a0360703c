// The ranks of a run: data-parallel work over LibTorch's c10d. Started by torchrun, by srun, or
// with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set by hand. Gloo carries what lies in host
// memory, NCCL what lies on GPUs. Sees torch; c10d's own headers stay in process_group_c10d.cpp
// and, in a library of its own that is loaded where there are GPUs, nccl_backend.cpp.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/model/torch_pch.h"
#include "core/train/rank_environment.h"

namespace cuset {

// Sums gradients over the ranks in buckets, while the backward pass still computes the others.
class GradientReducer {
public:
    using Ready = std::function<void(std::size_t)>;
    virtual ~GradientReducer() = default;
    // The last backward pass of a step; every rank once a step. `pass` calls what it is given with
    // the number of each gradient that is complete on this rank; those it never names are complete
    // when it returns. Afterwards the gradients hold the sums over the ranks.
    virtual void backward(const std::function<void(const Ready&)>& pass) = 0;
};

// Every rank must make the same calls in the same order. All of them throw Error if a rank was lost
// or ended with an error of its own: with that rank's number, its message and its code; Cancelled
// if it was stopped.
class ProcessGroup {
public:
    virtual ~ProcessGroup() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    bool leads() const { return rank() == 0; }

    // Where gradients will be, before the first of them is reduced. Returns why NCCL is not used on
    // a GPU, or "".
    virtual std::string set_device(at::Device device) = 0;
    // Sums over all ranks, in place. Contiguous.
    virtual void all_reduce(at::Tensor& sum) = 0;
    void all_reduce(std::span<double> sums);
    // Rank 0's value on all ranks, in place. Contiguous, of one shape everywhere.
    virtual void broadcast(at::Tensor& value) = 0;
    std::string broadcast(const std::string& text); // any length
    // Each rank's text at rank 0, in the order of the ranks; empty elsewhere.
    virtual std::vector<std::string> gather(const std::string& text) = 0;
    void barrier();
    // `gradients`, in the order in which they become complete, are reduced in place. Null where
    // they are better summed at once: with one rank, or on a GPU without NCCL.
    virtual std::unique_ptr<GradientReducer>
    make_reducer(const std::vector<at::Tensor>& gradients) = 0;

    // Tells the others why this rank ends, so that they end too; the first one to say so counts.
    virtual void report_failure(const Error& error) noexcept = 0;
    virtual void report_stop() noexcept = 0;
};

// What the environment says; a single rank without it. Waits for the others, five minutes at most.
// Throws Error: usage (an incomplete environment), unsupported (built without c10d), failure (ranks
// cannot be reached; names them).
std::unique_ptr<ProcessGroup> open_process_group();
// One rank, whatever the environment says.
std::unique_ptr<ProcessGroup> single_rank();

// Runs `work` as one of the ranks: what it throws is told to the others before it goes on.
template <class F> auto with_ranks(ProcessGroup& group, F work) {
    try {
        return work();
    } catch (const Cancelled&) {
        group.report_stop();
        throw;
    } catch (const Error& error) {
        group.report_failure(error);
        throw;
    } catch (const std::exception& error) {
        group.report_failure(Error(ErrorCode::failure, error.what()));
        throw;
    }
}

// Ranks over c10d (process_group_c10d.cpp; without Gloo's headers process_group_none.cpp, which
// refuses).
std::unique_ptr<ProcessGroup> connect_ranks(const RankEnvironment& environment);

} // namespace cuset
