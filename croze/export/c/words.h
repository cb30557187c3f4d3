// words.h -- internal to export/: what C leaves for names.
#pragma once

#include <string>
#include <string_view>

#include "croze/export/names.h"

namespace croze::plain_c {

// The keywords of C11 and of C++20, and the macros of the headers that the written files include.
exporting::ReservedWords reserved_words();

// "FASHION" of "fashion".
std::string upper(std::string_view name);

}  // namespace croze::plain_c
