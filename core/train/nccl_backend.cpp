// NCCL for process_group_c10d.cpp: a library of its own, since ProcessGroupNCCL lives in LibTorch's
// CUDA library, which the program loads only where a GPU is used. Built where that library and
// NCCL's header are there.
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include <chrono>
#include <cstdint>

// The caller owns the one reference that is returned. Throws what c10d throws.
extern "C" __attribute__((visibility("default"))) c10d::Backend*
cuset_make_nccl_backend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                        std::int64_t timeout_seconds) {
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = std::chrono::seconds(timeout_seconds);
    c10::intrusive_ptr<c10d::Backend> backend =
        c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, options);
    return backend.release();
}
