// The CUDA-sensitive spans of a stretch of code: text whose correctness is tightly coupled with an
// execution constraint (Chen et al., Findings of EMNLP 2026, section 3), as an expert would mark
// it.
//
// Device code is the body of a kernel, of a `__device__` function or of a `__device__` lambda.
// Names are resolved by scope. The span of a call reaches from its name, with the `ns::` or object
// before it, to its `)`.
//
// | kind              | rule                                    | span |
// |-------------------|-----------------------------------------|------------------------------------------------|
// | memory_access     | subscript of a kernel pointer           | `p[i]`, all subscripts and
// members after it    | |                   | subscript of a device variable          | the same
// for a name that is not local          | |                   | subscript of a parameter's member
// | `args.p[i]`                                    | |                   | member through a pointer
// | `p->x`                                         | |                   | pointer dereference |
// `*p`, `*(p + i)`                               | |                   | access through a cast
// pointer           | `reinterpret_cast<float4*>(p)[i]`              | |                   | load,
// copy or texture function          | `__ldg(&x[i])`, `memcpy_async(...)`            | | | vector
// access macro                     | use of a macro that casts to a vector pointer  | |
// shared_memory     | shared memory declaration               | `extern __shared__ float s[];` with
// the `;`    | |                   | access of shared memory                 | `s[i][j]`, `*s`,
// casts of it, as above         | |                   | name of shared memory                   |
// `s` in any other use; pointers made from it    | |                   | shared address conversion
// | `__cvta_generic_to_shared(s)`                  | | thread_index      | thread index |
// `threadIdx.x`, `warpSize`, `__lane_id()`       | |                   | thread index of a group |
// `tile.thread_rank()`                           | |                   | index computed from thread
// indices      | declarator or assignment: `i = expression`     | |                   | variable
// derived from a thread index    | each later use of `i`                          | | | parameter
// named for a thread index      | `lane`, `tid` of a device function             | | | thread index
// macro                      | use of a macro made of thread indices          | | synchronization
// | barrier, fence or wait                  | `__syncthreads()`, `cudaDeviceSynchronize()`   | | |
// synchronisation method                  | `block.sync()`, `bar.arrive_and_wait()`        | | |
// event                                   | `cudaEventRecord(e)`, `cudaEvent_t a, b;`      | | |
// barrier declaration                     | `cuda::barrier<...> b;`                        | |
// launch_config     | launch configuration                    | `<<<` to `>>>`, arguments of the
// API's calls   | |                   | dim3 declaration                        | from the type to
// the `;`                       | |                   | dim3 assignment                         |
// `grid.x = n`                                   | |                   | dim3 value | `dim3(16,
// 16)`                                 | |                   | launch bounds |
// `__launch_bounds__(256)`, cluster dimensions   | |                   | launch attributes |
// cudaLaunchConfig_t and its members, occupancy  | | atomic            | atomic function |
// `atomicAdd(p, 1)`                              | |                   | atomic method |
// `a.fetch_add(1)`, `a.load()` of an atomic      | |                   | atomic declaration |
// `cuda::atomic_ref<int> a(x);`                  | | warp_intrinsic    | warp function | shuffles,
// votes, matches, reductions, wmma     | |                   | warp method of a group |
// `tile.shfl_down(v, 1)`                         | |                   | matrix fragment |
// `wmma::fragment<...> a;`                       | | memory_management | allocation, copy or stream
// | `cudaMalloc(...)`, `cudaStreamCreate(...)`     | |                   | stream or device
// container              | `cudaStream_t s;`                              | | by instruction    |
// PTX ...                                 | the asm statement if all its instructions are  | | | |
// of one kind, else each instruction             |
//
// A variable is derived from a thread index (warpSize alone is none) if its initialiser or a simple
// assignment to it holds one outside of subscripts and calls, its type can be an integer's, and the
// value is no comparison.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cuda/code_view.h"
#include "core/cuda/function_finder.h"
#include "core/cuda/scope_table.h"
#include "core/cuda/structure.h"

namespace cuset::cuda_scan {

// Macros of the file that stand for something sensitive, by name index.
struct MacroUses {
    MacroSet thread_index; // holds thread indices and no statement
    MacroSet vector_access; // casts its argument to a pointer to vectors
};
MacroUses find_macro_uses(const LexedSource& source);

// Appends to `out.spans` and `out.dim3`, and sets out.unfinished if the text ends within a
// declaration; unsorted. `launches` are those of `code`. `scopes` is cleared. Linear in tokens.
void find_sensitive_spans(const CodeView& code, const std::vector<DeviceFunction>& functions,
                          const std::vector<KernelLaunch>& launches, const MacroUses& macros,
                          ScopeTable& scopes, CudaStructure& out);

} // namespace cuset::cuda_scan
