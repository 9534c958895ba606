# SPDX-License-Identifier: Apache-2.0
# weftline_test(<name> SOURCES <file>... [LIBS <target>...] [LABELS <label>...] [TIMEOUT <seconds>]
#               [RESOURCE <lock>] [INCLUDE <dir>...])
#   A Catch2 program in <build>/bin and one ctest entry for it, ended by a watchdog after TIMEOUT
#   (default 120 s, four times that under a sanitizer). Tests that share a RESOURCE do not overlap.
#   The entry counts as skipped when every test case in it was skipped.
#
# weftline_bench(<name> SOURCES <file>... [LIBS <target>...] [INCLUDE <dir>...])
#   A Google Benchmark program in <build>/bin, built with the target `benchmarks`. What its command
#   line takes is in ci/bench.
#
# weftline_compile_fail_test(<name> SOURCE <file> MATCH <regex> [LIBS <target>...] [LABELS <label>...])
#   A ctest entry that passes when the source does not compile and the compiler's output matches.
#
# Each library's tests are found by name, and named by the library:
#   tests/*_gpu_test.cpp     <name>-gpu-tests     labels <name>, gpu
#   tests/*_stress_test.cpp  <name>-stress-tests  labels <name>, stress; watchdog after 600 s
#   tests/*_test.cpp         <name>-tests         label <name>
#   bench/*_bench.cpp        <name>-bench
#   bench/*_gpu_bench_cuda.cpp, *_gpu_bench.cu   <name>-gpu-bench, where CUDA is built

if(WEFTLINE_BUILD_TESTS)
  find_package(Catch2 3 CONFIG QUIET)
  if(NOT Catch2_FOUND)
    message(FATAL_ERROR "The tests need Catch2 3: run ci/install_deps, "
      "or configure with -DWEFTLINE_BUILD_TESTS=OFF.")
  endif()
endif()
if(WEFTLINE_BUILD_BENCH)
  find_package(benchmark CONFIG QUIET)
  if(NOT benchmark_FOUND)
    message(FATAL_ERROR "The benchmarks need Google Benchmark: run ci/install_deps, "
      "or configure with -DWEFTLINE_BUILD_BENCH=OFF.")
  endif()
  add_custom_target(benchmarks)
endif()

function(weftline_test_program name kind sources libs include)
  weftline_select_sources(sources ${sources})
  add_executable(${name} ${sources})
  weftline_private_flags(${name})
  weftline_use_cuda(${name} ${sources})
  target_include_directories(${name} PRIVATE ${include})
  target_link_libraries(${name} PRIVATE ${libs} ${kind})
endfunction()

function(weftline_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;RESOURCE" "SOURCES;LIBS;LABELS;INCLUDE")
  weftline_test_program(${name} Catch2::Catch2WithMain "${arg_SOURCES}" "${arg_LIBS}"
    "${arg_INCLUDE}")
  add_test(NAME ${name} COMMAND ${name})
  weftline_test_properties(${name} "${arg_TIMEOUT}" "${arg_LABELS}")
  # Not by exit code: before Catch2 3.7, four failed assertions gave the same one.
  set_property(TEST ${name} PROPERTY SKIP_REGULAR_EXPRESSION "test cases: +[0-9]+ [|] [0-9]+ skipped")
  if(arg_RESOURCE)
    set_property(TEST ${name} PROPERTY RESOURCE_LOCK ${arg_RESOURCE})
  endif()
endfunction()

function(weftline_test_properties name timeout labels)
  if(NOT timeout)
    set(timeout 120)
  endif()
  if(WEFTLINE_SANITIZE)
    math(EXPR timeout "${timeout} * 4")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} LABELS "${labels}")
  # Its lock would put in order what the thread sanitizer is to find out of order.
  if(NOT WEFTLINE_SANITIZE STREQUAL "thread")
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT WEFTLINE_STREAM_ORDER=abort)
  endif()
endfunction()

function(weftline_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS;INCLUDE")
  weftline_test_program(${name} benchmark::benchmark "${arg_SOURCES}" "${arg_LIBS}"
    "${arg_INCLUDE}")
  add_dependencies(benchmarks ${name})
endfunction()

function(weftline_compile_fail_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE;MATCH" "LIBS;LABELS")
  # Never built: it only gathers the include folders of LIBS.
  add_library(${name} OBJECT EXCLUDE_FROM_ALL "${arg_SOURCE}")
  target_link_libraries(${name} PRIVATE ${arg_LIBS})
  set(include "$<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>")
  cmake_path(ABSOLUTE_PATH arg_SOURCE)
  add_test(NAME ${name}
    COMMAND ${CMAKE_COMMAND} "-DMATCH=${arg_MATCH}"
      -P "${PROJECT_SOURCE_DIR}/cmake/expect_compile_error.cmake" --
      "${CMAKE_CXX_COMPILER}" -std=c++20 -fsyntax-only
      "$<$<BOOL:${include}>:-I$<JOIN:${include},;-I>>" "${arg_SOURCE}"
    COMMAND_EXPAND_LISTS)
  weftline_test_properties(${name} "" "${arg_LABELS}")
endfunction()

# What tests and benchmarks of a library link: itself, its packages, its fakes and those below it.
function(weftline_library_test_libs name out)
  weftline_read_deps("${CMAKE_CURRENT_SOURCE_DIR}/deps" own)
  set(libs weftline::${name})
  foreach(library IN LISTS name own_DEPS)
    if(TARGET weftline::${library}-testing)
      list(APPEND libs weftline::${library}-testing)
    endif()
  endforeach()
  foreach(external IN LISTS own_EXTERNALS)
    if(TARGET weftline_external::${external})
      list(APPEND libs weftline_external::${external})
    endif()
  endforeach()
  set(${out} "${libs}" PARENT_SCOPE)
endfunction()

function(weftline_library_tests name)
  set(dir "${CMAKE_CURRENT_SOURCE_DIR}")
  weftline_library_test_libs(${name} libs)
  file(GLOB sources CONFIGURE_DEPENDS "${dir}/tests/*_test.cpp" "${dir}/tests/*_test.cu")
  foreach(suite IN ITEMS gpu stress)
    set(suite_sources ${sources})
    list(FILTER suite_sources INCLUDE REGEX "_${suite}_test\\.(cpp|cu)$")
    list(FILTER sources EXCLUDE REGEX "_${suite}_test\\.(cpp|cu)$")
    if(suite_sources)
      set(resource "")
      set(timeout "")
      if(suite STREQUAL "stress")
        set(timeout TIMEOUT 600)
      endif()
      if(suite STREQUAL "gpu")
        set(resource RESOURCE gpu)
      endif()
      weftline_test(${name}-${suite}-tests SOURCES ${suite_sources} LIBS ${libs}
        LABELS ${name} ${suite} ${resource} ${timeout} INCLUDE "${dir}/src" "${dir}/tests")
    endif()
  endforeach()
  if(sources)
    weftline_test(${name}-tests SOURCES ${sources} LIBS ${libs} LABELS ${name}
      INCLUDE "${dir}/src" "${dir}/tests")
  endif()
endfunction()

function(weftline_library_bench name)
  set(dir "${CMAKE_CURRENT_SOURCE_DIR}")
  weftline_library_test_libs(${name} libs)
  file(GLOB sources CONFIGURE_DEPENDS "${dir}/bench/*_bench.cpp")
  if(sources)
    weftline_bench(${name}-bench SOURCES ${sources} LIBS ${libs} INCLUDE "${dir}/src" "${dir}/bench")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${dir}/bench/*_gpu_bench_cuda.cpp" "${dir}/bench/*_gpu_bench.cu")
  if(sources AND WEFTLINE_HAVE_CUDA)
    weftline_bench(${name}-gpu-bench SOURCES ${sources} LIBS ${libs}
      INCLUDE "${dir}/src" "${dir}/bench")
  endif()
endfunction()
