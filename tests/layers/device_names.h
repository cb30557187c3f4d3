// device_names.h -- whether the library knows of a device where it should know of capabilities.
#pragma once

#include <string>
#include <vector>

#include "layers/sources.h"

namespace croze::layers {

// "file:line: OPENCL is named outside its folder", for each such line of croze/ that is no comment:
// devices are known to their folders (backends/, render/, the exports for one), to the table of
// devices, and to the table of options, of which some are for one device.
std::vector<std::string> device_names(const std::vector<SourceFile>& files);

}  // namespace croze::layers
