// ops_page.h -- docs/ops.md, written from the op table and from the headers.
#pragma once

#include <string>

namespace croze::tool {

// Prints the page.  `source` is the folder with croze/croze.h, whose declarations are shown.
void print_ops_page(const std::string& source);

}  // namespace croze::tool
