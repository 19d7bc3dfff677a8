# The options that all code is built with.
add_library(skid_options INTERFACE)
target_link_libraries(skid_options INTERFACE fmt::fmt nlohmann_json::nlohmann_json)
target_include_directories(skid_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(skid_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wold-style-cast -Wcast-align)
# A multiplication and an addition in one step round otherwise than two; synthetic draws are the same
# on every machine.
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
    # It cannot follow initialisations through instrumented code and warns of sound code.
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

# What most sources include, parsed once. Sources still name what they use: -DSKIDSCAN_PRECOMPILE=OFF
# shows what one forgot.
option(SKIDSCAN_PRECOMPILE "Precompile the headers that most sources include" ON)
set(skid_common_headers <algorithm> <array> <charconv> <cmath> <cstdint> <filesystem> <functional>
  <map> <memory> <optional> <set> <span> <string> <string_view> <utility> <variant> <vector>
  <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp>)

# skid_precompile(NAME): compiles a library or program with those headers precompiled. The first one
# makes them; the others have the same options and take them from it.
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
# One static library per layer, of all sources in its folder and the folders in it. GENERATED are
# sources made at configure time. DEPENDS names the layers to its left that it may include.
function(skid_layer name)
  cmake_parse_arguments(LAYER "" "" "GENERATED;DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp */*.cpp)
  add_library(${name} STATIC ${sources} ${LAYER_GENERATED})
  target_link_libraries(${name} PRIVATE skid_options PUBLIC ${LAYER_DEPENDS} ${LAYER_LIBRARIES})
  skid_precompile(${name})
endfunction()
