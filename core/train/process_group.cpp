#include "core/train/process_group.h"

#include <charconv>
#include <cstdlib>
#include <string>

#include "core/base/error.h"

namespace cuset {
namespace {

class SingleRank : public ProcessGroup {
public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    void all_reduce(at::Tensor&) override { }
};

// The value of the first variable that is set, or -1.
int number_of(std::initializer_list<const char*> names) {
    for (const char* name : names) {
        const char* text = std::getenv(name);
        if (!text || !*text)
            continue;
        int value = -1;
        const std::string word(text);
        const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
        if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size() || value < 0)
            throw Error(ErrorCode::usage, "is '" + word + "', needs a whole number", name);
        return value;
    }
    return -1;
}

} // namespace

RankEnvironment rank_environment() {
    RankEnvironment environment;
    const int size = number_of({"WORLD_SIZE"}), rank = number_of({"RANK"});
    // SLURM sets its variables in every job; they count only where srun started several tasks.
    const int slurm_size = number_of({"SLURM_NTASKS"}), slurm_rank = number_of({"SLURM_PROCID"});
    if (size > 0 || rank >= 0) {
        if (size < 1 || rank < 0 || rank >= size)
            throw Error(ErrorCode::usage,
                        "RANK and WORLD_SIZE must both be set, with 0 <= RANK < WORLD_SIZE");
        environment.size = size;
        environment.rank = rank;
    } else if (slurm_size > 1 && slurm_rank >= 0 && slurm_rank < slurm_size
               && std::getenv("SLURM_STEP_ID")) {
        environment.size = slurm_size;
        environment.rank = slurm_rank;
    }
    const int local = number_of({"LOCAL_RANK", "SLURM_LOCALID"});
    environment.local_rank = local > 0 ? local : 0;
    return environment;
}

void ProcessGroup::all_reduce(std::span<double> sums) {
    if (size() == 1)
        return;
    at::Tensor all = at::empty({static_cast<std::int64_t>(sums.size())}, at::kDouble);
    std::copy(sums.begin(), sums.end(), all.data_ptr<double>());
    all_reduce(all);
    std::copy_n(all.data_ptr<double>(), sums.size(), sums.begin());
}

std::unique_ptr<ProcessGroup> open_process_group(at::Device) {
    const RankEnvironment environment = rank_environment();
    if (environment.size == 1)
        return std::make_unique<SingleRank>();
    return connect_gloo(environment);
}

} // namespace cuset
