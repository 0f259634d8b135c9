# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` lays down: headers, library, CMake package `tessera`, and tessera.pc.
include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)

install(TARGETS tessera EXPORT tesseraTargets)
install(DIRECTORY include/tessera TYPE INCLUDE)
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION ${config_dir})

configure_package_config_file(cmake/tesseraConfig.cmake.in tesseraConfig.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(tesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tesseraConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/tesseraConfigVersion.cmake
        DESTINATION ${config_dir})

# A static library leaves TBB to its user; a shared one brings it along.
set(pc_definitions "")
set(pc_libs "-ltessera")
if(NOT BUILD_SHARED_LIBS)
  set(pc_definitions "-DTESSERA_STATIC")
  set(pc_libs "-ltessera -ltbb -lstdc++ -lm -pthread")
endif()
file(RELATIVE_PATH pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/tessera.pc.in tessera.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
