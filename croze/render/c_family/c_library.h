// c_library.h -- kernels as functions of a C library, which calls them by itself (export/).
#pragma once

#include "croze/render/c_family/dialect.h"

namespace croze::c_family {

// The words of C, but for the head of a kernel:
//
//   static void croze_NAME(float* restrict b0, const float* restrict b1, int64_t a0, void* scratch)
//
// has a parameter for each buffer and each variable, and scratch if takes_scratch().  A buffer that
// the kernel sees under several types, or does not touch, is a void*.  Kernels are for one thread.
const Dialect& c_library_dialect();

bool takes_scratch(const LinearProgram& program);

}  // namespace croze::c_family
