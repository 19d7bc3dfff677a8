# Manual pages, made from the help, and completion by shells.
find_program(HELP2MAN_PROGRAM help2man)
if(NOT HELP2MAN_PROGRAM)
  message(FATAL_ERROR "help2man is needed for the manual pages; install it (Debian: help2man)")
endif()
set(manual ${SKIDSCAN_NATIVE_BUILD}/manual)
set(manual_script ${PROJECT_SOURCE_DIR}/cmake/manual-pages.sh)
if(NOT CMAKE_CROSSCOMPILING)
  add_custom_command(OUTPUT ${manual}.stamp
    COMMAND ${manual_script} $<TARGET_FILE:skidscan> ${manual} ${HELP2MAN_PROGRAM}
    COMMAND ${CMAKE_COMMAND} -E touch ${manual}.stamp
    DEPENDS skidscan ${manual_script} ${PROJECT_SOURCE_DIR}/cmake/help2man.awk
    COMMENT "Manual pages"
    VERBATIM)
  add_custom_target(manual ALL DEPENDS ${manual}.stamp)
endif()

install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
set(completion ${PROJECT_SOURCE_DIR}/src/commands/commandline/completion)
install(FILES ${completion}/skidscan.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME skidscan)
install(FILES ${completion}/_skidscan DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${completion}/skidscan.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
