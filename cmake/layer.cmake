# Layers: each folder of croze/ is an object library that knows the layers below it, and all of them
# together are the one library that users link.

# Flags and include paths shared by everything that is compiled here.
add_library(croze_flags INTERFACE)
target_compile_features(croze_flags INTERFACE cxx_std_20)
target_compile_options(croze_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor -Wno-missing-field-initializers -Wno-sign-conversion
  # Warnings of ours are not the business of a project that has croze as a part.
  $<$<NOT:$<BOOL:${PROJECT_IS_TOP_LEVEL}>>:-w>
  # g++ 12 warns of `"text" + string` from inside its own library (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # clang 19 warns of what std::stable_sort calls inside the library of g++ 12.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  $<$<BOOL:${CROZE_WERROR}>:-Werror>)
# "croze/graph/uop.h" inside, <croze/croze.h> for users.
target_include_directories(croze_flags INTERFACE ${PROJECT_SOURCE_DIR})

# croze_precompiled_headers(<target> <header> ...)
#
# Makes a target whose precompiled headers others reuse: those of the standard library and fmt, which
# are half of the work of compiling, and the given ones.
function(croze_precompiled_headers target)
  add_library(${target} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
  target_link_libraries(${target} PRIVATE croze_flags fmt::fmt Threads::Threads)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  if(CROZE_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <bit> <cmath> <cstdint> <cstring> <functional> <initializer_list>
      <limits> <map> <memory> <mutex> <optional> <span> <string> <string_view> <unordered_map>
      <utility> <vector> <fmt/format.h> ${ARGN})
  endif()
endfunction()
croze_precompiled_headers(croze_precompiled)

# croze_compiled(<target> [LIGHT] [HEADERS <target>])
#
# How all that is built here is compiled, but for the examples.  HEADERS names the precompiled
# headers.  LIGHT is for code that runs seldom or waits for kernels: there the time to compile
# counts more than the time to run.
function(croze_compiled target)
  cmake_parse_arguments(ARG "LIGHT" "HEADERS" "" ${ARGN})
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 20
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_compile_options(${target} PRIVATE -fPIC)  # as the headers, not -fPIE
  else()
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  if(ARG_LIGHT)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(NOT ARG_HEADERS)
    set(ARG_HEADERS croze_precompiled)
  endif()
  if(CROZE_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${ARG_HEADERS})
  endif()
endfunction()

# The library itself; layers add their objects to it.
add_library(croze STATIC)
add_library(croze::croze ALIAS croze)
set_target_properties(croze PROPERTIES
  CXX_STANDARD 20 CXX_EXTENSIONS OFF LINKER_LANGUAGE CXX)
target_compile_features(croze PUBLIC cxx_std_20)
target_link_libraries(croze PUBLIC fmt::fmt Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(croze PRIVATE ZLIB::ZLIB ${CROZE_PICTURE_LIBRARIES} utf8proc pcre2-8)
target_include_directories(croze SYSTEM PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# croze_layer(<name> SOURCES a.cpp ... [LINK libs ...] [DEPENDS layers ...] [LIGHT] [TESTS_ONLY])
#
# Makes croze_<name> and adds its objects to the library, but for what only tests need.  DEPENDS names layers below, which must
# exist already, so the order of add_subdirectory is the order of layers and a cycle cannot be
# written.  A layer without sources is a name that later gets some.
function(croze_layer name)
  cmake_parse_arguments(ARG "LIGHT;TESTS_ONLY" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  set(closure ${name})
  foreach(below IN LISTS ARG_DEPENDS)
    if(NOT TARGET croze_${below})
      message(FATAL_ERROR "layer ${name} depends on ${below}, which is not below it")
    endif()
    get_target_property(layers croze_${below} CROZE_LAYERS)
    list(APPEND closure ${layers})
  endforeach()
  list(REMOVE_DUPLICATES closure)

  if(ARG_SOURCES)
    set(scope PUBLIC)
    add_library(croze_${name} OBJECT ${ARG_SOURCES})
    if(ARG_LIGHT)
      croze_compiled(croze_${name} LIGHT)
    else()
      croze_compiled(croze_${name})
    endif()
    if(NOT ARG_TESTS_ONLY)
      target_sources(croze PRIVATE $<TARGET_OBJECTS:croze_${name}>)
    endif()
  else()
    set(scope INTERFACE)
    add_library(croze_${name} INTERFACE)
  endif()
  # Functions from tensors upwards take the place of the call.  Where the library calls them itself
  # that is a path of the machine that builds, of which only the part in the repository is kept.
  # ccache makes paths relative, and finds nothing of another checkout where an option names one.
  if(ARG_SOURCES AND ("tensor" IN_LIST closure))
    file(RELATIVE_PATH above ${CMAKE_BINARY_DIR} ${PROJECT_SOURCE_DIR})
    target_compile_options(croze_${name} PRIVATE -fmacro-prefix-map=${above}=)
    if(NOT CMAKE_CXX_COMPILER_LAUNCHER MATCHES "(^|[/;])ccache$")
      target_compile_options(croze_${name} PRIVATE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
    endif()
  endif()
  target_link_libraries(croze_${name} ${scope} croze_flags fmt::fmt Threads::Threads
    ${CMAKE_DL_LIBS} ${ARG_LINK})
  set_target_properties(croze_${name} PROPERTIES CROZE_LAYERS "${closure}")
endfunction()

# croze_link_layers(<target> <layer> ...)
#
# Links the objects of the given layers and of all below them, and nothing above: a lower layer can
# be tested while an upper one does not compile.
function(croze_link_layers target)
  set(closure)
  foreach(layer IN LISTS ARGN)
    get_target_property(layers croze_${layer} CROZE_LAYERS)
    list(APPEND closure ${layers})
  endforeach()
  list(REMOVE_DUPLICATES closure)
  list(TRANSFORM closure PREPEND croze_)
  target_link_libraries(${target} PRIVATE ${closure})
endfunction()
