# Zydis from Debian's source package: libzydis-dev has its headers and no static library.
enable_language(C)
set(zydis ${PROJECT_BINARY_DIR}/zydis)
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/fetch-debian-packages.sh --source --into ${zydis} zydis
  COMMAND_ERROR_IS_FATAL ANY)
file(GLOB zydis ${zydis}/contents/*-zydis-*)
file(GLOB zydis_sources ${zydis}/src/*.c)
add_library(static_zydis STATIC ${zydis_sources})
target_include_directories(static_zydis PRIVATE ${zydis}/src)
target_compile_definitions(static_zydis PUBLIC ZYDIS_STATIC_BUILD ZYCORE_STATIC_BUILD)
add_library(Zydis::Zydis ALIAS static_zydis)
