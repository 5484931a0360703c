# Imports LibTorch from a folder that holds include/ and lib/ (a PyPI torch wheel's torch/ folder, or an
# unpacked libtorch). find_package(Torch) is not used: it fails on CMake 3.25 beside a CUDA 13 toolkit.
# Targets: torch::cpu (torch_cpu + c10). The CUDA library is found at run time, beside torch_cpu.

if(NOT CUSET_TORCH_DIR)
  if(DEFINED ENV{CUSET_TORCH_DIR})
    set(CUSET_TORCH_DIR $ENV{CUSET_TORCH_DIR})
  endif()
endif()
if(NOT EXISTS ${CUSET_TORCH_DIR}/include/ATen/ATen.h)
  message(FATAL_ERROR "LibTorch: no include/ATen/ATen.h in CUSET_TORCH_DIR='${CUSET_TORCH_DIR}'. "
                      "Run packaging/setup, or point CUSET_TORCH_DIR to a torch folder, "
                      "or build without the engine (-DCUSET_ENGINE=OFF -DCUSET_UI=OFF).")
endif()

foreach(library c10 torch_cpu)
  add_library(torch::${library} SHARED IMPORTED)
  set_target_properties(torch::${library} PROPERTIES
    IMPORTED_LOCATION ${CUSET_TORCH_DIR}/lib/lib${library}.so
    INTERFACE_INCLUDE_DIRECTORIES
      "${CUSET_TORCH_DIR}/include;${CUSET_TORCH_DIR}/include/torch/csrc/api/include")
endforeach()

add_library(torch_cpu_and_c10 INTERFACE)
add_library(torch::cpu ALIAS torch_cpu_and_c10)
target_link_libraries(torch_cpu_and_c10 INTERFACE torch::torch_cpu torch::c10)
# torch_cpu's own libraries (libgomp, CUPTI, the CUDA runtime) are found through its RPATH, so nothing of
# ours has to name them; the linker must not insist on resolving them.
target_link_options(torch_cpu_and_c10 INTERFACE -Wl,--allow-shlib-undefined)
# at::parallel_for is a template of LibTorch's headers: without OpenMP it runs everything on one thread, silently.
target_compile_options(torch_cpu_and_c10 INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp>)
target_link_options(torch_cpu_and_c10 INTERFACE -fopenmp)
