// functions.h -- internal to export/: linear programs as functions of C.
#pragma once

#include <vector>

#include "croze/export/c/model.h"
#include "croze/render/c_family/writer.h"
#include "croze/render/program.h"

namespace croze::plain_c {

// The function of a kernel.  What it calls is added to the helpers, each once.
Function function_of(const LinearProgram& program, std::vector<c_family::Helper>& helpers);

}  // namespace croze::plain_c
