// open_inputs.h -- internal to io/onnx: which sizes of a model's inputs are open.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "croze/io/onnx/model.h"
#include "croze/jit/dim.h"
#include "croze/run/open_sizes.h"

namespace croze::onnx {

class OpenInputs {
 public:
  // The sizes that the ports do not fix: one for each name, and one for each that has none.
  // `given`: those that the user bounds, and ties.  Throws Error if no port has a size of such a
  // name.
  OpenInputs(std::span<const Port> ports, std::span<const Dim> given);

  const std::vector<OpenBounds>& bounds() const { return bounds_; }
  // Whether the user has said that sizes will change.
  bool are_given() const { return are_given_; }

  // Their values in these inputs; nothing if there are none, or one is out of bounds.
  std::optional<std::vector<std::int64_t>> sizes(std::span<const Value> inputs) const;
  // Values that all differ from these, and from each other, within bounds; but those that are 1.
  std::optional<std::vector<std::int64_t>> others(std::span<const std::int64_t> sizes) const;
  // Such lists, the next for models that cannot be recorded at the one before: first sizes that the
  // user does not bound stay what they are, then those that are equal stay equal.
  std::vector<std::vector<std::int64_t>> attempts(std::span<const std::int64_t> sizes) const;
  // For each choice of those that the user bounds and that may be 1, but that of `sizes`, a list in
  // which these are 1.
  std::vector<std::vector<std::int64_t>> choices_of_ones(std::span<const std::int64_t> sizes) const;
  // The shape of an input with such values.
  Shape shape(std::size_t input, Shape shape, std::span<const std::int64_t> sizes) const;

 private:
  struct Axis {
    std::size_t input;
    std::int64_t axis;
    std::size_t size;
  };

  std::vector<Axis> axes_;
  std::vector<OpenBounds> bounds_;
  std::vector<bool> is_given_;  // by size
  bool are_given_ = false;
};

}  // namespace croze::onnx
