# What `cmake --install` gives: include/weir, libweir.a with all layers in it, and a package for
# find_package(weir CONFIG): the component devel. The weir program is installed by replay/.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(weir_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weir)
install(TARGETS weir weir_plugin EXPORT weir_targets COMPONENT devel)
install(DIRECTORY include/weir DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel)
install(EXPORT weir_targets FILE weir_targets.cmake NAMESPACE weir:: DESTINATION ${weir_package_dir}
        COMPONENT devel)
configure_package_config_file(cmake/weirConfig.cmake.in weirConfig.cmake
                              INSTALL_DESTINATION ${weir_package_dir})
write_basic_package_version_file(weirConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/weirConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/weirConfigVersion.cmake cmake/weir_dependencies.cmake
        DESTINATION ${weir_package_dir} COMPONENT devel)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT devel)
