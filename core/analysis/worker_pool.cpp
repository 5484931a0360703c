#include "core/analysis/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"

namespace cuset {

struct WorkerPool::Impl {
    std::mutex mutex;
    std::condition_variable wake, idle;
    std::uint64_t round = 0; // a new number wakes the workers
    int busy = 0; // workers that take part in this round
    bool ending = false;
    std::int64_t count = 0;
    const std::function<void(std::int64_t)>* body = nullptr;
    std::atomic<std::int64_t> next{0};
    std::exception_ptr failure;
    std::vector<std::jthread> workers;

    void drain() {
        for (;;) {
            const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
            if (i >= count)
                return;
            try {
                (*body)(i);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!failure)
                    failure = std::current_exception();
            }
        }
    }

    void work() {
        std::uint64_t seen = 0;
        for (;;) {
            {
                std::unique_lock lock(mutex);
                wake.wait(lock, [&] { return ending || round != seen; });
                if (ending)
                    return;
                seen = round;
                // Whoever comes too late is not waited for: on a busy machine that may take a
                // while.
                if (next.load(std::memory_order_relaxed) >= count)
                    continue;
                ++busy;
            }
            drain();
            const std::lock_guard lock(mutex);
            if (--busy == 0)
                idle.notify_one();
        }
    }

    void run(std::int64_t items, const std::function<void(std::int64_t)>& function) {
        if (workers.empty() || items <= 1) {
            serial_for(items, function);
            return;
        }
        {
            const std::lock_guard lock(mutex);
            count = items;
            body = &function;
            next = 0;
            failure = nullptr;
            ++round;
        }
        wake.notify_all();
        drain();
        std::unique_lock lock(mutex);
        idle.wait(lock, [&] { return busy == 0; });
        if (failure)
            std::rethrow_exception(failure);
    }
};

WorkerPool::WorkerPool(int threads)
    : impl_(std::make_unique<Impl>()) {
    if (threads < 0)
        throw Error(ErrorCode::bad_value,
                    "is " + std::to_string(threads) + ", needs 0 (all cores) or more", "threads");
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int wanted = threads == 0 ? cores : std::min(threads, cores);
    for (int i = 1; i < wanted; ++i)
        impl_->workers.emplace_back([impl = impl_.get()] { impl->work(); });
}

WorkerPool::~WorkerPool() {
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->ending = true;
    }
    impl_->wake.notify_all();
}

int WorkerPool::threads() const {
    return static_cast<int>(impl_->workers.size()) + 1;
}

ParallelFor WorkerPool::parallel_for() {
    return [impl = impl_.get()](std::int64_t count,
                                const std::function<void(std::int64_t)>& function) {
        impl->run(count, function);
    };
}

} // namespace cuset
