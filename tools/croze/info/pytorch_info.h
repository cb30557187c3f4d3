// pytorch_info.h -- what `croze info` says of checkpoints of PyTorch.
#pragma once

#include <string>

namespace croze::tool {

// Whether a file begins as one.
bool is_pytorch(const std::string& path);

void print_pytorch_info(const std::string& path, bool as_json);

}  // namespace croze::tool
