// pickle.h -- the stack machine of Python's pickle, as far as checkpoints need it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/base/bytes.h"

namespace croze::pytorch {

// An object that a pickle makes.  Objects are named by their number, so that what is in several
// containers, or in itself, is there once.
struct PickledObject {
  enum class Kind {
    None,
    Flag,
    Integer,
    Float,
    Text,
    Bytes,
    List,     // of `parts`, as are sets
    Tuple,    // torch.Size, too
    Dict,     // `parts` are keys and values in turn
    Global,   // a class or function that is known, by its name
    Storage,  // `parts` are the tuple that names it: "storage", type, key, place, size, ..
    Tensor,   // `parts` are storage, offset, sizes, strides and, if it is not the storage's, dtype
  };
  Kind kind = Kind::None;
  std::int64_t integer = 0;  // of a flag, too
  double number = 0;
  std::string text;  // of bytes, and the name of a global, too
  std::vector<int> parts;
};

struct Pickle {
  std::vector<PickledObject> objects;
  int root = 0;
};

// Runs one pickle, up to its end.  Throws Error, naming the file, for globals that are not known,
// for operations that make other objects than these, and for damage.  Time and memory are bounded
// by the bytes that are read.
Pickle read_pickle(ByteReader& reader, const std::string& path);

}  // namespace croze::pytorch
