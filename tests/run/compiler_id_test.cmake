# cmake -D SCRIPT=.../compiler_id.cmake -D FOLDER=... -P compiler_id_test.cmake
#
# The id of a compiler changes with the content, the names and the number of its sources, and with
# nothing else.
file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${FOLDER}/a.cpp "int a;\n")
file(WRITE ${FOLDER}/b.cpp "int b;\n")

# id_of(<variable> <build> <file> ...)
function(id_of variable build)
  set(output ${FOLDER}/${variable}/id.cpp)
  execute_process(COMMAND ${CMAKE_COMMAND} -D ROOT=${FOLDER} -D "FILES=${ARGN}" -D "BUILD=${build}"
    -D OUTPUT=${output} -P ${SCRIPT} COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${output} text)
  string(REGEX MATCH "\"[0-9a-f]+\";" id "${text}")
  string(LENGTH "${id}" length)
  if(NOT length EQUAL 67)  # 64 digits
    message(FATAL_ERROR "no id in ${text}")
  endif()
  set(${variable} ${id} PARENT_SCOPE)
endfunction()

id_of(first "g++" a.cpp b.cpp)
file(TOUCH ${FOLDER}/a.cpp)
id_of(same "g++" a.cpp b.cpp)
id_of(other_build "g++ -g" a.cpp b.cpp)
id_of(fewer "g++" a.cpp)
file(RENAME ${FOLDER}/b.cpp ${FOLDER}/c.cpp)
id_of(other_name "g++" a.cpp c.cpp)
file(RENAME ${FOLDER}/c.cpp ${FOLDER}/b.cpp)
file(APPEND ${FOLDER}/b.cpp "// more\n")
id_of(other_content "g++" a.cpp b.cpp)

if(NOT first STREQUAL same)
  message(FATAL_ERROR "the id changed though no source did")
endif()
set(ids ${first} ${other_build} ${fewer} ${other_name} ${other_content})
list(REMOVE_DUPLICATES ids)
list(LENGTH ids count)
if(NOT count EQUAL 5)
  message(FATAL_ERROR "${count} ids for 5 compilers")
endif()
