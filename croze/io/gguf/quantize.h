// quantize.h -- a GGUF model in smaller types.
//
//     GgufQuantizer quantizer("model.gguf", {.type = GgmlType::Q4_K});
//     quantizer.save("model-q4.gguf");
//
// Weights, tensors of two or more axes whose names end in "weight", become blocks; norms, what
// routes tokens to experts and all other tensors stay as they are.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "croze/base/file.h"
#include "croze/io/gguf/header.h"

namespace croze {

struct GgufQuantizeOptions {
  GgmlType type = GgmlType::Q8_0;  // one of encodable_types()
  // Weights of the output are not made of fewer than six bits: they become Q6_K.  "pure" gives them
  // `type`.
  bool pure = false;
};

// What becomes of a tensor.
struct GgufQuantizeStep {
  std::string name;
  Shape shape;
  GgmlType from = GgmlType::F32, to = GgmlType::F32;
  std::int64_t from_bytes = 0, to_bytes = 0;
  // `to` is not the type that was asked for because rows are no whole number of its blocks.
  bool is_fallback = false;
};

class GgufQuantizer {
 public:
  // Reads the header of a model: one little-endian file.  Throws Error for a file that load_gguf()
  // refuses, for a part of a split model and a big-endian file, and for a type without encoder.
  GgufQuantizer(const std::string& path, const GgufQuantizeOptions& options);

  // A step for each tensor, in the order of the file.
  const std::vector<GgufQuantizeStep>& steps() const { return steps_; }

  // Writes the model, on all cores and with a few MiB of memory.  `on_step` is called before each
  // step.  Throws Error if `path` is the file that is read, if a weight is not finite or beyond
  // what its type can hold, and if writing fails; a file that was there before is then as it was.
  void save(const std::string& path,
            const std::function<void(const GgufQuantizeStep&)>& on_step = {}) const;

 private:
  MappedFile file_;
  GgufHeader header_;
  GgufQuantizeOptions options_;
  std::vector<GgufQuantizeStep> steps_;
};

}  // namespace croze
