// onnx_page.h -- the page docs/onnx.md.
#pragma once

namespace croze::tool {

// Writes the page to standard output, from the table of operators and that of known differences.
void print_onnx_page();

}  // namespace croze::tool
