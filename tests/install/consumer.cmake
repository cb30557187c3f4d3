# A program found by CMake, and by pkg-config.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
build(cmake ${CMAKE_CURRENT_LIST_DIR}/consumer)
run(${WORK_DIR}/cmake/consumer)

# Both kinds find the library of LLVM that is installed beside croze.
function(expect_installed_llvm program)
  if(NOT EXISTS ${prefix}/${LIBDIR}/libLLVM-croze.so)
    return()  # there were no static libraries to make it of
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E env CROZE_CACHE=0 LD_DEBUG=files ${program}
    OUTPUT_QUIET ERROR_VARIABLE files COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "calling init: [^\n]*libLLVM[^\n]*" loaded "${files}")
  if(NOT loaded MATCHES "^calling init: ${prefix}/[^;]*/libLLVM-croze.so$")
    message(FATAL_ERROR "${program} loaded as LLVM: ${loaded}")
  endif()
endfunction()
expect_installed_llvm(${WORK_DIR}/cmake/consumer)

set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
execute_process(COMMAND pkg-config --cflags --libs croze
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${CXX_FLAGS} ${flags}")
run(${CXX} ${CMAKE_CURRENT_LIST_DIR}/consumer/main.cpp -o ${WORK_DIR}/consumer ${flags})
run(${WORK_DIR}/consumer)
expect_installed_llvm(${WORK_DIR}/consumer)
