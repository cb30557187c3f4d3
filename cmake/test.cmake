# Tests: one GoogleTest program per folder of tests/, one ctest entry per program.
find_package(GTest REQUIRED)

croze_precompiled_headers(croze_precompiled_test <gtest/gtest.h>)
target_link_libraries(croze_precompiled_test PRIVATE GTest::gtest)

# Tests run briefly and are half of all code: for debugging and under sanitizers they are not
# optimized.
set(test_options $<$<CONFIG:Debug>:-O0>)
target_compile_options(croze_precompiled_test PRIVATE ${test_options})

# Some take two minutes under sanitizers on a machine that does nothing else.
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(CROZE_TEST_SECONDS 900)
else()
  set(CROZE_TEST_SECONDS 300)
endif()

# What ctest's preset runs: a program none of whose tests have such a label is not built by default.
set(CROZE_TEST_LABELS ".*" CACHE STRING "Labels of the tests whose programs are built by default")

# croze_left_out(<target> <label> ...)
#
# Leaves a program of tests with these labels out of the default build if none of them is run.
function(croze_left_out target)
  set(run ${ARGN})
  list(FILTER run INCLUDE REGEX "^(${CROZE_TEST_LABELS})$")
  if(NOT run)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# croze_compiled_test(<target>)
#
# How tests are compiled.
function(croze_compiled_test target)
  croze_compiled(${target} LIGHT HEADERS croze_precompiled_test)
  target_compile_options(${target} PRIVATE ${test_options})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
endfunction()

# croze_test(<name> SOURCES a_test.cpp ... [LAYERS layers ...] [LINK libs ...] [LABELS labels ...]
#            [ENVIRONMENT variables ...] [SHARDS n])
#
# Links the layers named (the one called <name> when none is) and those below.  Without sources
# there is no test.  Every kernel compiled in a test is proven to stay inside its buffers.  A program
# in shards is n entries, <name>_1 to <name>_n, that run its cases in turn.  An entry that takes a
# minute and more, here or under sanitizers, gets the property COST: ctest begins with it, so that it
# is not the one that is left when the others are done.
function(croze_test name)
  cmake_parse_arguments(ARG "" "SHARDS" "SOURCES;LAYERS;LINK;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT ARG_SOURCES)
    return()
  endif()
  if(NOT ARG_LAYERS)
    set(ARG_LAYERS ${name})
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS quick)
  endif()
  add_executable(test_${name} ${ARG_SOURCES})
  croze_left_out(test_${name} ${ARG_LABELS})
  croze_compiled_test(test_${name})
  set_target_properties(test_${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests)
  croze_link_layers(test_${name} ${ARG_LAYERS})
  target_link_libraries(test_${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  if(NOT ARG_SHARDS)
    croze_test_entry(${name} test_${name} "${ARG_LABELS}" "${ARG_ENVIRONMENT}")
    return()
  endif()
  foreach(shard RANGE 1 ${ARG_SHARDS})
    math(EXPR index "${shard} - 1")
    croze_test_entry(${name}_${shard} test_${name} "${ARG_LABELS}"
      "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${index};${ARG_ENVIRONMENT}")
  endforeach()
endfunction()

function(croze_test_entry entry program labels environment)
  add_test(NAME ${entry} COMMAND ${program})
  set_tests_properties(${entry} PROPERTIES
    LABELS "${labels}"
    TIMEOUT ${CROZE_TEST_SECONDS}
    ENVIRONMENT "CROZE_CHECK_BOUNDS=1;${environment}")
endfunction()

# croze_refused_test(<name> <source>)
#
# The lines of the source that are marked `// refused: text` do not compile, for that reason.  This
# is asked of g++: clang, which makes functions of templates late, may not tell the line of the call.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(CROZE_GXX ${CMAKE_CXX_COMPILER})
else()
  find_program(CROZE_GXX g++)
endif()
function(croze_refused_test name source)
  add_test(NAME ${name}
    COMMAND ${CMAKE_COMMAND}
      "-DCOMMAND=${CROZE_GXX};-std=c++20;-I${PROJECT_SOURCE_DIR}"
      -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/${source}
      -P ${PROJECT_SOURCE_DIR}/tests/refused.cmake)
  set_tests_properties(${name} PROPERTIES LABELS "quick;mend" TIMEOUT 120)
endfunction()

# croze_page_test(<name> <label> <script> [arguments ...])
#
# A test of pages in headless Chromium.  These need node, and what `npm ci` installs in
# croze/viz/page; without that they are skipped, and say what is missing.
find_program(CROZE_NODE node)
function(croze_page_test name label script)
  if(CROZE_NODE)
    add_test(NAME ${name} COMMAND ${CROZE_NODE} ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARGN})
  else()
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: there is no node")
  endif()
  set_tests_properties(${name} PROPERTIES
    LABELS "long;mend;pages;${label}" TIMEOUT 900 SKIP_REGULAR_EXPRESSION "^skipped: ")
endfunction()
