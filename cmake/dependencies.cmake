# What croze needs from the system.  LLVM, OpenCL and Z3 are loaded at run time: only their C headers
# are needed here, and a machine without them builds a croze without those devices or
# without proofs.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json REQUIRED)
if(CROZE_BUILD_TOOLS OR CROZE_BUILD_BENCH)
  find_package(CLI11 REQUIRED)
endif()

# croze_llvm_headers: headers of the LLVM C API, CROZE_HAVE_LLVM (0 or 1) and CROZE_LLVM_LIBRARY, the
# name to load.  19 is the oldest that serves and the one that Debian 12 and our tests have.
add_library(croze_llvm_headers INTERFACE)
find_program(CROZE_LLVM_CONFIG NAMES llvm-config-19 llvm-config-20 llvm-config-21 llvm-config-22)
if(CROZE_LLVM_CONFIG)
  execute_process(COMMAND ${CROZE_LLVM_CONFIG} --version
                  OUTPUT_VARIABLE CROZE_LLVM_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${CROZE_LLVM_CONFIG} --includedir
                  OUTPUT_VARIABLE CROZE_LLVM_INCLUDE OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(CROZE_LLVM_INCLUDE AND EXISTS ${CROZE_LLVM_INCLUDE}/llvm-c/Core.h)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" CROZE_LLVM_SOVERSION ${CROZE_LLVM_VERSION})
  target_include_directories(croze_llvm_headers SYSTEM INTERFACE ${CROZE_LLVM_INCLUDE})
  target_compile_definitions(croze_llvm_headers INTERFACE
    CROZE_HAVE_LLVM=1 CROZE_LLVM_LIBRARY="libLLVM.so.${CROZE_LLVM_SOVERSION}")
  message(STATUS "croze: LLVM ${CROZE_LLVM_VERSION} (libLLVM.so.${CROZE_LLVM_SOVERSION})")
else()
  target_compile_definitions(croze_llvm_headers INTERFACE CROZE_HAVE_LLVM=0)
  message(STATUS "croze: no LLVM 19 or newer found, building without the LLVM renderer")
endif()

# croze_opencl_headers: the same for OpenCL.
add_library(croze_opencl_headers INTERFACE)
find_path(CROZE_OPENCL_INCLUDE CL/cl.h)
if(CROZE_OPENCL_INCLUDE)
  target_include_directories(croze_opencl_headers SYSTEM INTERFACE ${CROZE_OPENCL_INCLUDE})
  target_compile_definitions(croze_opencl_headers INTERFACE
    CROZE_HAVE_OPENCL=1 CROZE_OPENCL_LIBRARY="libOpenCL.so.1" CL_TARGET_OPENCL_VERSION=300)
else()
  target_compile_definitions(croze_opencl_headers INTERFACE CROZE_HAVE_OPENCL=0)
  message(STATUS "croze: no CL/cl.h found, building without the OpenCL device")
endif()

# croze_z3_headers: the same for Z3.
add_library(croze_z3_headers INTERFACE)
find_path(CROZE_Z3_INCLUDE z3.h)
if(CROZE_Z3_INCLUDE)
  target_include_directories(croze_z3_headers SYSTEM INTERFACE ${CROZE_Z3_INCLUDE})
  target_compile_definitions(croze_z3_headers INTERFACE
    CROZE_HAVE_Z3=1 CROZE_Z3_LIBRARY="libz3.so.4")
else()
  target_compile_definitions(croze_z3_headers INTERFACE CROZE_HAVE_Z3=0)
  message(STATUS "croze: no z3.h found, building without proofs")
endif()

# croze_pictures: the libraries that read pictures, and CROZE_HAVE_PNG, _JPEG, _TIFF, _WEBP and
# _JPEG2000 (0 or 1).  These are linked, by users of croze too: CROZE_PICTURE_LIBRARIES is what is
# found, CROZE_PICTURE_PACKAGES and CROZE_PICTURE_MODULES what CMake and pkg-config know it by.
find_package(PNG QUIET)
find_package(JPEG QUIET)
find_package(TIFF 4.5 QUIET)  # the first that bounds what a file makes it allocate
# WebP and OpenJPEG are found and linked by name: Debian 12 has no package of CMake for the first,
# and the second's names programs that come in another package.
find_path(CROZE_WEBP_INCLUDE webp/decode.h)
find_library(CROZE_WEBP_LIBRARY webp)
find_path(CROZE_JPEG2000_INCLUDE openjpeg.h PATH_SUFFIXES openjpeg-2.5)
find_library(CROZE_JPEG2000_LIBRARY openjp2)
add_library(croze_pictures INTERFACE)
foreach(format WEBP JPEG2000)
  if(CROZE_${format}_INCLUDE AND CROZE_${format}_LIBRARY)
    set(${format}_FOUND TRUE)
    target_include_directories(croze_pictures SYSTEM INTERFACE ${CROZE_${format}_INCLUDE})
  endif()
endforeach()
set(CROZE_PICTURE_LIBRARIES)
set(CROZE_PICTURE_PACKAGES)
set(CROZE_PICTURE_MODULES)
set(formats PNG JPEG TIFF WEBP JPEG2000)
set(libraries PNG::PNG JPEG::JPEG TIFF::TIFF webp openjp2)
set(modules libpng libjpeg libtiff-4 libwebp libopenjp2)
foreach(format library module IN ZIP_LISTS formats libraries modules)
  set(found 0)
  if(${format}_FOUND)
    set(found 1)
    list(APPEND CROZE_PICTURE_LIBRARIES ${library})
    list(APPEND CROZE_PICTURE_MODULES ${module})
    if(TARGET ${library})
      list(APPEND CROZE_PICTURE_PACKAGES ${format})
    endif()
  else()
    message(STATUS "croze: no library for ${format} found, building without that format")
  endif()
  target_compile_definitions(croze_pictures INTERFACE CROZE_HAVE_${format}=${found})
endforeach()
target_link_libraries(croze_pictures INTERFACE ${CROZE_PICTURE_LIBRARIES})

# croze_text: utf8proc and PCRE2, for tokenizers and patterns in models.  Neither has a package of CMake in Debian 12, so
# they are found and linked by name.
add_library(croze_text INTERFACE)
find_path(CROZE_UTF8PROC_INCLUDE utf8proc.h REQUIRED)
find_path(CROZE_PCRE2_INCLUDE pcre2.h REQUIRED)
find_library(CROZE_UTF8PROC_LIBRARY utf8proc REQUIRED)
find_library(CROZE_PCRE2_LIBRARY pcre2-8 REQUIRED)
target_include_directories(croze_text SYSTEM INTERFACE ${CROZE_UTF8PROC_INCLUDE} ${CROZE_PCRE2_INCLUDE})
target_link_libraries(croze_text INTERFACE ${CROZE_UTF8PROC_LIBRARY} ${CROZE_PCRE2_LIBRARY})
