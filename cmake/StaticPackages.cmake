# Zydis and fmt from Debian's source packages: their packages of headers have no static library.
enable_language(C)
set(sources ${SKIDSCAN_NATIVE_BUILD}/sources)
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/fetch-debian-packages.sh --source --into ${sources}
  zydis fmtlib COMMAND_ERROR_IS_FATAL ANY)
file(GLOB zydis ${sources}/contents/*-zydis-*)
file(GLOB zydis_sources ${zydis}/src/*.c)
add_library(static_zydis STATIC ${zydis_sources})
target_include_directories(static_zydis PRIVATE ${zydis}/src)
target_compile_definitions(static_zydis PUBLIC ZYDIS_STATIC_BUILD ZYCORE_STATIC_BUILD)
add_library(Zydis::Zydis ALIAS static_zydis)
file(GLOB fmt_sources ${sources}/contents/fmtlib-*/src/format.cc ${sources}/contents/fmtlib-*/src/os.cc)
add_library(static_fmt STATIC ${fmt_sources})
