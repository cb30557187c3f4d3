# A program found by CMake, and by pkg-config.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
build(cmake ${CMAKE_CURRENT_LIST_DIR}/consumer)
run(${WORK_DIR}/cmake/consumer)

set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
execute_process(COMMAND pkg-config --cflags --libs croze
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${CXX_FLAGS} ${flags}")
run(${CXX} ${CMAKE_CURRENT_LIST_DIR}/consumer/main.cpp -o ${WORK_DIR}/consumer ${flags})
run(${WORK_DIR}/consumer)
