// npy.h -- NumPy's arrays in files: one in a .npy, several by name in a .npz.
//
// Files of more than 1 MiB are mapped, and arrays that stand in them as they are computed with (in
// row order, little endian, not compressed) are not copied.  So do not write into a file in place
// while tensors of it live, as numpy.save() does: they would change with it.  Saving with croze is
// safe: it replaces the file and leaves the old one to those who have it open.  Files are not
// trusted: shapes are checked against the bytes that are there.
#pragma once

#include <string>

#include "croze/nn/state.h"
#include "croze/tensor/tensor.h"

namespace croze {

// Reads an array of bools, integers or floats (float16 to float64), in row or column order, of
// either byte order.  The tensor stands on the default device unless `options` name one; a dtype
// named there is converted to.  Throws Error naming the file and what is wrong with it: no array,
// a header that is damaged or longer than the file, a dtype that tensors lack, data that are more
// or less than the shape needs.
Tensor load_npy(const std::string& path, const TensorOptions& options = {});

// Writes the tensor, computed first if need be.  The file appears whole or not at all.  Throws
// Error for bfloat16 and float8, which NumPy does not have.
void save_npy(const std::string& path, const Tensor& tensor);

// The same for an archive: names are those of its files without ".npy".
StateDict load_npz(const std::string& path, const TensorOptions& options = {});
void save_npz(const std::string& path, const StateDict& tensors);

}  // namespace croze
