// output_files.h -- what a command computes, as files of a folder.
#pragma once

#include <croze/tensor/tensor.h>

#include <string>

namespace croze::tool {

// Makes the folder if need be, before anything is computed, so that nobody waits for outputs that
// cannot be kept.  Throws Error if it cannot be written to.
void make_output_folder(const std::string& path);

// Writes a tensor as FOLDER/NAME.npy and returns that path.  A name may hold anything: in the
// file's it has '_' for what is no letter, digit, dot or dash.
std::string save_output(const std::string& folder, const std::string& name, const Tensor& tensor);

}  // namespace croze::tool
