# `cmake --build DIR --target portable`: skidscan-VERSION-linux-ARCH.tar.xz, in which the program is linked
# statically. It is made in a build of its own, DIR/portable, whose CPack makes that archive.
string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" system)
set(archive_name skidscan-${PROJECT_VERSION}-${system})
if(NOT SKIDSCAN_STATIC)
  set(SKIDSCAN_PORTABLE_ARCHIVE ${PROJECT_BINARY_DIR}/${archive_name}.tar.xz)
  add_custom_target(portable
    COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B portable -G ${CMAKE_GENERATOR}
      -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_BUILD_TYPE=RelWithDebInfo
      "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG" -DSKIDSCAN_COLD_OPTIONS=-O1 -DSKIDSCAN_UNITY=16
      -DSKIDSCAN_STATIC=ON -DSKIDSCAN_TESTS=OFF
    COMMAND ${CMAKE_COMMAND} --build portable
    COMMAND ${CMAKE_CPACK_COMMAND} --config portable/CPackConfig.cmake -B ${PROJECT_BINARY_DIR}
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
    USES_TERMINAL
    VERBATIM)
  return()
endif()

set(CPACK_GENERATOR TXZ)
set(CPACK_PACKAGE_FILE_NAME ${archive_name})
set(CPACK_PACKAGING_INSTALL_PREFIX /skidscan)
set(CPACK_INCLUDE_TOPLEVEL_DIRECTORY OFF)

# Of the Debian packages whose code is in the program: copyright files, versions, and the licences that they
# refer to.
set(packages libboost1.74-dev libbz2-dev libc6-dev libcapstone-dev libdw-dev libelf-dev libfmt-dev
  libgnuplot-iostream-dev libiberty-dev liblzma-dev libpfm4-dev libstdc++-12-dev libtraceevent-dev
  libutf8proc-dev libzstd-dev libzycore-dev libzydis-dev nlohmann-json3-dev zlib1g-dev)
set(licences ${CMAKE_INSTALL_DOCDIR}/licences)
foreach(package IN LISTS packages)
  install(FILES /usr/share/doc/${package}/copyright DESTINATION ${licences} RENAME ${package})
endforeach()
execute_process(COMMAND dpkg-query --show --showformat "\${source:Package} \${source:Version} (\${Package})\\n"
  ${packages} OUTPUT_VARIABLE versions COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${PROJECT_BINARY_DIR}/SOURCES
  "Debian source packages with the code that is linked into bin/skidscan, their versions, and the binary\n"
  "packages (apt-get source NAME=VERSION). To link with changed ones, install them and build skidscan's\n"
  "source: cmake --build build --target portable\n\n${versions}")
install(FILES ${PROJECT_BINARY_DIR}/SOURCES DESTINATION ${licences})
foreach(licence Apache-2.0 GPL-2 GPL-3 LGPL-2 LGPL-2.1 LGPL-3)
  install(FILES /usr/share/common-licenses/${licence} DESTINATION ${licences}/common-licenses)
endforeach()
