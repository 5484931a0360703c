#include "core/train/rank_environment.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <thread>

#include "core/base/error.h"

namespace cuset {
namespace {

std::string text_of(const char* name) {
    const char* text = std::getenv(name);
    return text ? text : "";
}

// The value of the first variable that is set.
std::optional<int> number_of(std::initializer_list<const char*> names) {
    for (const char* name : names) {
        const std::string word = text_of(name);
        if (word.empty())
            continue;
        int value = -1;
        const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
        if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size() || value < 0)
            throw Error(ErrorCode::usage, "is '" + word + "', needs a whole number", name);
        return value;
    }
    return std::nullopt;
}

// "2(x3),1": two on each of three machines, one on another.
int leading_number(const std::string& text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

void find_local(RankEnvironment& environment) {
    environment.local_rank = number_of({"LOCAL_RANK", "SLURM_LOCALID"}).value_or(0);
    const std::string& master = environment.master_address;
    const bool one_machine = master == "localhost" || master == "127.0.0.1" || master == "::1";
    const int of_slurm = leading_number(text_of("SLURM_STEP_TASKS_PER_NODE"));
    environment.local_size = number_of({"LOCAL_WORLD_SIZE"})
                                 .value_or(of_slurm > 0      ? of_slurm
                                               : one_machine ? environment.size
                                                             : 1);
}

void find_master(RankEnvironment& environment, bool slurm) {
    environment.master_address = text_of("MASTER_ADDR");
    if (environment.master_address.empty() && slurm)
        environment.master_address = first_slurm_host(text_of("SLURM_STEP_NODELIST").empty()
                                                          ? text_of("SLURM_JOB_NODELIST")
                                                          : text_of("SLURM_STEP_NODELIST"));
    if (environment.master_address.empty())
        throw Error(ErrorCode::usage, "is not set; it names the machine of rank 0", "MASTER_ADDR");
    // Jobs of one machine must not meet at one port.
    const int of_job = slurm ? 20000 + number_of({"SLURM_JOB_ID"}).value_or(0) % 10000 : 29500;
    const int port = number_of({"MASTER_PORT"}).value_or(of_job);
    if (port < 1 || port > 65535)
        throw Error(ErrorCode::usage, "is " + std::to_string(port) + ", needs a port number",
                    "MASTER_PORT");
    environment.master_port = static_cast<std::uint16_t>(port);
}

} // namespace

std::string first_slurm_host(const std::string& nodes) {
    const std::size_t end = nodes.find_first_of("[,");
    std::string host = nodes.substr(0, end);
    if (end == std::string::npos || nodes[end] == ',')
        return host;
    const std::size_t close = nodes.find(']', end);
    host += nodes.substr(end + 1, nodes.find_first_of("-,]", end) - end - 1);
    if (close == std::string::npos)
        return host;
    const std::string_view rest = std::string_view(nodes).substr(close + 1);
    return host.append(rest.substr(0, rest.find(',')));
}

RankEnvironment rank_environment() {
    RankEnvironment environment;
    const auto size = number_of({"WORLD_SIZE"}), rank = number_of({"RANK"});
    // SLURM sets its variables in every job; they count only where srun started several tasks.
    const auto slurm_size = number_of({"SLURM_NTASKS"}), slurm_rank = number_of({"SLURM_PROCID"});
    bool slurm = false;
    if (size || rank) {
        if (!size || !rank || *rank >= *size)
            throw Error(ErrorCode::usage,
                        "RANK and WORLD_SIZE must both be set, with 0 <= RANK < WORLD_SIZE");
        environment.size = *size;
        environment.rank = *rank;
    } else if (slurm_size.value_or(1) > 1 && slurm_rank && *slurm_rank < *slurm_size
               && !text_of("SLURM_STEP_ID").empty()) {
        slurm = true;
        environment.size = *slurm_size;
        environment.rank = *slurm_rank;
    }
    environment.restarts =
        number_of({"TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT"}).value_or(0);
    if (environment.size == 1)
        return environment;
    environment.agent_keeps_store = text_of("TORCHELASTIC_USE_AGENT_STORE") == "True";
    if (const auto seconds = number_of({"CUSET_RANK_TIMEOUT"}))
        environment.timeout = std::chrono::seconds(*seconds);
    find_master(environment, slurm);
    find_local(environment);
    return environment;
}

int threads_of_rank(const RankEnvironment& environment, int asked) {
    if (asked > 0 || environment.size == 1)
        return asked;
    const auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    return std::max(1, cores / std::max(1, environment.local_size));
}

} // namespace cuset
