# cmake -D ROOT=... -D FILES=a;b -D BUILD=... -D OUTPUT=x.cpp -P compiler_id.cmake
#
# Writes the definition of croze::compiler_id(): a hash of the names and contents of FILES, which are
# relative to ROOT, and of the text BUILD.
set(content "${BUILD}\n")
foreach(file IN LISTS FILES)
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND content "${hash} ${file}\n")
endforeach()
string(SHA256 id "${content}")
file(WRITE ${OUTPUT}
"#include \"croze/run/compiler_id.h\"

std::string_view croze::compiler_id() { return \"${id}\"; }
")
