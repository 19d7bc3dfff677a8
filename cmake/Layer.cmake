# Options that all code of ours is built with.
add_library(skid_options INTERFACE)
target_include_directories(skid_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(skid_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wold-style-cast -Wcast-align)
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

# skid_layer(NAME SOURCES file... [APART file...] [DEPENDS layer...] [LIBRARIES target...])
# One static library per layer. DEPENDS names the layers to its left that it may include. APART are
# those of the sources with names of their own that others of the layer use too: where sources are
# compiled several at a time (CMAKE_UNITY_BUILD), these are not.
function(skid_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;APART;DEPENDS;LIBRARIES" ${ARGN})
  add_library(${name} STATIC ${LAYER_SOURCES})
  target_link_libraries(${name} PRIVATE skid_options PUBLIC ${LAYER_DEPENDS} ${LAYER_LIBRARIES})
  set_source_files_properties(${LAYER_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
