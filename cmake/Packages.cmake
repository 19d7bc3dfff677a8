# Files that `cmake --install` installs with the program, and what cpack makes: the Debian package, or of a static
# build the portable archive. The program contains no paths: models are part of it, it finds the example, and the
# targets that packages have, relative to itself, and it starts perf, cc and gnuplot from PATH. So it runs from any
# prefix.
install(FILES README.md LICENSE CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES src/events/intel/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.perfmon)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(FILES bench/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench)
install(PROGRAMS slurm/record.sbatch DESTINATION ${CMAKE_INSTALL_DATADIR}/skidscan/slurm)
install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/skidscan FILES_MATCHING PATTERN "*.json")

# For --example, found relative to the program: installed, or in the build directory.
install(DIRECTORY examples DESTINATION share/skidscan)
file(GLOB_RECURSE examples RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS examples/*)
foreach(file IN LISTS examples)
  configure_file(${file} share/skidscan/${file} COPYONLY)
endforeach()

set(SKIDSCAN_MAINTAINER "skidscan developers <skidscan@skidscan.invalid>" CACHE STRING
  "Maintainer of packages, NAME <ADDRESS>; who distributes one names himself")

# Debian policy requires these two names; users read LICENSE and CHANGELOG.md.
find_program(GZIP_PROGRAM gzip)
if(GZIP_PROGRAM)
  string(TIMESTAMP SKIDSCAN_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)  # respects SOURCE_DATE_EPOCH
  configure_file(cmake/debian-changelog.in debian/changelog @ONLY)
  execute_process(COMMAND ${GZIP_PROGRAM} -9 -n -f -k ${PROJECT_BINARY_DIR}/debian/changelog
    COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${PROJECT_BINARY_DIR}/debian/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
install(FILES cmake/debian-copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES cmake/lintian-overrides DESTINATION share/lintian/overrides RENAME skidscan)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME skidscan)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${SKIDSCAN_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "measures the skid of perf samples")
set(CPACK_PACKAGE_DESCRIPTION
  "When a performance counter overflows, the recorded instruction is some distance\nafter the one that caused the event. skidscan measures this distance for each\nevent and each precise level of perf record, and checks whether the skid\nconstraint of the level is met.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# Debian policy: man pages are compressed. Packages have built targets, which need compilers for both
# architectures.
add_custom_command(OUTPUT targets.zst COMMAND ship_targets targets.zst DEPENDS ship_targets VERBATIM
  COMMENT "Targets of all kinds")
add_custom_target(targets DEPENDS targets.zst)
set(CPACK_SKIDSCAN_BUILD ${SKIDSCAN_NATIVE_BUILD})
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/CompletePackage.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Figures are drawn by gnuplot; targets with unusual options are compiled on the machine.
set(CPACK_DEBIAN_PACKAGE_DEPENDS gnuplot-nox)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS linux-perf)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS gcc)
include(cmake/Portable.cmake)
include(CPack)
