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

# skid_precompile(NAME): compiles a library or program with these headers precompiled. The first one
# compiles them; the others have the same options and reuse them.
function(skid_precompile name)
  if(NOT SKIDSCAN_PRECOMPILE)
    return()
  endif()
  if(name STREQUAL "skid_support")
    target_precompile_headers(skid_support PRIVATE ${skid_common_headers})
  else()
    target_precompile_headers(${name} REUSE_FROM skid_support)
  endif()
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

set(SKIDSCAN_COLD_OPTIONS "" CACHE STRING "Compiler options of layers that compute little")

# skid_layer(NAME [COLD] [GENERATED file...] [DEPENDS layer...] [LIBRARIES target...])
# A static library per layer, from all sources in its folder and subfolders. COLD: what it does takes no time
# worth optimizing for. GENERATED: sources generated at configure time. DEPENDS: the lower layers that it may
# include.
function(skid_layer name)
  cmake_parse_arguments(LAYER "COLD" "" "GENERATED;DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp */*.cpp)
  add_library(${name} STATIC ${sources} ${LAYER_GENERATED})
  target_link_libraries(${name} PRIVATE skid_options PUBLIC ${LAYER_DEPENDS} ${LAYER_LIBRARIES})
  if(LAYER_COLD)
    target_compile_options(${name} PRIVATE ${SKIDSCAN_COLD_OPTIONS})
  endif()
  skid_precompile(${name})
  skid_batches(${name} ${sources})
endfunction()
