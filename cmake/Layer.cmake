# Compiler options for all code.
add_library(skid_options INTERFACE)
target_link_libraries(skid_options INTERFACE fmt::fmt nlohmann_json::nlohmann_json)
target_include_directories(skid_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(skid_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wold-style-cast -Wcast-align)
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
target_compile_definitions(skid_options INTERFACE SKIDSCAN_VERSION="${PROJECT_VERSION}")

# Headers that most sources include, precompiled. Sources still include what they use;
# -DSKIDSCAN_PRECOMPILE=OFF detects missing includes.
option(SKIDSCAN_PRECOMPILE "Precompile the headers that most sources include" ON)
set(skid_common_headers <algorithm> <array> <charconv> <cmath> <cstdint> <filesystem> <functional>
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

# skid_layer(NAME [GENERATED file...] [DEPENDS layer...] [LIBRARIES target...])
# A static library per layer, from all sources in its folder and subfolders. GENERATED: sources generated at
# configure time. DEPENDS: the lower layers that it may include.
function(skid_layer name)
  cmake_parse_arguments(LAYER "" "" "GENERATED;DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp */*.cpp)
  add_library(${name} STATIC ${sources} ${LAYER_GENERATED})
  target_link_libraries(${name} PRIVATE skid_options PUBLIC ${LAYER_DEPENDS} ${LAYER_LIBRARIES})
  skid_precompile(${name})
endfunction()
