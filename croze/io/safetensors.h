// safetensors.h -- named tensors in a file, in the safetensors format.
//
// A file is an 8-byte length, a JSON header of that length (name -> dtype, shape, offsets) and the
// elements.  Loading maps a file of more than 1 MiB and copies nothing on devices that see host
// memory.  So do not write into a file in place while tensors of it live: they would change with
// it. Saving is safe: it replaces the file and leaves the old one to those who have it open.  Files
// are not trusted: every length is checked against what is there, and what is read is bounded by
// the file.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "croze/nn/state.h"

namespace croze {

struct SafeTensors {
  StateDict tensors;                            // in the order of their data in the file
  std::map<std::string, std::string> metadata;  // of the file: "__metadata__"
};

// Reads a file.  Tensors stand on the default device unless `options` name one, and a dtype named
// there is what floating-point tensors are converted to.  The tensors may be assigned to: that
// changes memory, never the file.
//
// Throws Error naming the file and what is wrong with it: no such file, a header that is too large
// (over 100 MB), too small or longer than the file, invalid JSON, a name that stands twice, a dtype
// that croze lacks, data that overlap, leave holes, or are more or less than the shape needs.
SafeTensors load_safetensors(const std::string& path, const TensorOptions& options = {});

// Writes the tensors, computed first if need be, to `path`.  The file appears whole or not at all:
// on any failure Error is thrown and a file that was there before is as it was. Throws Error if two
// have one name.
void save_safetensors(const std::string& path, const StateDict& tensors,
                      const std::map<std::string, std::string>& metadata = {});

}  // namespace croze
