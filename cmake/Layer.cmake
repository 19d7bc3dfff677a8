# Sources in batches: common headers, and templates that many sources instantiate, are compiled once per
# batch, which halves the time of a whole build. A build after a change of one file is faster without.
set(SKIDSCAN_UNITY 0 CACHE STRING "Sources of a folder to compile together; 0: each alone")

# Compiler options for all code.
add_library(skid_options INTERFACE)
target_link_libraries(skid_options INTERFACE ${SKIDSCAN_FMT} nlohmann_json::nlohmann_json)
target_include_directories(skid_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(skid_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wold-style-cast -Wcast-align)
if(NOT SKIDSCAN_UNITY)
  # In a batch a local name may be that of something in another file.
  target_compile_options(skid_options INTERFACE -Wshadow)
endif()
# No fused multiply-add, which rounds differently: synthetic draws must be the same on every machine.
target_compile_options(skid_options INTERFACE -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees overlapping copies in std::string's own operator+ (GCC bug 105651).
  target_compile_options(skid_options INTERFACE -Wno-restrict)
endif()
if(SKIDSCAN_WERROR)
  target_compile_options(skid_options INTERFACE -Werror)
endif()
if(SKIDSCAN_SANITIZE)
  target_compile_options(skid_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(skid_options INTERFACE -fsanitize=address,undefined)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # False positives in instrumented code.
    target_compile_options(skid_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
if(SKIDSCAN_FUZZ)
  target_compile_options(skid_options INTERFACE
    -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer)
  target_link_options(skid_options INTERFACE -fsanitize=address,undefined)
endif()
if(SKIDSCAN_STATIC)
  target_compile_options(skid_options INTERFACE -ffunction-sections -fdata-sections)
endif()
target_compile_definitions(skid_options INTERFACE SKIDSCAN_VERSION="${PROJECT_VERSION}")

# Headers that most sources include, precompiled. Sources still include what they use;
# -DSKIDSCAN_PRECOMPILE=OFF detects missing includes (tests include a prelude).
option(SKIDSCAN_PRECOMPILE "Precompile the headers that most sources include" ON)
set(skid_common_headers <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <filesystem> <functional>
  <map> <memory> <optional> <set> <span> <string> <string_view> <utility> <variant> <vector>
  <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp>)

set(SKIDSCAN_COLD_OPTIONS "" CACHE STRING "Compiler options of layers that compute little")

# skid_precompile(NAME [COLD]): compiles a library or program with these headers precompiled. COLD: with
# SKIDSCAN_COLD_OPTIONS. Headers are precompiled once, and once more where those are -O0, because code without
# optimization cannot use headers that were precompiled with it.
function(skid_precompile name)
  set(headers skid_headers)
  set(options)
  if("COLD" IN_LIST ARGN)
    set(options ${SKIDSCAN_COLD_OPTIONS})
    target_compile_options(${name} PRIVATE ${options})
    if("-O0" IN_LIST options)
      set(headers skid_cold_headers)
    endif()
  endif()
  if(NOT SKIDSCAN_PRECOMPILE)
    return()
  endif()
  if(NOT TARGET ${headers})
    file(CONFIGURE OUTPUT empty.cpp CONTENT "")
    add_library(${headers} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp)
    target_link_libraries(${headers} PRIVATE skid_options)
    target_compile_options(${headers} PRIVATE ${options})
    target_precompile_headers(${headers} PRIVATE ${skid_common_headers})
  endif()
  target_precompile_headers(${name} REUSE_FROM ${headers})
endfunction()

# skid_batches(NAME source...): groups the sources of a library or program. Names of unnamed namespaces must
# differ within a folder.
function(skid_batches name)
  if(NOT SKIDSCAN_UNITY)
    return()
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source ${ARGN})
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(APPEND in_${folder} ${source})
    list(LENGTH in_${folder} sources)
    math(EXPR batch "(${sources} - 1) / ${SKIDSCAN_UNITY}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${folder}_${batch}")
  endforeach()
endfunction()

# skid_layer(NAME [COLD | O1] [GENERATED file...] [DEPENDS layer...] [LIBRARIES target...])
# A static library per layer, from all sources in its folder and subfolders. COLD: what it does takes no time
# worth optimizing for. O1: -O2 would not shorten what it does, for each function or place and not for each sample.
# GENERATED: sources generated at configure time. DEPENDS: the lower layers that it may
# include.
function(skid_layer name)
  cmake_parse_arguments(LAYER "COLD;O1" "" "GENERATED;DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp */*.cpp)
  add_library(${name} STATIC ${sources} ${LAYER_GENERATED})
  target_link_libraries(${name} PRIVATE skid_options PUBLIC ${LAYER_DEPENDS} ${LAYER_LIBRARIES})
  set(cold)
  if(LAYER_COLD)
    set(cold COLD)
  endif()
  if(LAYER_O1 AND CMAKE_CXX_FLAGS_RELWITHDEBINFO MATCHES "-O2")
    target_compile_options(${name} PRIVATE -O1)
  endif()
  skid_precompile(${name} ${cold})
  skid_batches(${name} ${sources})
endfunction()
