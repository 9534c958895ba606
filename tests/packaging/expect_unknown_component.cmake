# SPDX-License-Identifier: Apache-2.0
# The configuration of SOURCE fails with the name that was asked for and the names that exist.
execute_process(
  COMMAND ${CMAKE_COMMAND} -G Ninja -S "${SOURCE}" -B "${BINARY}" ${OPTIONS}
  RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE errors)
string(REGEX REPLACE "[ \n]+" " " errors "${errors}")  # CMake wraps its messages
if(result EQUAL 0)
  message(FATAL_ERROR "the configuration succeeded")
elseif(NOT errors MATCHES
    "weftline has no component 'no-such-component'. Known components: core-types [a-z -]*tensor-pool")
  message(FATAL_ERROR "the configuration failed with another message:\n${errors}")
endif()
