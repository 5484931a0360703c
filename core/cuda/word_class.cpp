#include "core/cuda/word_class.h"

#include <unordered_map>

namespace cuset::cuda_scan {

namespace {

using WordMap = std::unordered_map<std::string_view, Word>;

struct WordList {
    Word word;
    std::string_view members; // separated by single blanks
};

constexpr WordList lists[] = {
    {Word::qualifier,
     "const constexpr consteval constinit volatile static inline register mutable virtual friend "
     "typename "
     "struct class union enum signed __restrict__ __restrict restrict __forceinline__ __noinline__ "
     "__inline__ __inline thread_local typedef __host__ extern __grid_constant__ __inline_hint__ "
     "explicit"},
    {Word::integer_type,
     "int unsigned long short char size_t ptrdiff_t ssize_t auto int8_t int16_t int32_t int64_t "
     "uint8_t "
     "uint16_t uint32_t uint64_t uint ushort ulong uchar u32 i32 u64 i64 index_t idx_t int2 int3 "
     "int4 "
     "uint2 uint3 uint4 intptr_t uintptr_t"},
    {Word::other_type,
     "float double void bool half __half half2 __half2 __nv_bfloat16 nv_bfloat16 __nv_bfloat162 "
     "float2 "
     "float3 float4 double2 double4 bfloat16 wchar_t"},
    {Word::cast, "reinterpret_cast static_cast const_cast dynamic_cast"},
    {Word::flow,
     "return else do case goto throw new delete co_return co_await co_yield default break continue "
     "using "
     "namespace sizeof alignof typeid and or not this"},
    {Word::control, "if for while switch catch"},
    {Word::attribute,
     "__attribute__ __attribute __declspec alignas __align__ decltype noexcept requires "
     "__nv_pure__ "
     "static_assert __typeof__ typeof"},
    {Word::launch_bounds,
     "__launch_bounds__ __cluster_dims__ __block_size__ __maxnreg__ "
     "__amdgpu_flat_work_group_size__"},
    {Word::access, "public private protected"},
    {Word::operator_word, "operator"},
    {Word::template_word, "template"},
    {Word::asm_word, "asm __asm __asm__"},
    {Word::integer_math,
     "min max abs std int umin umax __mul24 __umul24 __popc __ffs __clz make_int2"},
    {Word::global_space, "__global__"},
    {Word::device_space, "__device__"},
    {Word::shared_space, "__shared__"},
    {Word::constant_space, "__constant__ __managed__"},
    {Word::index_vector, "threadIdx blockIdx blockDim gridDim"},
    {Word::index_value,
     "warpSize hipThreadIdx_x hipThreadIdx_y hipThreadIdx_z hipBlockIdx_x hipBlockIdx_y "
     "hipBlockIdx_z "
     "hipBlockDim_x hipBlockDim_y hipBlockDim_z hipGridDim_x hipGridDim_y hipGridDim_z"},
    {Word::index_call, "__lane_id lane_id warp_id"},
    {Word::index_method,
     "thread_rank thread_index group_index block_rank block_index meta_group_rank dim_threads "
     "dim_blocks "
     "cluster_block_rank num_threads num_blocks meta_group_size group_dim"},
    {Word::sync_call,
     "__syncthreads __syncthreads_count __syncthreads_and __syncthreads_or __syncwarp "
     "__threadfence "
     "__threadfence_block __threadfence_system __barrier_sync __barrier_sync_count "
     "__pipeline_commit "
     "__pipeline_wait_prior __cluster_barrier_arrive __cluster_barrier_wait barrier_sync "
     "wait_prior "
     "cudaDeviceSynchronize cudaStreamSynchronize cudaThreadSynchronize cudaStreamWaitEvent "
     "cudaStreamQuery cuCtxSynchronize cuStreamSynchronize cuStreamWaitEvent atomic_thread_fence "
     "hipDeviceSynchronize hipStreamSynchronize hipStreamWaitEvent cudaGridDependencySynchronize "
     "cp_async_wait_all cp_async_wait_group cp_async_commit_group cp_async_wait cp_async_commit "
     "cp_async_fence __sync_warp mbarrier_wait fence_barrier_init"},
    {Word::sync_method,
     "sync arrive_and_wait arrive_and_drop arrive producer_acquire producer_commit consumer_wait "
     "consumer_release barrier_arrive barrier_wait arrive_tx"},
    {Word::sync_type, "cudaEvent_t CUevent hipEvent_t barrier pipeline_shared_state"},
    {Word::atomic_call,
     "atomicAdd atomicSub atomicExch atomicMin atomicMax atomicInc atomicDec atomicCAS atomicAnd "
     "atomicOr "
     "atomicXor unsafeAtomicAdd safeAtomicAdd"},
    {Word::atomic_method,
     "fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_min fetch_max compare_exchange_weak "
     "compare_exchange_strong"},
    {Word::atomic_type, "atomic_ref atomic"},
    {Word::warp_call,
     "__shfl __shfl_up __shfl_down __shfl_xor __shfl_sync __shfl_up_sync __shfl_down_sync "
     "__shfl_xor_sync "
     "__all __any __ballot __all_sync __any_sync __ballot_sync __uni_sync __activemask "
     "__match_any_sync "
     "__match_all_sync __reduce_add_sync __reduce_min_sync __reduce_max_sync __reduce_and_sync "
     "__reduce_or_sync __reduce_xor_sync load_matrix_sync store_matrix_sync mma_sync fill_fragment "
     "__vote_sync elect_one_sync"},
    {Word::warp_method, "shfl shfl_up shfl_down shfl_xor ballot match_any match_all any all"},
    {Word::warp_type, "fragment"},
    {Word::memory_call,
     "__ldg __ldcg __ldca __ldcs __ldlu __ldcv __stwb __stcg __stcs __stwt __pipeline_memcpy_async "
     "memcpy_async tex1D tex2D tex3D tex1Dfetch tex1DLayered tex2DLayered tex2Dgather texCubemap "
     "tex2DLod "
     "surf1Dread surf1Dwrite surf2Dread surf2Dwrite surf3Dread surf3Dwrite cp_async cp_async_bulk "
     "__builtin_nontemporal_load __builtin_nontemporal_store"},
    {Word::shared_call, "__cvta_generic_to_shared __isShared"},
    {Word::manage_call,
     "cudaHostAlloc cudaHostRegister cudaHostUnregister cudaHostGetDevicePointer "
     "cudaGetSymbolAddress "
     "cudaGetSymbolSize cudaStreamDestroy cudaStreamAttachMemAsync cudaDeviceSetLimit "
     "cudaCreateTextureObject cudaDestroyTextureObject cudaBindTexture cudaUnbindTexture "
     "hipHostMalloc hipHostFree hipHostRegister hipStreamDestroy hipGetSymbolAddress "
     "cuStreamDestroy cuStreamDestroy_v2 cudaPointerGetAttributes"},
    {Word::manage_type,
     "cudaStream_t CUstream hipStream_t device_vector cudaMemPool_t CUdeviceptr"},
    {Word::dim3_type, "dim3"},
    {Word::launch_config_type,
     "cudaLaunchConfig_t CUlaunchConfig cudaLaunchAttribute CUlaunchAttribute hipLaunchConfig_t"},
    {Word::launch_config_call,
     "cudaFuncSetAttribute cudaFuncSetCacheConfig cuFuncSetAttribute hipFuncSetAttribute "
     "cudaFuncSetSharedMemConfig"},
    {Word::launch_runtime,
     "cudaLaunchKernel cudaLaunchCooperativeKernel hipLaunchKernel hipLaunchCooperativeKernel "
     "cudaLaunchKernel_ptsz"},
    {Word::launch_ex, "cudaLaunchKernelEx cudaLaunchKernelExC cuLaunchKernelEx hipLaunchKernelExC"},
    {Word::launch_driver, "cuLaunchKernel cuLaunchCooperativeKernel hipModuleLaunchKernel"},
    {Word::launch_hip, "hipLaunchKernelGGL"},
};

WordMap make_map() {
    WordMap map;
    for (const WordList& list : lists) {
        std::size_t at = 0;
        while (at < list.members.size()) {
            std::size_t end = list.members.find(' ', at);
            if (end == std::string_view::npos)
                end = list.members.size();
            map.emplace(list.members.substr(at, end - at), list.word);
            at = end + 1;
        }
    }
    return map;
}

// Families of API names that are known by how they begin.
Word classify_family(std::string_view word) {
    const auto starts = [&](std::string_view head) { return word.starts_with(head); };
    if (starts("cudaEvent") || starts("hipEvent"))
        return word.ends_with("_t") || word.ends_with("Flags") ? Word::none : Word::sync_call;
    if (starts("cuEvent"))
        return Word::sync_call;
    for (std::string_view head :
         {"cudaMemcpy", "hipMemcpy", "cudaMalloc", "cudaFree", "cudaMemset", "cudaMemPrefetch",
          "cudaMemAdvise", "cudaMemPool", "cudaMemGetInfo", "cudaStreamCreate", "hipMalloc",
          "hipFree", "hipMemset", "hipMemPrefetch", "hipMemAdvise", "hipStreamCreate", "cuMem",
          "cuStreamCreate"})
        if (starts(head))
            return word.ends_with("_t") ? Word::none : Word::manage_call;
    if (starts("cudaOccupancy") || starts("cuOccupancy") || starts("hipOccupancy"))
        return Word::launch_config_call;
    return Word::none;
}

} // namespace

Word classify_word(std::string_view word) {
    static const WordMap map = make_map();
    if (const auto found = map.find(word); found != map.end())
        return found->second;
    for (std::string_view scope : {"_block", "_system"})
        if (word.starts_with("atomic") && word.ends_with(scope))
            if (const auto found = map.find(word.substr(0, word.size() - scope.size()));
                found != map.end())
                return found->second;
    const char first = word.empty() ? '\0' : word.front();
    return first == 'c' || first == 'h' ? classify_family(word) : Word::none;
}

} // namespace cuset::cuda_scan
