// boxes.h -- Op::CopyBox in CUDA C, by its assembler; how batches are awaited says
// render/ptx/boxes.h.
#pragma once

#include <string>

#include "croze/render/c_family/dialect.h"

namespace croze::c_family {

// "struct tensor_map ..", in front of the kernel; empty if no boxes are copied.
std::string tensor_map_type(const LinearProgram& program);
// ", const __grid_constant__ tensor_map map0, long long shift0", behind the other parameters: the
// map of each way to copy from a buffer, and by how many elements the buffer begins behind the
// address that the map has.
std::string box_parameters(const LinearProgram& program);
// Lines at the start of the body: the barriers of batches, made ready, and what counts batches.
std::string box_prologue(const LinearProgram& program);
// Bytes of the barriers in the memory of a group, behind its Locals.
std::int64_t bytes_of_barriers(const LinearProgram& program);

// copy_box_2x8192(to, &map0, barrier, x, y), of two axes and so many bytes.
Helper copy_box_helper(const Dialect& dialect, const BoxedBuffer& box);
// await_boxes(barriers, is_first, begun, awaited, left), for so many barriers.
Helper await_boxes_helper(const Dialect& dialect, std::int64_t barriers);

}  // namespace croze::c_family
