// declarations.h -- the functions that headers declare, as a user writes a call of them.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace croze::tool {

// By name, in the order of the headers: each declaration on one line, without the parameter that
// holds the line of the call.  Static functions of Tensor are "Tensor::zeros(..)", methods are
// "Tensor::cast(..)" too and stand under ".cast".
using Declarations = std::map<std::string, std::vector<std::string>>;

// Of croze/croze.h in the folder `source` and of the headers that it includes.  Throws Error if one
// cannot be read.
Declarations public_declarations(const std::string& source);

}  // namespace croze::tool
