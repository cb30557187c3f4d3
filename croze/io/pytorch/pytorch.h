// pytorch.h -- checkpoints of PyTorch: files of torch.save, in its zip format (.pt, .pth) and the
// one before version 1.6.
//
// Such a file holds a program for a stack machine (pickle) that makes the objects.  The machine
// here makes tensors, containers, numbers and texts, and nothing else: any other class or function
// that a file names is an Error, and is never called.  So models that were saved whole, and not by
// their state_dict, are refused.  Every length is checked against what is there.
//
// Tensors of more than 1 MiB files are mapped and not copied, as in safetensors.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "croze/nn/state.h"

namespace croze {

// What a file holds beside tensors: none, flags, numbers, texts, bytes.  Dtypes and devices are
// texts as PyTorch prints them, "torch.float16" and "cuda:0".
using PyTorchValue =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::byte>>;

struct PyTorchFile {
  // Tensors and values by where they stand: "model.layers.0.weight" is the member "layers.0.weight"
  // of the member "model", "betas.1" the second element of "betas".  A lone one is called "".
  StateDict tensors;
  std::vector<std::pair<std::string, PyTorchValue>> values;
};

// Whether a file begins as torch.save writes it; archives of other kinds do, too.
bool begins_as_pytorch(std::span<const std::byte> bytes);

// Reads a file.  Tensors stand on the default device unless `options` name one, and a dtype named
// there is what floating-point tensors are converted to.  Tensors that share memory in the file do
// not here.
//
// Throws Error naming the file and what is wrong with it: no such file, another format, something
// that is not one of the things above, a dtype that croze lacks, a tensor that is not in its file.
PyTorchFile load_pytorch(const std::string& path, const TensorOptions& options = {});

}  // namespace croze
