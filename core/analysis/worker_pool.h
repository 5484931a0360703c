// WorkerPool: a few threads that a program owns and lends to an analyzer through ParallelFor.
#pragma once

#include <memory>

#include "core/analysis/parallel_for.h"

namespace cuset {

class WorkerPool {
public:
    // `threads` >= 1 counts the calling thread; more than the machine's cores are not started.
    // 0 takes all cores. Throws Error(bad_value) if negative.
    explicit WorkerPool(int threads);
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    int threads() const;
    // One caller at a time. The pool must outlive what this returns.
    ParallelFor parallel_for();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace cuset
