# Run by cpack on the installed files, before it makes the package.
find_program(GZIP_PROGRAM gzip REQUIRED)
file(GLOB pages
  "${CPACK_TEMPORARY_INSTALL_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX}/share/man/man1/*.1")
if(NOT pages)
  message(FATAL_ERROR "no manual page in ${CPACK_TEMPORARY_INSTALL_DIRECTORY}")
endif()
foreach(page IN LISTS pages)
  execute_process(COMMAND ${GZIP_PROGRAM} -9 -n ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
