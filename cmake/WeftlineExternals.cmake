# SPDX-License-Identifier: Apache-2.0
# The packages that a library may name in an `external` line of its deps file.
#
# weftline_find_external(<name> [<found>]) makes the target weftline_external::<name>. Where the package
# is missing, <found> is false; without <found>, the configuration ends. The installed CMake package
# uses this same file to find again what a static library needs at link time.

# Seen in public headers, so passed on to whoever links the library.
set(WEFTLINE_PUBLIC_EXTERNALS tl dlpack)
# Headers only and private: nothing is left to find once the library is built.
set(WEFTLINE_BUILD_ONLY_EXTERNALS rapidjson)
# Private code that a program links together with the library.
set(WEFTLINE_LINKED_EXTERNALS absl sodium cudart)

function(weftline_find_external name)
  set(target weftline_external::${name})
  set(how REQUIRED)
  if(ARGC GREATER 1)
    set(how QUIET)
    set(${ARGV1} TRUE PARENT_SCOPE)
  endif()
  if(TARGET ${target})
    return()
  endif()
  set(package_of_tl tl-expected CONFIG)
  set(package_of_dlpack dlpack CONFIG)
  set(package_of_rapidjson RapidJSON CONFIG)
  set(package_of_sodium sodium MODULE)
  set(package_of_absl absl CONFIG)
  set(package_of_cudart CUDAToolkit MODULE)
  if(NOT DEFINED package_of_${name})
    message(FATAL_ERROR "Unknown external '${name}'. Known: ${WEFTLINE_PUBLIC_EXTERNALS};"
      "${WEFTLINE_BUILD_ONLY_EXTERNALS};${WEFTLINE_LINKED_EXTERNALS}. "
      "Add it to cmake/WeftlineExternals.cmake and third_party/README.md.")
  endif()
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)  # each library finds in its own folder, all link
  find_package(${package_of_${name}} ${how})
  list(GET package_of_${name} 0 package)
  if(NOT ${package}_FOUND)
    set(${ARGV1} FALSE PARENT_SCOPE)
    return()
  endif()

  add_library(${target} INTERFACE IMPORTED GLOBAL)
  if(name STREQUAL "tl")
    target_link_libraries(${target} INTERFACE tl::expected)
  elseif(name STREQUAL "dlpack")
    target_link_libraries(${target} INTERFACE dlpack::dlpack)
  elseif(name STREQUAL "rapidjson")
    target_include_directories(${target} SYSTEM INTERFACE ${RAPIDJSON_INCLUDE_DIRS})
  elseif(name STREQUAL "sodium")
    target_link_libraries(${target} INTERFACE sodium::sodium)
  elseif(name STREQUAL "absl")
    weftline_link_abseil(${target})
  elseif(name STREQUAL "cudart")
    target_link_libraries(${target} INTERFACE CUDA::cudart_static)
    foreach(dir IN LISTS CUDAToolkit_INCLUDE_DIRS)
      if(EXISTS "${dir}/cccl")  # from toolkit 13 on, cuda::stream_ref lives here
        target_include_directories(${target} SYSTEM INTERFACE "${dir}/cccl")
      endif()
    endforeach()
  endif()
endfunction()

# Debian's package config names the shared objects; the archives beside them start on a machine
# without Abseil, so they are taken where they exist.
function(weftline_link_abseil target)
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
