# What the tests of this folder share: where croze is installed, and run().
set(prefix ${WORK_DIR}/prefix)

# Runs a command, which must succeed.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${status}): ${command}")
  endif()
endfunction()

# Builds a project of CMake against what is installed, in WORK_DIR/<name>.
function(build name source)
  run(${CMAKE_COMMAND} -G Ninja -S ${source} -B ${WORK_DIR}/${name}
    -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_CXX_FLAGS=${CXX_FLAGS}
    ${ARGN})
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/${name})
endfunction()
