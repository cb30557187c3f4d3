# The programs of docs/guide.md, taken out of the page, print what stands below them.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(folder ${WORK_DIR}/guide)
file(REMOVE_RECURSE ${folder})
file(MAKE_DIRECTORY ${folder})
execute_process(
  COMMAND awk "/^```cpp/  { file = sprintf(\"program_%d.cpp\", ++count); next }
               /^```text/ { file = sprintf(\"expected_%d\", count); next }
               /^```/     { file = \"\" }
               file != \"\" { print > file }"
    ${SOURCE_DIR}/docs/guide.md
  WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)
file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/guide/CMakeLists.txt ${folder}/CMakeLists.txt)
file(GLOB programs RELATIVE ${folder} ${folder}/program_*.cpp)
list(LENGTH programs count)
if(count LESS 8)
  message(FATAL_ERROR "docs/guide.md has ${count} programs")
endif()

build(guide-build ${folder})
foreach(number RANGE 1 ${count})
  execute_process(COMMAND ${WORK_DIR}/guide-build/program_${number}
    WORKING_DIRECTORY ${folder} OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${folder}/expected_${number} expected)
  if(NOT printed STREQUAL expected)
    message(FATAL_ERROR "program ${number} of docs/guide.md printed\n${printed}\nnot\n${expected}")
  endif()
endforeach()
