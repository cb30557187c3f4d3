# Runs COMMAND and compares what it prints with FILE.
execute_process(COMMAND ${COMMAND} OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
file(READ ${FILE} written)
if(NOT printed STREQUAL written)
  message(FATAL_ERROR "${FILE} is not what the code says: `make docs` writes it again")
endif()
