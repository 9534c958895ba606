# SPDX-License-Identifier: Apache-2.0
# cmake -DMATCH=<regex> -P expect_compile_error.cmake -- <compiler> <argument>...
# Succeeds when the compiler refuses the source with output that matches.
set(command "")
set(after_dashes FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(after_dashes)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(after_dashes TRUE)
  endif()
endforeach()
execute_process(COMMAND ${command} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "the source compiled; expected an error that matches '${MATCH}'")
elseif(NOT output MATCHES "${MATCH}")
  message(FATAL_ERROR "the source failed as expected, but not with '${MATCH}':\n${output}")
endif()
