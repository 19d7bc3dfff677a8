# Every dependency is a system package; README.md names Debian's.
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(zydis 4.0 REQUIRED)
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS iostreams system filesystem)
pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw)
pkg_check_modules(LIBELF REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(CAPSTONE REQUIRED IMPORTED_TARGET capstone)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
# Debian's .pc file adds a macro that only the static library needs.
set_target_properties(PkgConfig::UTF8PROC PROPERTIES INTERFACE_COMPILE_OPTIONS "")
pkg_check_modules(LIBTRACEEVENT REQUIRED IMPORTED_TARGET libtraceevent)
# libpfm4 has no .pc file.
find_path(LIBPFM4_INCLUDE perfmon/pfmlib_perf_event.h REQUIRED)
find_library(LIBPFM4_LIBRARY pfm REQUIRED)
add_library(libpfm4 UNKNOWN IMPORTED GLOBAL)
set_target_properties(libpfm4 PROPERTIES IMPORTED_LOCATION "${LIBPFM4_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${LIBPFM4_INCLUDE}")
# Nor has libiberty, a static library.
find_path(LIBIBERTY_INCLUDE libiberty/demangle.h REQUIRED)
find_library(LIBIBERTY_LIBRARY iberty REQUIRED)
find_path(GNUPLOT_IOSTREAM_INCLUDE gnuplot-iostream.h REQUIRED)
