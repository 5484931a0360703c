// LibTorch's parallel_for is a template of its headers: built without OpenMP it is one thread's.
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/model/cpu_elements.h"

namespace cuset {
namespace {

TEST(ForEachPart, RunsOnSeveralThreads) {
    const int before = at::get_num_threads();
    at::set_num_threads(2);
    std::mutex mutex;
    std::set<std::thread::id> threads;
    cpu::for_each_part(16, 1, [&](std::int64_t, std::int64_t) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const std::lock_guard lock(mutex);
        threads.insert(std::this_thread::get_id());
    });
    at::set_num_threads(before);
    EXPECT_EQ(threads.size(), 2u);
}

TEST(ForEachPart, VisitsEachElementOnce) {
    for (const std::int64_t count : {0, 1, 7, 16, 1000})
        for (const std::int64_t part : {1, 3, 100}) {
            std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
            cpu::for_each_part(count, part, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i)
                    ++visits[static_cast<std::size_t>(i)];
            });
            for (const auto& visit : visits)
                EXPECT_EQ(visit, 1);
        }
}

} // namespace
} // namespace cuset
