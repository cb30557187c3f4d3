# Layers: each folder of croze/ is an object library that knows the layers below it, and all of them
# together are the one library that users link.

# Flags and include paths shared by everything that is compiled here.
add_library(croze_flags INTERFACE)
target_compile_features(croze_flags INTERFACE cxx_std_20)
target_compile_options(croze_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor -Wno-missing-field-initializers -Wno-sign-conversion
  # g++ 12 warns of `"text" + string` from inside its own library (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${CROZE_WERROR}>:-Werror>)
# "graph/uop.h" inside, <croze/croze.h> for users.
target_include_directories(croze_flags INTERFACE ${PROJECT_SOURCE_DIR}/croze ${PROJECT_SOURCE_DIR})

# The library itself; layers add their objects to it.
add_library(croze STATIC)
add_library(croze::croze ALIAS croze)
set_target_properties(croze PROPERTIES
  CXX_STANDARD 20 CXX_EXTENSIONS OFF LINKER_LANGUAGE CXX)
target_compile_features(croze PUBLIC cxx_std_20)
target_link_libraries(croze PUBLIC fmt::fmt Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(croze PRIVATE ZLIB::ZLIB)
target_include_directories(croze PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/croze>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/croze>)

# croze_layer(<name> SOURCES a.cpp ... [LINK libs ...] [DEPENDS layers ...])
#
# Makes croze_<name> and adds its objects to the library.  DEPENDS names layers below, which must
# exist already, so the order of add_subdirectory is the order of layers and a cycle cannot be
# written.  A layer without sources is a name that later gets some.
function(croze_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
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
    set_target_properties(croze_${name} PROPERTIES
      CXX_STANDARD 20
      CXX_EXTENSIONS OFF
      CXX_VISIBILITY_PRESET hidden
      VISIBILITY_INLINES_HIDDEN ON
      POSITION_INDEPENDENT_CODE ON)
    target_sources(croze PRIVATE $<TARGET_OBJECTS:croze_${name}>)
  else()
    set(scope INTERFACE)
    add_library(croze_${name} INTERFACE)
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
