# SPDX-License-Identifier: Apache-2.0
# The packages that a library may name in an `external` line of its deps file.
#
# weftline_find_external(<name>) makes the target weftline_external::<name>. The installed CMake
# package uses this same file to find again what a static library needs at link time.

# Seen in public headers, so passed on to whoever links the library.
set(WEFTLINE_PUBLIC_EXTERNALS tl dlpack)
# Headers only and private: nothing is left to find once the library is built.
set(WEFTLINE_BUILD_ONLY_EXTERNALS rapidjson)
# Private code that a program links together with the library.
set(WEFTLINE_LINKED_EXTERNALS absl sodium cudart)

function(weftline_find_external name)
  set(target weftline_external::${name})
  if(TARGET ${target})
    return()
  endif()
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)  # each library finds in its own folder, all link
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  if(name STREQUAL "tl")
    find_package(tl-expected CONFIG REQUIRED)
    target_link_libraries(${target} INTERFACE tl::expected)
  elseif(name STREQUAL "dlpack")
    find_package(dlpack CONFIG REQUIRED)
    target_link_libraries(${target} INTERFACE dlpack::dlpack)
  elseif(name STREQUAL "rapidjson")
    find_package(RapidJSON CONFIG REQUIRED)
    target_include_directories(${target} SYSTEM INTERFACE ${RAPIDJSON_INCLUDE_DIRS})
  elseif(name STREQUAL "sodium")
    find_package(sodium MODULE REQUIRED)
    target_link_libraries(${target} INTERFACE sodium::sodium)
  elseif(name STREQUAL "absl")
    weftline_link_abseil(${target})
  elseif(name STREQUAL "cudart")
    find_package(CUDAToolkit REQUIRED)
    target_link_libraries(${target} INTERFACE CUDA::cudart_static)
    foreach(dir IN LISTS CUDAToolkit_INCLUDE_DIRS)
      if(EXISTS "${dir}/cccl")  # from toolkit 13 on, cuda::stream_ref lives here
        target_include_directories(${target} SYSTEM INTERFACE "${dir}/cccl")
      endif()
    endforeach()
  else()
    message(FATAL_ERROR "Unknown external '${name}'. Known: ${WEFTLINE_PUBLIC_EXTERNALS};"
      "${WEFTLINE_BUILD_ONLY_EXTERNALS};${WEFTLINE_LINKED_EXTERNALS}. "
      "Add it to cmake/WeftlineExternals.cmake and third_party/README.md.")
  endif()
endfunction()

# Debian's package config names the shared objects; the archives beside them start on a machine
# without Abseil, so they are taken where they exist.
function(weftline_link_abseil target)
  find_package(absl CONFIG REQUIRED)
  find_package(Threads REQUIRED)
  target_include_directories(${target} SYSTEM INTERFACE
    $<TARGET_PROPERTY:absl::base,INTERFACE_INCLUDE_DIRECTORIES>)
  get_filename_component(config_dir "${absl_CONFIG}" DIRECTORY)
  get_filename_component(library_dir "${config_dir}/../.." ABSOLUTE)
  file(GLOB archives "${library_dir}/libabsl_*.a")
  if(archives)
    list(JOIN archives "," archives)
    target_link_libraries(${target} INTERFACE "$<LINK_GROUP:RESCAN,${archives}>" Threads::Threads)
  else()
    target_link_libraries(${target} INTERFACE absl::int128 absl::strings absl::synchronization
      absl::flat_hash_map absl::flat_hash_set absl::btree absl::inlined_vector absl::fixed_array)
  endif()
endfunction()
