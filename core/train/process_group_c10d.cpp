// The one file that sees c10d, whose headers are LibTorch's internal ones; nccl_backend.cpp, loaded
// at run time, is its part for GPUs.
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <c10/util/Logging.h>

#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/train/connections.h"
#include "core/train/process_group.h"
#include "core/train/rank_board.h"

namespace cuset {
namespace {

using Store = c10::intrusive_ptr<c10d::Store>;

constexpr auto connect_timeout = std::chrono::minutes(5);

// torchrun's agent keeps the store itself; then rank 0 is a client too.
bool keeps_store(const RankEnvironment& environment) {
    return environment.rank == 0 && !environment.agent_keeps_store;
}

// c10d's TCPStore, of which each group of ranks has its own part.
class TcpRankStore : public RankStore {
public:
    explicit TcpRankStore(const RankEnvironment& environment) {
        c10d::TCPStoreOptions options;
        options.port = environment.master_port;
        options.isServer = keeps_store(environment);
        options.timeout = connect_timeout;
        options.waitWorkers = false;
        Store all = c10::make_intrusive<c10d::TCPStore>(environment.master_address, options);
        // A restarted group must not meet what the one before it left.
        store_ = c10::make_intrusive<c10d::PrefixStore>(
            "cuset-" + std::to_string(environment.restarts), all);
    }
    const Store& store() const { return store_; }

    void put(const std::string& key, const std::string& text) override {
        store_->set(key, std::vector<std::uint8_t>(text.begin(), text.end()));
    }
    void put_first(const std::string& key, const std::string& text) override {
        store_->compareSet(key, std::string(), text);
    }
    std::optional<std::string> find(const std::string& key) override {
        if (!store_->check({key}))
            return std::nullopt;
        const auto bytes = store_->get(key);
        return std::string(bytes.begin(), bytes.end());
    }

private:
    Store store_;
};

// NCCL's back end from its own library beside the program; null with the reason in `note` if it is
// not there.
c10::intrusive_ptr<c10d::Backend> load_nccl(const Store& store, const RankEnvironment& environment,
                                            std::string& note) {
    std::error_code ignored;
    const auto path =
        std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "libcuset_nccl.so";
    void* library = dlopen(path.c_str(), RTLD_NOW);
    if (!library) {
        const char* reason = dlerror();
        note = "NCCL is not used (" + printable(reason ? reason : "unknown", 300)
            + "); gradients are summed through host memory";
        return {};
    }
    using Make = c10d::Backend* (*)(const Store&, int, int, std::int64_t);
    const auto make = reinterpret_cast<Make>(dlsym(library, "cuset_make_nccl_backend"));
    if (!make) {
        note = path.string() + " is not this program's; gradients are summed through host memory";
        return {};
    }
    return c10::intrusive_ptr<c10d::Backend>::reclaim(
        make(store, environment.rank, environment.size, environment.timeout.count()));
}

// Adds over the ranks; the default hook would divide by their number.
class SumHook : public c10d::CppCommHookInterface<c10::intrusive_ptr<c10d::ProcessGroup>> {
public:
    using CppCommHookInterface::CppCommHookInterface;
    c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
        std::vector<at::Tensor> tensors{bucket.getBufferRef()};
        return state_->allreduce(tensors)->getFuture();
    }
};

class C10dRanks : public ProcessGroup {
public:
    explicit C10dRanks(const RankEnvironment& environment)
        : environment_(environment) { }
    ~C10dRanks() override {
        // A group that lost a rank is not taken down in order: its threads may wait for that rank
        // until the time is over, and the process ends anyway.
        if (lost_) {
            static_cast<void>(gloo_.release());
            static_cast<void>(nccl_.release());
            static_cast<void>(group_.release());
        }
    }

    int rank() const override { return environment_.rank; }
    int size() const override { return environment_.size; }

    std::string set_device(at::Device device) override {
        std::string note;
        if (device.is_cuda())
            guard([&] {
                nccl_ = load_nccl(c10::make_intrusive<c10d::PrefixStore>("nccl", store_->store()),
                                  environment_, note);
                if (nccl_)
                    group_->setBackend(at::kCUDA, c10d::ProcessGroup::NCCL, nccl_);
            });
        return note;
    }

    void all_reduce(at::Tensor& sum) override {
        guard([&] { by_way_of_host(sum, [&](auto& on, auto& t) { on.allreduce(t)->wait(); }); });
    }

    void broadcast(at::Tensor& value) override {
        guard([&] { by_way_of_host(value, [&](auto& on, auto& t) { on.broadcast(t)->wait(); }); });
    }

    std::vector<std::string> gather(const std::string& text) override {
        std::vector<double> lengths(static_cast<std::size_t>(size()));
        lengths[static_cast<std::size_t>(rank())] = static_cast<double>(text.size());
        ProcessGroup::all_reduce(std::span(lengths));
        std::vector<std::string> texts;
        guard([&] {
            const auto tensors = [](std::string& bytes) {
                return std::vector<at::Tensor>{at::from_blob(
                    bytes.data(), {static_cast<std::int64_t>(bytes.size())}, at::kByte)};
            };
            if (!leads()) {
                std::string copy = text;
                std::vector<at::Tensor> sent = tensors(copy);
                if (!copy.empty())
                    gloo_->send(sent, 0, 0)->wait();
                return;
            }
            texts.push_back(text);
            for (int from = 1; from < size(); ++from) {
                texts.emplace_back(
                    static_cast<std::size_t>(lengths[static_cast<std::size_t>(from)]), '\0');
                std::vector<at::Tensor> received = tensors(texts.back());
                if (!texts.back().empty())
                    gloo_->recv(received, from, 0)->wait();
            }
        });
        return texts;
    }

    std::unique_ptr<GradientReducer>
    make_reducer(const std::vector<at::Tensor>& gradients) override;

    void report_failure(const Error& error) noexcept override {
        end(false, error.code(), error.what());
    }
    void report_stop() noexcept override { end(true, ErrorCode::failure, "stopped"); }

    const c10::intrusive_ptr<c10d::ProcessGroup>& group() const { return group_; }

    // A failure of c10d is a lost rank.
    template <class F> void guard(F work) {
        try {
            work();
        } catch (const Error&) {
            throw;
        } catch (const Cancelled&) {
            throw;
        } catch (const std::exception& error) {
            lost_ = true;
            board_->explain(error.what());
        }
    }

    void connect() {
        try {
            store_.emplace(environment_);
            board_.emplace(*store_, environment_.rank, environment_.size);
        } catch (const std::exception& error) {
            throw Error(ErrorCode::failure,
                        "the store of the ranks at " + printable(environment_.master_address, 200)
                            + ":" + std::to_string(environment_.master_port) + " cannot be "
                            + (keeps_store(environment_) ? "opened: " : "reached: ")
                            + std::string(error.what()).substr(0, 300),
                        "rank " + std::to_string(rank()) + " of " + std::to_string(size()));
        }
        with_ranks(*this, [&] { meet(); });
    }

private:
    void meet() {
        guard([&] {
            board_->meet();
            auto options = c10d::ProcessGroupGloo::Options::create(connect_timeout);
            const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
            options->devices.push_back(
                interface && *interface ? c10d::ProcessGroupGloo::createDeviceForInterface(
                    interface)
                                        : c10d::ProcessGroupGloo::createDefaultDevice());
            gloo_ = c10::make_intrusive<c10d::ProcessGroupGloo>(store_->store(), rank(), size(),
                                                                options);
            gloo_->setTimeout(std::chrono::milliseconds(environment_.timeout));
            group_ = c10::make_intrusive<c10d::ProcessGroup>(store_->store(), rank(), size());
            group_->setBackend(at::kCPU, c10d::ProcessGroup::GLOO,
                               c10::static_intrusive_pointer_cast<c10d::Backend>(gloo_));
            group_->setDefaultBackend(c10d::ProcessGroup::GLOO);
            // Gloo's headers come from the distribution, its code from LibTorch.
            at::Tensor ones = at::ones({1}, at::kDouble);
            by_way_of_host(ones, [&](auto& on, auto& t) { on.allreduce(t)->wait(); });
            if (ones.item<double>() != size())
                throw Error(ErrorCode::failure,
                            "the ranks' first sum is wrong: LibTorch and Gloo's headers do not fit "
                            "together");
        });
    }

    void end(bool stopped, ErrorCode code, const std::string& message) noexcept {
        board_->post_end(stopped, code, message);
        if (keeps_store(environment_)) {
            shut_down_connections(environment_.master_port); // wakes those that wait for this rank
            board_->wait_until_known();
        }
        lost_ = true;
    }

    template <class Call> void by_way_of_host(at::Tensor& tensor, Call call) {
        const bool host = tensor.is_cpu() || !nccl_;
        std::vector<at::Tensor> tensors{host ? tensor.to(at::kCPU) : tensor};
        if (host)
            call(static_cast<c10d::Backend&>(*gloo_), tensors);
        else
            call(*nccl_, tensors);
        if (host && !tensor.is_cpu())
            tensor.copy_(tensors[0]);
    }

    RankEnvironment environment_;
    std::optional<TcpRankStore> store_;
    std::optional<RankBoard> board_;
    c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo_;
    c10::intrusive_ptr<c10d::Backend> nccl_; // null: everything goes through host memory
    c10::intrusive_ptr<c10d::ProcessGroup> group_;
    bool lost_ = false;
};

// A step of autograd that does something: c10d::Reducer works only while autograd runs.
struct Pass : torch::autograd::Node {
    std::function<void()> work;
    torch::autograd::variable_list apply(torch::autograd::variable_list&&) override {
        work();
        return {};
    }
};

// Nodes of the graph are shared pointers up to LibTorch 2.11 or so, intrusive ones later.
template <class Node> auto make_node() {
    if constexpr (std::is_base_of_v<std::enable_shared_from_this<torch::autograd::Node>, Node>)
        return std::make_shared<Node>();
    else
        return c10::make_intrusive<Node>();
}

// c10d::Reducer, the engine of PyTorch's DistributedDataParallel, told by our own backward pass
// which gradients are complete. Its parameters are stand-ins over the gradients' memory: it looks
// at their shapes and their `grad` only.
class BucketReducer : public GradientReducer {
public:
    BucketReducer(C10dRanks& ranks, const std::vector<at::Tensor>& gradients)
        : ranks_(ranks)
        , done_(gradients.size(), true) {
        std::vector<at::Tensor> parameters;
        for (const at::Tensor& gradient : gradients) {
            at::Tensor stand_in =
                at::from_blob(gradient.data_ptr(), gradient.sizes(), gradient.options());
            stand_in.set_requires_grad(true);
            stand_in.mutable_grad() = gradient;
            parameters.push_back(stand_in);
        }
        const std::vector<std::size_t> limits{c10d::kDefaultFirstBucketBytes,
                                              c10d::kDefaultBucketBytesCap};
        auto [buckets, sizes] = c10d::compute_bucket_assignment_by_size(parameters, limits);
        reducer_ = std::make_unique<c10d::Reducer>(
            parameters, buckets, ranks.group(), std::vector<bool>(parameters.size(), false),
            c10d::kDefaultBucketBytesCap, false, false,
            std::unordered_map<std::size_t, std::string>{}, c10d::kDefaultFirstBucketBytes, false,
            false, std::vector<std::int64_t>{});
        reducer_->register_comm_hook(std::make_unique<SumHook>(ranks.group()));
        // The buckets for good: which elements are summed together must not depend on whether a run
        // was resumed.
        reducer_->push_rebuilt_params_for_all_indices();
        reducer_->rebuild_buckets();
    }

    void backward(const std::function<void(const Ready&)>& pass) override {
        std::exception_ptr own; // not a lost rank's doing
        ranks_.guard([&] {
            done_.assign(done_.size(), false);
            reducer_->prepare_for_backward({});
            auto node = make_node<Pass>();
            node->work = [&] {
                try {
                    pass([&](std::size_t index) { complete(index); });
                } catch (...) {
                    own = std::current_exception();
                    throw;
                }
                for (std::size_t i = 0; i < done_.size(); ++i)
                    if (!done_[i])
                        complete(i);
            };
            const at::Tensor one = at::ones({1});
            node->add_input_metadata(one);
            try { // waits for the sums before it returns
                torch::autograd::Engine::get_default_engine().execute(
                    {torch::autograd::Edge(node, 0)}, {one}, false, false, true, {});
            } catch (...) {
                if (!own)
                    throw;
            }
        });
        if (own)
            std::rethrow_exception(own);
    }

private:
    void complete(std::size_t index) {
        done_[index] = true;
        ranks_.guard([&] { reducer_->autograd_hook(index); });
    }

    C10dRanks& ranks_;
    std::vector<bool> done_;
    std::unique_ptr<c10d::Reducer> reducer_;
};

std::unique_ptr<GradientReducer> C10dRanks::make_reducer(const std::vector<at::Tensor>& gradients) {
    if (!gradients.front().is_cpu() && !nccl_)
        return nullptr;
    std::unique_ptr<GradientReducer> reducer;
    guard([&] { reducer = std::make_unique<BucketReducer>(*this, gradients); });
    return reducer;
}

} // namespace

std::unique_ptr<ProcessGroup> connect_ranks(const RankEnvironment& environment) {
    // c10d writes each lost connection with its stack to standard error; ours is one line.
    FLAGS_caffe2_log_level = c10::GLOG_ERROR;
    auto ranks = std::make_unique<C10dRanks>(environment);
    ranks->connect();
    return ranks;
}

} // namespace cuset
