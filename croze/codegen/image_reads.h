// image_reads.h -- buffers that a kernel reads as images.
#pragma once

#include <vector>

#include "croze/device/caps.h"
#include "croze/render/program.h"

namespace croze {

// The buffers of the program that devices with images (Caps::image_vectors) had better read as
// such, in the order of their slots.  All loads of one are of whole pixels: rows of 4, 8 or 16
// lanes that begin at a multiple of four elements, behind one gate for all lanes or none.
std::vector<ImageBuffer> images_to_read(const LinearProgram& program, const Caps& caps);

}  // namespace croze
