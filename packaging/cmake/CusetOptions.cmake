# Compiler settings that every target of ours shares: link to cuset::options.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # A precompiled header takes part in ccache's key only with these settings (its manual, "Precompiled headers").
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
endif()

add_library(cuset_options INTERFACE)
add_library(cuset::options ALIAS cuset_options)
target_include_directories(cuset_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(cuset_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                               -Wno-sign-conversion -fstack-protector-strong)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Warns falsely about string concatenation (GCC's bug 105651).
  target_compile_options(cuset_options INTERFACE -Wno-restrict)
endif()
target_compile_definitions(cuset_options INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
if(CUSET_WERROR)
  target_compile_options(cuset_options INTERFACE -Werror)
endif()

set(CUSET_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")
if(CUSET_SANITIZE)
  add_compile_options(-fsanitize=${CUSET_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CUSET_SANITIZE})
endif()

# cuset_room(NAME SOURCES... LINKS ROOMS... LIBRARIES PRIVATE_LIBRARIES...)
# One folder of core as a static library: the layering of the rooms is what they link to.
function(cuset_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ROOMS;LIBRARIES" ${ARGN})
  add_library(cuset_${name} STATIC ${ARG_SOURCES})
  add_library(cuset::${name} ALIAS cuset_${name})
  target_link_libraries(cuset_${name} PUBLIC ${ARG_ROOMS} PRIVATE cuset::options ${ARG_LIBRARIES})
  target_include_directories(cuset_${name} PUBLIC ${CMAKE_SOURCE_DIR})
endfunction()
