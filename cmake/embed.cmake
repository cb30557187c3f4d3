# cmake -D INPUT=file -D NAME=function -D OUTPUT=x.cpp -P embed.cmake
#
# Writes the definition of std::string_view croze::NAME(): the bytes of a file.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT}
"#include <string_view>

namespace croze {
namespace {
constexpr unsigned char bytes[] = {
${bytes}
};
}  // namespace
std::string_view ${NAME}();
std::string_view ${NAME}() { return {reinterpret_cast<const char*>(bytes), sizeof bytes}; }
}  // namespace croze
")
