// missing_includes.h -- whether files include what they use of the standard library, fmt and
// GoogleTest.
//
// The headers that are precompiled (cmake/layer.cmake) are seen by every file, so that no compiler
// notices where one is not included; a build without them does, and so do users who build croze as
// a part of their project.
#pragma once

#include <string>
#include <vector>

#include "layers/sources.h"

namespace croze::layers {

// "file:line: std::sort without <algorithm>", once for each file and header.  A file includes what
// our files that it includes do; what other headers include does not count.
std::vector<std::string> missing_includes(const std::vector<SourceFile>& files);

}  // namespace croze::layers
