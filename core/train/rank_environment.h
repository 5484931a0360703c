// Which rank of how many this process is, from the environment that torchrun, srun or a person set.
// Free of torch.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace cuset {

struct RankEnvironment {
    int rank = 0, size = 1;
    int local_rank = 0; // among the ranks of this machine: which GPU is its own
    int local_size = 1; // ranks of this machine, as far as the environment tells
    int restarts = 0; // of the whole group, by torchrun or Slurm: then a run goes on by itself
    std::string master_address; // of rank 0; empty with one rank
    std::uint16_t master_port = 29500;
    bool agent_keeps_store = false; // torchrun's agent does, else rank 0
    std::chrono::seconds timeout{1800}; // of one sum over the ranks: CUSET_RANK_TIMEOUT
};

// RANK and WORLD_SIZE (and LOCAL_RANK, MASTER_ADDR, MASTER_PORT, TORCHELASTIC_*), else SLURM's
// where srun started several tasks. Throws Error(usage): incomplete, or not numbers.
RankEnvironment rank_environment();

// What a rank computes with unless `asked` (0: not asked) says otherwise: with several ranks, its
// share of the machine's cores. 0 with one rank: all of them.
int threads_of_rank(const RankEnvironment& environment, int asked);

// The first host of Slurm's list of nodes, "node[07-12,20],other" -> "node07"; "" of "".
std::string first_slurm_host(const std::string& nodes);

} // namespace cuset
