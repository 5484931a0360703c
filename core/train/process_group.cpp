#include "core/train/process_group.h"

#include <algorithm>

namespace cuset {
namespace {

class SingleRank : public ProcessGroup {
public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    std::string set_device(at::Device) override { return {}; }
    void all_reduce(at::Tensor&) override { }
    void broadcast(at::Tensor&) override { }
    std::vector<std::string> gather(const std::string& text) override { return {text}; }
    std::unique_ptr<GradientReducer> make_reducer(const std::vector<at::Tensor>&) override {
        return nullptr;
    }
    void report_failure(const Error&) noexcept override { }
    void report_stop() noexcept override { }
};

} // namespace

void ProcessGroup::all_reduce(std::span<double> sums) {
    if (size() == 1)
        return;
    at::Tensor all = at::empty({static_cast<std::int64_t>(sums.size())}, at::kDouble);
    std::copy(sums.begin(), sums.end(), all.data_ptr<double>());
    all_reduce(all);
    std::copy_n(all.data_ptr<double>(), sums.size(), sums.begin());
}

std::string ProcessGroup::broadcast(const std::string& text) {
    if (size() == 1)
        return text;
    at::Tensor length = at::full({1}, static_cast<std::int64_t>(text.size()), at::kLong);
    broadcast(length);
    std::string all(static_cast<std::size_t>(length.item<std::int64_t>()), '\0');
    if (leads())
        all = text;
    if (all.empty())
        return all;
    at::Tensor bytes =
        at::from_blob(all.data(), {static_cast<std::int64_t>(all.size())}, at::kByte);
    broadcast(bytes);
    return all;
}

void ProcessGroup::barrier() {
    double nothing = 0;
    all_reduce(std::span(&nothing, 1));
}

std::unique_ptr<ProcessGroup> open_process_group() {
    const RankEnvironment environment = rank_environment();
    return environment.size == 1 ? single_rank() : connect_ranks(environment);
}

std::unique_ptr<ProcessGroup> single_rank() {
    return std::make_unique<SingleRank>();
}

} // namespace cuset
