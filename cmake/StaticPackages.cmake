# From Debian's source packages: Zydis and fmt, whose packages of headers have no static library, and libpfm4, whose
# packages have the tables of their own architecture alone.
enable_language(C)
set(sources ${SKIDSCAN_NATIVE_BUILD}/sources)
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/fetch-debian-packages.sh --source --into ${sources}
  zydis fmtlib libpfm4 COMMAND_ERROR_IS_FATAL ANY)
file(GLOB zydis ${sources}/contents/*-zydis-*)
file(GLOB zydis_sources ${zydis}/src/*.c)
add_library(static_zydis STATIC ${zydis_sources})
target_include_directories(static_zydis PRIVATE ${zydis}/src)
target_compile_definitions(static_zydis PUBLIC ZYDIS_STATIC_BUILD ZYCORE_STATIC_BUILD)
add_library(Zydis::Zydis ALIAS static_zydis)
file(GLOB fmt_sources ${sources}/contents/fmtlib-*/src/format.cc ${sources}/contents/fmtlib-*/src/os.cc)
add_library(static_fmt STATIC ${fmt_sources})

file(GLOB pfm ${sources}/contents/libpfm-*)
set(parts common.c perf_event*.c amd64*.c intel*.c arm*.c tx2*.c kunpeng*.c)
list(TRANSFORM parts PREPEND ${pfm}/lib/pfmlib_)
file(GLOB pfm_sources ${parts})
add_library(libpfm4 STATIC ${pfm_sources})
target_include_directories(libpfm4 SYSTEM PUBLIC ${pfm}/include)
target_compile_definitions(libpfm4 PRIVATE _GNU_SOURCE _REENTRANT CONFIG_PFMLIB_ARCH_X86 CONFIG_PFMLIB_ARCH_X86_64
  CONFIG_PFMLIB_ARCH_ARM64)
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  # asm volatile("cpuid" : "=a" (*a), ...), by which it looks for x86 CPUs: there is none.
  target_compile_options(libpfm4 PRIVATE -Dasm= "-Dvolatile(...)=*a = *b = *c = *d = 0")
endif()
