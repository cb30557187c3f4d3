# Every installed header alone, as pkg-config includes it, under strict warnings: by each compiler
# that is there, in C++20 and C++23.  Then a project with such warnings that has croze as a
# subdirectory.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(strict -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Werror)

set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
execute_process(COMMAND pkg-config --cflags croze
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")

file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/croze/*.h)
set(all)
foreach(header IN LISTS headers)
  string(APPEND all "#include <${header}>\n")
endforeach()
file(WRITE ${WORK_DIR}/all_headers.cpp "${all}")

find_program(GNU_COMPILER NAMES g++-12 g++)
find_program(CLANG_COMPILER NAMES clang++-19 clang++)
foreach(compiler ${GNU_COMPILER} ${CLANG_COMPILER})
  foreach(standard 20 23)
    run(${compiler} ${flags} -std=c++${standard} ${strict} -fsyntax-only ${WORK_DIR}/all_headers.cpp)
  endforeach()
endforeach()

# The lowest layer stands for the library: it takes its flags as all layers do.
run(${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR}/subdirectory -B ${WORK_DIR}/subdirectory
  -D CROZE_SOURCE_DIR=${SOURCE_DIR} -D CMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/subdirectory --target croze_base consumer_object)
