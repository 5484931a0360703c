#include "core/model/device_info.h"

#include <cpuid.h>
#include <dlfcn.h>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <thread>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/model/cuda_driver.h"
#include "core/model/host_memory.h"

namespace cuset {
namespace {

struct CpuIdentity {
    bool bfloat16 = false, amx = false, amd = false;
    std::string name;
};

CpuIdentity identify_cpu() {
    CpuIdentity cpu;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0, &a, &b, &c, &d)) {
        std::array<char, 12> vendor;
        std::memcpy(vendor.data(), &b, 4);
        std::memcpy(vendor.data() + 4, &d, 4);
        std::memcpy(vendor.data() + 8, &c, 4);
        cpu.amd = std::string_view(vendor.data(), vendor.size()) == "AuthenticAMD";
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
        cpu.amx = (d >> 22 & 1u) != 0 && (d >> 24 & 1u) != 0;
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d))
        cpu.bfloat16 = (a >> 5 & 1u) != 0;
    cpu.bfloat16 = cpu.bfloat16 || cpu.amx;
    for (unsigned leaf = 0x80000002u; leaf <= 0x80000004u; ++leaf)
        if (__get_cpuid(leaf, &a, &b, &c, &d))
            for (unsigned word : {a, b, c, d})
                cpu.name.append(reinterpret_cast<const char*>(&word), 4);
    cpu.name = cpu.name.c_str(); // ends at the first NUL
    return cpu;
}

const CpuIdentity& cpu_identity() {
    static const CpuIdentity identity = identify_cpu();
    return identity;
}

// Beside libtorch_cpu.so; "" if it is not there.
std::string cuda_library_path() {
    Dl_info info{};
    if (!dladdr(reinterpret_cast<void*>(&at::get_num_threads), &info) || !info.dli_fname)
        return "";
    const auto path = std::filesystem::path(info.dli_fname).parent_path() / "libtorch_cuda.so";
    std::error_code error;
    return std::filesystem::exists(path, error) ? path.string() : "";
}

// Once; nothing may ask torch for CUDA before, since torch remembers the first answer.
void open_cuda_library() {
    const std::string path = cuda_library_path();
    if (path.empty())
        throw Error(ErrorCode::no_device,
                    "LibTorch's CUDA library is not installed; run packaging/setup --cuda", "cuda");
    // It registers its kernels when it is loaded, and stays.
    if (!dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
        const char* reason = dlerror();
        throw Error(ErrorCode::no_device,
                    "cannot load LibTorch's CUDA library: "
                        + printable(reason ? reason : "unknown", 400)
                        + "; run packaging/setup --cuda",
                    path);
    }
    if (!at::hasCUDA())
        throw Error(ErrorCode::no_device, "LibTorch's CUDA library found no device", path);
}

void load_cuda_library() {
    static const bool loaded = (open_cuda_library(), true);
    static_cast<void>(loaded);
}

DeviceInfo cpu_device() {
    DeviceInfo info;
    info.name = "cpu";
    info.description = cpu_identity().name + ", "
        + std::to_string(std::thread::hardware_concurrency()) + " threads";
    const HostMemory memory = host_memory();
    info.total_bytes = memory.total_bytes;
    info.free_bytes = memory.free_bytes;
    info.bfloat16 = cpu_has_bfloat16();
    return info;
}

int cuda_index(const std::string& name) {
    if (name == "cuda")
        return 0;
    int index = -1;
    const char* end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + 5, end, index);
    if (parsed.ec != std::errc() || parsed.ptr != end || index < 0)
        throw Error(ErrorCode::usage,
                    "unknown device '" + printable(name, 40) + "'; use auto, cpu, cuda or cuda:N");
    return index;
}

ChosenDevice choose_cuda(const std::string& name) {
    const int index = cuda_index(name);
    const std::vector<DeviceInfo> devices = cuda_devices();
    if (devices.empty())
        throw Error(
            ErrorCode::no_device,
            "no CUDA device is there (no NVIDIA driver, or it shows no device); use --device cpu",
            name);
    if (static_cast<std::size_t>(index) >= devices.size())
        throw Error(
            ErrorCode::no_device,
            "there are " + std::to_string(devices.size()) + " CUDA devices, numbered from 0", name);
    load_cuda_library();
    return {true, index, devices[static_cast<std::size_t>(index)]};
}

} // namespace

bool cpu_has_bfloat16() {
    return cpu_identity().bfloat16;
}

bool cpu_has_amx() {
    return cpu_identity().amx;
}

bool cpu_is_amd() {
    return cpu_identity().amd;
}

ChosenDevice choose_device(const std::string& name) {
    if (name == "cpu")
        return {false, 0, cpu_device()};
    if (name == "auto") {
        const bool cuda = !cuda_devices().empty() && !cuda_library_path().empty();
        return cuda ? choose_cuda("cuda:0") : ChosenDevice{false, 0, cpu_device()};
    }
    if (name.starts_with("cuda:") || name == "cuda")
        return choose_cuda(name);
    throw Error(ErrorCode::usage,
                "unknown device '" + printable(name, 40) + "'; use auto, cpu, cuda or cuda:N");
}

std::string choose_dtype(const std::string& name, const DeviceInfo& device) {
    if (name == "float32" || name == "bfloat16" || name == "float16")
        return name;
    if (name != "auto")
        throw Error(ErrorCode::usage,
                    "unknown dtype '" + printable(name, 40)
                        + "'; use auto, float32, bfloat16 or float16");
    if (device.bfloat16)
        return "bfloat16";
    return device.name == "cpu" ? "float32" : "float16";
}

void configure_compute(const ChosenDevice& device, int threads) {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    at::set_num_threads(threads > 0 ? threads : static_cast<int>(cores));
    // MKL leaves half of an AMD processor's speed; "medium" sends float32 products to oneDNN, which
    // stays in true float32 unless the processor has AMX.
    const bool one_dnn = !device.cuda && cpu_is_amd() && !cpu_has_amx();
    at::globalContext().setFloat32MatmulPrecision(one_dnn ? "medium" : "highest");
}

std::vector<DeviceInfo> list_devices() {
    std::vector<DeviceInfo> devices{cpu_device()};
    if (!cuda_library_path().empty())
        for (DeviceInfo& device : cuda_devices())
            devices.push_back(std::move(device));
    return devices;
}

std::string torch_version() {
    return TORCH_VERSION;
}

} // namespace cuset
