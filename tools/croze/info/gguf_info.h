// gguf_info.h -- what croze info says about a GGUF model.
#pragma once

#include <string>

namespace croze::tool {

// Whether a file begins as GGUF files do.  Throws Error if it cannot be opened.
bool is_gguf(const std::string& path);

// Metadata, tensors, and how many there are of each type, as text or as one line of JSON.
void print_gguf_info(const std::string& path, bool as_json);

}  // namespace croze::tool
