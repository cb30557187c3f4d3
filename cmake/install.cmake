# Installation: the library, its headers under include/croze, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/croze)

install(TARGETS croze EXPORT croze-targets)
install(EXPORT croze-targets NAMESPACE croze:: DESTINATION ${package_dir})
# The back ends are reached through run/devices.h and have no public headers.
install(DIRECTORY croze/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/croze
  FILES_MATCHING PATTERN "*.h" PATTERN backends EXCLUDE)

configure_package_config_file(cmake/croze-config.cmake.in croze-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(croze-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/croze-config.cmake
  ${PROJECT_BINARY_DIR}/croze-config-version.cmake DESTINATION ${package_dir})

# The way from the folder of croze.pc up to the prefix, so that the tree can be moved.
file(RELATIVE_PATH CROZE_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/croze.pc.in croze.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/croze.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
