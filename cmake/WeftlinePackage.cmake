# SPDX-License-Identifier: Apache-2.0
# Installation: the headers and archive of every library, and the CMake package `weftline` with one
# component per library. What a component brings along is read from the deps files.
include(CMakePackageConfigHelpers)

function(weftline_install_package)
  set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/weftline")
  get_property(libraries GLOBAL PROPERTY WEFTLINE_LIBRARIES)
  set(WEFTLINE_COMPONENT_TABLE "")
  foreach(name IN LISTS libraries)
    string(REPLACE "-" "_" target "weftline_${name}")
    get_property(deps GLOBAL PROPERTY WEFTLINE_${name}_DEPS)
    get_property(linked GLOBAL PROPERTY WEFTLINE_${name}_LINKED)
    string(APPEND WEFTLINE_COMPONENT_TABLE
      "set(weftline_component_${name}_deps \"${deps}\")\n"
      "set(weftline_component_${name}_externals \"${linked}\")\n")

    set(file_sets FILE_SET HEADERS)
    get_target_property(header_sets ${target} INTERFACE_HEADER_SETS)
    if("opt_in" IN_LIST header_sets)
      list(APPEND file_sets FILE_SET opt_in)
    endif()
    install(TARGETS ${target} EXPORT weftline-${name} ${file_sets})
    install(EXPORT weftline-${name} NAMESPACE weftline:: DESTINATION "${package_dir}"
      FILE weftline-${name}-targets.cmake)
  endforeach()

  set(WEFTLINE_COMPONENTS "${libraries}")
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/weftline-config.cmake.in"
    "${PROJECT_BINARY_DIR}/weftline-config.cmake" INSTALL_DESTINATION "${package_dir}"
    NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/weftline-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES
    "${PROJECT_BINARY_DIR}/weftline-config.cmake"
    "${PROJECT_BINARY_DIR}/weftline-config-version.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/WeftlineExternals.cmake"
    "${PROJECT_SOURCE_DIR}/third_party/Findsodium.cmake"
    DESTINATION "${package_dir}")
endfunction()
