# SPDX-License-Identifier: Apache-2.0
# Installs BUILD into an empty PREFIX, and checks that nothing private went along.
file(REMOVE_RECURSE "${PREFIX}")
execute_process(COMMAND ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${PREFIX}"
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE headers RELATIVE "${PREFIX}/include" "${PREFIX}/include/*")
if(NOT headers)
  message(FATAL_ERROR "no header was installed")
endif()
foreach(header IN LISTS headers)
  file(GLOB origin "${CMAKE_CURRENT_LIST_DIR}/../../libs/*/include/${header}")
  if(NOT header MATCHES "^weftline/([a-z]+/)?[a-z0-9_]+\\.hpp$" OR NOT origin)
    message(FATAL_ERROR "installed, but no public header: ${header}")
  endif()
endforeach()
