# SPDX-License-Identifier: Apache-2.0
# Language level, compiler cache, CUDA, sanitizers, and the flags of Weftline's own targets.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
find_package(Threads REQUIRED)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  find_program(WEFTLINE_CCACHE ccache)
  if(WEFTLINE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${WEFTLINE_CCACHE}")
    set(CMAKE_CUDA_COMPILER_LAUNCHER "${WEFTLINE_CCACHE}")
  endif()
endif()

# WEFTLINE_HAVE_CUDA: the CUDA backend is part of this build.
set(WEFTLINE_HAVE_CUDA OFF)
if(NOT WEFTLINE_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "WEFTLINE_CUDA is '${WEFTLINE_CUDA}'; use AUTO, ON or OFF.")
endif()
if(NOT WEFTLINE_CUDA STREQUAL "OFF")
  find_program(WEFTLINE_NVCC nvcc PATHS /usr/local/cuda/bin)
  if(NOT WEFTLINE_NVCC AND WEFTLINE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "WEFTLINE_CUDA is ON but nvcc was not found in PATH or /usr/local/cuda/bin. "
      "Install the CUDA Toolkit, or configure with -DWEFTLINE_CUDA=AUTO or OFF.")
  endif()
  if(WEFTLINE_NVCC AND NOT CMAKE_CUDA_ARCHITECTURES)
    # Machine code for one current device; PTX that any newer one compiles when it starts.
    set(CMAKE_CUDA_ARCHITECTURES "80-virtual;90-real")
  endif()
  if(WEFTLINE_NVCC AND NOT CMAKE_CUDA_COMPILER AND WEFTLINE_CUDA STREQUAL "AUTO")
    # enable_language() ends the configuration when nvcc refuses, the host compiler for instance.
    set(ENV{CUDACXX} "${WEFTLINE_NVCC}")
    include(CheckLanguage)
    check_language(CUDA)
    if(NOT CMAKE_CUDA_COMPILER)
      message(WARNING "${WEFTLINE_NVCC} cannot compile, so the CUDA backend is left out. "
        "CMakeFiles/CMakeError.log in the build folder says why; -DWEFTLINE_CUDA=OFF silences this.")
    endif()
  elseif(WEFTLINE_NVCC AND NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER "${WEFTLINE_NVCC}")
  endif()
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      # CMake 3.25 does not know yet that nvcc has C++20.
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(WEFTLINE_HAVE_CUDA ON)
  endif()
endif()
message(STATUS "Weftline: CUDA backend ${WEFTLINE_HAVE_CUDA}")

if(WEFTLINE_SANITIZE STREQUAL "address")
  set(sanitize_flags -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(WEFTLINE_SANITIZE STREQUAL "thread")
  set(sanitize_flags -fsanitize=thread)
elseif(WEFTLINE_SANITIZE)
  message(FATAL_ERROR "WEFTLINE_SANITIZE is '${WEFTLINE_SANITIZE}'; use address, thread or nothing.")
endif()
if(WEFTLINE_SANITIZE)
  add_compile_options(${sanitize_flags} -fno-omit-frame-pointer)
  add_link_options(${sanitize_flags})
endif()
if(WEFTLINE_PORTABLE_BINARIES)
  add_link_options(-static-libstdc++ -static-libgcc)
endif()

# Private flags of every target that is compiled from our own sources: warnings and hidden symbols.
function(weftline_private_flags target)
  set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(APPEND warnings -Wthread-safety)
  else()
    if(WEFTLINE_SANITIZE)
      # gcc's own manual: sanitizers make this warning see paths that do not exist (variants above all).
      list(APPEND warnings -Wno-maybe-uninitialized)
    endif()
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      list(APPEND warnings -Wno-restrict)  # false on a literal + std::string: GCC bug 105651
    endif()
  endif()
  if(WEFTLINE_WARNINGS_AS_ERRORS)
    list(APPEND warnings -Werror)
  endif()
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall>")
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET hidden
    CUDA_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
endfunction()
