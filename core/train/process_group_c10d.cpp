// The one file that sees c10d, whose headers are LibTorch's internal ones.
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "core/base/error.h"
#include "core/train/process_group.h"

namespace cuset {
namespace {

constexpr auto store_timeout = std::chrono::minutes(5);
constexpr auto collective_timeout = std::chrono::minutes(30); // a step of a large model on a slow rank

class GlooRanks : public ProcessGroup {
public:
    explicit GlooRanks(const RankEnvironment& environment)
        : rank_(environment.rank)
        , size_(environment.size) {
        guard([&] {
            c10d::TCPStoreOptions options;
            options.port = master_port();
            // torchrun's agent keeps the store itself; then rank 0 is a client too.
            const char* agent = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
            options.isServer = rank_ == 0 && !(agent && std::strcmp(agent, "True") == 0);
            options.timeout = store_timeout;
            auto store = c10::make_intrusive<c10d::TCPStore>(master_address(), options);
            // A restarted group must not meet the addresses of the one before it.
            const char* restart = std::getenv("TORCHELASTIC_RESTART_COUNT");
            auto own = c10::make_intrusive<c10d::PrefixStore>(
                std::string("cuset-") + (restart ? restart : "0"), store);
            auto gloo = c10d::ProcessGroupGloo::Options::create(collective_timeout);
            gloo->devices.push_back(c10d::ProcessGroupGloo::createDefaultDevice());
            group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(own, rank_, size_, gloo);
            at::Tensor ones = at::ones({1}, at::kDouble);
            reduce(ones);
            if (ones.item<double>() != size_)
                throw Error(ErrorCode::failure, "the ranks' first sum is wrong: LibTorch and Gloo's "
                                                "headers do not fit together");
        });
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void all_reduce(at::Tensor& sum) override {
        guard([&] {
            if (sum.is_cpu())
                return reduce(sum);
            at::Tensor host = sum.to(at::kCPU);
            reduce(host);
            sum.copy_(host);
        });
    }

private:
    void reduce(at::Tensor& sum) {
        std::vector<at::Tensor> tensors{sum};
        group_->allreduce(tensors)->wait();
    }

    template <class F> void guard(F work) const {
        try {
            work();
        } catch (const Error&) {
            throw;
        } catch (const std::exception& error) {
            throw Error(ErrorCode::failure,
                        std::string("rank ") + std::to_string(rank_) + " of "
                            + std::to_string(size_) + " lost the others: "
                            + std::string(error.what()).substr(0, 300),
                        "ranks");
        }
    }

    static std::string master_address() {
        const char* address = std::getenv("MASTER_ADDR");
        if (!address || !*address)
            throw Error(ErrorCode::usage, "is not set; it names the machine of rank 0",
                        "MASTER_ADDR");
        return address;
    }

    static std::uint16_t master_port() {
        const char* text = std::getenv("MASTER_PORT");
        const std::string word = text ? text : "29500";
        std::uint16_t port = 0;
        const auto parsed = std::from_chars(word.data(), word.data() + word.size(), port);
        if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size() || port == 0)
            throw Error(ErrorCode::usage, "is '" + word + "', needs a port number", "MASTER_PORT");
        return port;
    }

    int rank_, size_;
    c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

} // namespace

std::unique_ptr<ProcessGroup> connect_gloo(const RankEnvironment& environment) {
    return std::make_unique<GlooRanks>(environment);
}

} // namespace cuset
