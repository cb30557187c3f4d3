# croze_linked_llvm: libLLVM-croze.so, croze's own library of LLVM, linked from LLVM's static libraries
# (croze/device/llvm/linked.cpp says what for).  Programs find it beside the library they link; where
# LLVM came without static libraries there is none, and the system's libLLVM is loaded instead.
if(NOT CROZE_LLVM_SOVERSION)
  return()
endif()

function(croze_ask_llvm answer)
  execute_process(COMMAND ${CROZE_LLVM_CONFIG} --link-static ${ARGN}
                  OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  separate_arguments(output)
  set(${answer} ${output} PARENT_SCOPE)
endfunction()

set(components native passes irreader)
set(has_amdgpu 0)
croze_ask_llvm(targets --targets-built)
if("AMDGPU" IN_LIST targets)
  list(APPEND components amdgpu)
  set(has_amdgpu 1)
endif()
croze_ask_llvm(archives --libfiles ${components})
croze_ask_llvm(system_libraries --system-libs ${components})
if(NOT archives)
  message(STATUS "croze: no static libraries of LLVM found, the system's libLLVM is loaded")
  return()
endif()

add_library(croze_linked_llvm MODULE
  ${PROJECT_SOURCE_DIR}/croze/device/llvm/linked.cpp
  ${PROJECT_SOURCE_DIR}/croze/device/llvm/pipeline.cpp)
set(exports ${PROJECT_SOURCE_DIR}/croze/device/llvm/linked.map)
set_target_properties(croze_linked_llvm PROPERTIES
  OUTPUT_NAME LLVM-croze
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
  LINK_DEPENDS ${exports}
  CXX_STANDARD 20 CXX_EXTENSIONS OFF)
target_link_libraries(croze_linked_llvm PRIVATE croze_flags croze_llvm_headers
  -Wl,--start-group ${archives} -Wl,--end-group ${system_libraries})
# Its small pieces of memory are its own, and then the C++ library has to be, too: what one allocates
# the other frees.  Sanitizers want to see them all.
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  target_sources(croze_linked_llvm PRIVATE
    ${PROJECT_SOURCE_DIR}/croze/device/llvm/linked_malloc.cpp
    ${PROJECT_SOURCE_DIR}/croze/device/llvm/small_blocks.cpp)
  target_link_options(croze_linked_llvm PRIVATE -static-libstdc++ -static-libgcc)
  foreach(function malloc free calloc realloc aligned_alloc posix_memalign)
    target_link_options(croze_linked_llvm PRIVATE LINKER:--wrap=${function})
  endforeach()
endif()
# As LLVM is built: what derives from its classes finds no type information.
target_compile_options(croze_linked_llvm PRIVATE -fno-rtti -fno-exceptions)
target_compile_definitions(croze_linked_llvm PRIVATE CROZE_LLVM_HAS_AMDGPU=${has_amdgpu})
target_link_options(croze_linked_llvm PRIVATE
  LINKER:--version-script=${exports} LINKER:--gc-sections LINKER:--as-needed LINKER:--strip-all)

add_dependencies(croze croze_linked_llvm)  # a program that is built alone finds it up to date

# Where the loader of a program looks for it: in the tree that was built, or beside the installed
# croze.
set(beside_croze
  $<BUILD_INTERFACE:LINKER:-rpath,${PROJECT_BINARY_DIR}/lib>
  $<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}>)
target_link_options(croze INTERFACE ${beside_croze})
target_link_options(croze_llvm_headers INTERFACE ${beside_croze})
