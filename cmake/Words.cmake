# Manual pages and the completions of shells, from the command line itself.
add_executable(skidscan_words src/words_main.cpp)
target_link_libraries(skidscan_words PRIVATE skid_commands skid_options)

set(words ${PROJECT_BINARY_DIR}/words)
add_custom_command(OUTPUT ${words}.stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${words}  # pages of commands that are gone
  COMMAND skidscan_words ${words}
  COMMAND ${CMAKE_COMMAND} -E touch ${words}.stamp
  DEPENDS skidscan_words
  COMMENT "Manual pages and completions"
  VERBATIM)
add_custom_target(words ALL DEPENDS ${words}.stamp)

install(DIRECTORY ${words}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY ${words}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(DIRECTORY ${words}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(DIRECTORY ${words}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
