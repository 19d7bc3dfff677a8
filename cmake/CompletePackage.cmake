# Run by cpack on the installed files, before it makes the package.
set(share "${CPACK_TEMPORARY_INSTALL_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX}/share")
find_program(GZIP_PROGRAM gzip REQUIRED)
file(GLOB pages "${share}/man/man1/*.1")
if(NOT pages)
  message(FATAL_ERROR "no manual page in ${share}")
endif()
foreach(page IN LISTS pages)
  execute_process(COMMAND ${GZIP_PROGRAM} -9 -n ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

execute_process(COMMAND ${CMAKE_COMMAND} --build ${CPACK_SKIDSCAN_BUILD} --target targets
  COMMAND_ERROR_IS_FATAL ANY)
file(COPY ${CPACK_SKIDSCAN_BUILD}/targets.zst DESTINATION ${share}/skidscan)
