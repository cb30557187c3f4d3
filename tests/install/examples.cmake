# The examples, built against what is installed, run briefly and say what they must.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
build(examples ${SOURCE_DIR}/examples)

# expect(<pattern> <program> <arguments>...)
function(expect pattern program)
  execute_process(COMMAND ${WORK_DIR}/examples/${program} ${ARGN}
    WORKING_DIRECTORY ${WORK_DIR} OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
  if(NOT printed MATCHES "${pattern}")
    message(FATAL_ERROR "${program} printed\n${printed}\nwhich does not match ${pattern}")
  endif()
endfunction()

expect("(49[0-9]|5[01][0-9]) of 512 right" quickstart)
expect("(group of 100 [^\n]*\n)(group of 100 [^\n]*\n)(group of 100 [^\n]*\n)2 of 5 directions hold 9[0-9][^\n]*\nnotes at 440 Hz 554 Hz 659 Hz" explore)
expect("200 of 200 answers are right" server)
if(EXISTS /usr/share/datasets/fashion-mnist)
  expect("step 30: loss [01]\\.[^\n]*\naccuracy on the test images: 0\\.[2-9]" resnet 30)
endif()
