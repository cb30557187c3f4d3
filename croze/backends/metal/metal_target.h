// metal_target.h -- Apple's graphics processors as a target: kernels are written for them, and
// nothing runs.
#pragma once

#include "croze/device/target.h"

namespace croze::metal {

// Sources in Metal's shading language; only Apple's compiler takes them.
Target metal_target();

}  // namespace croze::metal
