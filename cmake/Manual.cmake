# Manual pages, generated from the description of the command line, and completion by shells.
add_executable(skidscan_manual src/manual_main.cpp)
target_link_libraries(skidscan_manual PRIVATE skid_commands skid_options)

set(manual ${PROJECT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}.stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual}  # pages of removed commands
  COMMAND skidscan_manual ${manual}
  COMMAND ${CMAKE_COMMAND} -E touch ${manual}.stamp
  DEPENDS skidscan_manual
  COMMENT "Manual pages"
  VERBATIM)
add_custom_target(manual ALL DEPENDS ${manual}.stamp)

install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
set(completion ${PROJECT_SOURCE_DIR}/src/commandline/completion)
install(FILES ${completion}/skidscan.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME skidscan)
install(FILES ${completion}/_skidscan DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${completion}/skidscan.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
