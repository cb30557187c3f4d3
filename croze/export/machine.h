// machine.h -- internal to export/: the machine that exported kernels are made for.
#pragma once

#include "croze/device/caps.h"

namespace croze::plain_c {

// Any machine with a C compiler: the same record wherever the export is made.
const Caps& portable_machine();

}  // namespace croze::plain_c
