// machine.h -- internal to export/: the machines that exported kernels are made for.
#pragma once

#include <string_view>

#include "croze/device/caps.h"

namespace croze::plain_c {

// The capabilities of a machine, whatever device a graph names: the same wherever the export is
// made.
using Machine = const Caps& (*)(int device);

// The one of this name (CExportOptions::machine).  Throws Error, naming those that there are.
Machine machine_called(std::string_view name);

}  // namespace croze::plain_c
