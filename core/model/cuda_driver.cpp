#include "core/model/cuda_driver.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <string>

#include "core/base/message.h"

namespace cuset {
namespace {

// Signatures of the driver's C interface (CUDA Driver API, NVML), which is stable across releases.
using CuInit = int (*)(unsigned);
using CuDeviceGetCount = int (*)(int*);
using CuDeviceGet = int (*)(int*, int);
using CuDeviceGetName = int (*)(char*, int, int);
using CuDeviceTotalMem = int (*)(std::size_t*, int);
using CuDeviceGetAttribute = int (*)(int*, int, int);
using CuDeviceGetPciBusId = int (*)(char*, int, int);
constexpr int compute_capability_major = 75;

struct NvmlMemory {
    unsigned long long total, free, used;
};
using NvmlInit = int (*)();
using NvmlHandleByBusId = int (*)(const char*, void**);
using NvmlMemoryInfo = int (*)(void*, NvmlMemory*);

template <class F> F find(void* library, const char* name) {
    return reinterpret_cast<F>(dlsym(library, name));
}

// Free memory by NVML, which knows what other processes hold; 0 if it cannot tell.
std::uint64_t free_bytes(const char* bus_id) {
    static void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return 0;
    const auto init = find<NvmlInit>(library, "nvmlInit_v2");
    const auto handle = find<NvmlHandleByBusId>(library, "nvmlDeviceGetHandleByPciBusId_v2");
    const auto info = find<NvmlMemoryInfo>(library, "nvmlDeviceGetMemoryInfo");
    void* device = nullptr;
    NvmlMemory memory{};
    if (!init || !handle || !info || init() != 0 || handle(bus_id, &device) != 0
        || info(device, &memory) != 0)
        return 0;
    return memory.free;
}

DeviceInfo describe(void* library, int index, int device) {
    DeviceInfo info;
    info.name = "cuda:" + std::to_string(index);
    std::array<char, 256> name{};
    if (auto get = find<CuDeviceGetName>(library, "cuDeviceGetName"))
        get(name.data(), static_cast<int>(name.size()) - 1, device);
    std::size_t total = 0;
    if (auto get = find<CuDeviceTotalMem>(library, "cuDeviceTotalMem_v2"))
        get(&total, device);
    int major = 0;
    if (auto get = find<CuDeviceGetAttribute>(library, "cuDeviceGetAttribute"))
        get(&major, compute_capability_major, device);
    std::array<char, 64> bus_id{};
    if (auto get = find<CuDeviceGetPciBusId>(library, "cuDeviceGetPCIBusId"))
        get(bus_id.data(), static_cast<int>(bus_id.size()) - 1, device);
    info.total_bytes = total;
    const std::uint64_t free = free_bytes(bus_id.data());
    info.free_bytes = free > 0 ? free : info.total_bytes;
    info.bfloat16 = major >= 8;
    info.description = printable(name.data(), 100) + ", " + format_bytes(info.total_bytes);
    return info;
}

} // namespace

std::vector<DeviceInfo> cuda_devices() {
    std::error_code error;
    // Without the device node the driver's library would only be searched for in vain.
    if (!std::filesystem::exists("/dev/nvidiactl", error)
        && !std::filesystem::exists("/dev/dxg", error))
        return {};
    static void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return {};
    const auto init = find<CuInit>(library, "cuInit");
    const auto get_count = find<CuDeviceGetCount>(library, "cuDeviceGetCount");
    const auto get = find<CuDeviceGet>(library, "cuDeviceGet");
    int count = 0;
    if (!init || !get_count || !get || init(0) != 0 || get_count(&count) != 0)
        return {};
    std::vector<DeviceInfo> devices;
    for (int i = 0; i < count; ++i)
        if (int device = 0; get(&device, i) == 0)
            devices.push_back(describe(library, i, device));
    return devices;
}

} // namespace cuset
