# The devices that lists of tests are run on, one a line: its name, its label, and what its
# libraries are told.  A device that the machine lacks skips its tests.

# That of Mesa 25.0; that of 22.3 computes wrong values, and croze does not use it.
set(CROZE_RUSTICL_ICD "/etc/OpenCL/vendors/rusticl.icd" CACHE FILEPATH
  "The file by which the loader of OpenCL finds rusticl")

set(CROZE_TESTED_DEVICES
  "CPU device-llvm"
  "CPU device-llvm-avx2 CROZE_CPU_WITHOUT=avx512f"
  "C device-c"
  "OPENCL device-opencl-pocl"
  "OPENCL device-images-pocl CROZE_IMAGES=1"
  "OPENCL device-opencl-rusticl OCL_ICD_VENDORS=${CROZE_RUSTICL_ICD} RUSTICL_ENABLE=llvmpipe"
  "OPENCL device-images-rusticl OCL_ICD_VENDORS=${CROZE_RUSTICL_ICD} RUSTICL_ENABLE=llvmpipe CROZE_IMAGES=1"
  "VULKAN device-vulkan"
  "WEBGPU device-webgpu"
  "PTX_INTERP device-ptx-interp"
  "CUDA device-cuda")

# croze_on_devices(<name> <program> [ARGUMENTS ..] [LABELS ..] [ENVIRONMENT ..] [TIMEOUT seconds]
#                  [PARTS n])
#
# Runs the program once for each, as test <name>_on_<device>; CROZE_DEVICE names the device, and so
# does @DEVICE@ in the arguments.  In parts: each is a process that runs one in n of GoogleTest's
# tests, <name>_on_<device>, <name>_on_<device>_2, .., and has the time to itself.
function(croze_on_devices name program)
  cmake_parse_arguments(ARG "" "TIMEOUT;PARTS" "ARGUMENTS;LABELS;ENVIRONMENT" ${ARGN})
  foreach(line ${CROZE_TESTED_DEVICES})
    separate_arguments(words UNIX_COMMAND "${line}")
    list(POP_FRONT words device label)
    string(REGEX REPLACE "^device-" "" entry ${label})
    string(REPLACE "-" "_" entry ${entry})
    string(REPLACE "@DEVICE@" ${device} arguments "${ARG_ARGUMENTS}")
    set(environment "CROZE_DEVICE=${device};${words};${ARG_ENVIRONMENT}")
    if(NOT ARG_PARTS)
      set(ARG_PARTS 1)
    endif()
    foreach(part RANGE 1 ${ARG_PARTS})
      set(test ${name}_on_${entry})
      if(part GREATER 1)
        string(APPEND test _${part})
      endif()
      math(EXPR index "${part} - 1")
      add_test(NAME ${test} COMMAND ${program} ${arguments})
      set_tests_properties(${test} PROPERTIES
        LABELS "${label};${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
        ENVIRONMENT "${environment};GTEST_TOTAL_SHARDS=${ARG_PARTS};GTEST_SHARD_INDEX=${index}")
    endforeach()
  endforeach()
endfunction()
