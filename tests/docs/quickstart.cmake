# The training example of README is examples/quickstart.cpp, word for word.
file(READ ${README} readme)
file(READ ${EXAMPLE} example)
string(FIND "${readme}" "```cpp\n${example}```\n" place)
if(place EQUAL -1)
  message(FATAL_ERROR "The example in ${README} is not ${EXAMPLE}")
endif()
