# `cmake --build DIR --target portable`: skidscan-VERSION-linux-ARCH.tar.xz of this machine's architecture, in which
# the program is linked statically. It is made in a build of its own, DIR/portable, whose CPack makes that archive.
# `--target portable-aarch64`: that and the same for aarch64, in DIR/portable-aarch64, with the manual pages and the
# targets of DIR/portable, because what it compiles does not run here.
set(archive_name skidscan-${PROJECT_VERSION}-linux)
# Debian packages whose code is in the program.
set(packages libboost1.74-dev libbz2-dev libc6-dev libcapstone-dev libdw-dev libelf-dev libfmt-dev
  libgnuplot-iostream-dev libiberty-dev liblzma-dev libpfm4-dev libstdc++-12-dev libtraceevent-dev
  libutf8proc-dev libzstd-dev libzycore-dev libzydis-dev nlohmann-json3-dev zlib1g-dev)

if(NOT SKIDSCAN_STATIC)
  set(SKIDSCAN_PORTABLE_ARCHIVE ${PROJECT_BINARY_DIR}/${archive_name})
  # CI saves time by -O0.
  set(cold -O1)
  if(SKIDSCAN_COLD_OPTIONS)
    set(cold ${SKIDSCAN_COLD_OPTIONS})
  endif()
  set(configure ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -G ${CMAKE_GENERATOR} -DCMAKE_BUILD_TYPE=RelWithDebInfo
    "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG" -DSKIDSCAN_COLD_OPTIONS=${cold} -DSKIDSCAN_UNITY=16
    -DSKIDSCAN_STATIC=ON -DSKIDSCAN_TESTS=OFF)
  set(pack ${CMAKE_CPACK_COMMAND} -B ${PROJECT_BINARY_DIR})
  add_custom_target(portable
    COMMAND ${configure} -B portable -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
    COMMAND ${CMAKE_COMMAND} --build portable
    COMMAND ${pack} --config portable/CPackConfig.cmake
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
    USES_TERMINAL
    VERBATIM)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
    return()
  endif()
  # Left out are packages that these depend on and whose code is not used.
  add_custom_target(portable-aarch64
    COMMAND ${PROJECT_SOURCE_DIR}/scripts/fetch-debian-packages.sh --arch arm64 --into arm64 --without gnuplot
      --without libboost-regex1.74-dev ${packages} libboost-filesystem1.74-dev libboost-iostreams1.74-dev
      libboost-system1.74-dev
    COMMAND ${configure} -B portable-aarch64 --toolchain ${PROJECT_SOURCE_DIR}/cmake/aarch64.cmake
      -DCMAKE_SYSROOT=${PROJECT_BINARY_DIR}/arm64/contents -DSKIDSCAN_NATIVE_BUILD=${PROJECT_BINARY_DIR}/portable
    COMMAND ${CMAKE_COMMAND} --build portable-aarch64
    COMMAND ${pack} --config portable-aarch64/CPackConfig.cmake
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
    USES_TERMINAL
    VERBATIM)
  add_dependencies(portable-aarch64 portable)
  return()
endif()

set(CPACK_GENERATOR TXZ)
set(CPACK_PACKAGE_FILE_NAME ${archive_name}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGING_INSTALL_PREFIX /skidscan)
set(CPACK_INCLUDE_TOPLEVEL_DIRECTORY OFF)

# Of these packages: copyright files, versions, and the licences that they refer to.
set(licences ${CMAKE_INSTALL_DOCDIR}/licences)
foreach(package IN LISTS packages)
  install(FILES ${CMAKE_SYSROOT}/usr/share/doc/${package}/copyright DESTINATION ${licences} RENAME ${package})
endforeach()
execute_process(COMMAND dpkg-query --root=${CMAKE_SYSROOT}/ --show
  --showformat "\${source:Package} \${source:Version} (\${Package})\\n" ${packages}
  OUTPUT_VARIABLE versions COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${PROJECT_BINARY_DIR}/SOURCES
  "Debian source packages with the code that is linked into bin/skidscan, their versions, and the binary\n"
  "packages (apt-get source NAME=VERSION). To link with changed ones, install them and build skidscan's\n"
  "source: cmake --build build --target portable\n\n${versions}")
install(FILES ${PROJECT_BINARY_DIR}/SOURCES DESTINATION ${licences})
foreach(licence Apache-2.0 GPL-2 GPL-3 LGPL-2 LGPL-2.1 LGPL-3)
  install(FILES /usr/share/common-licenses/${licence} DESTINATION ${licences}/common-licenses)
endforeach()
