// open_axes.h -- internal to jit/: the axes of a step's inputs whose sizes are open.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "croze/jit/dim.h"
#include "croze/jit/signature.h"
#include "croze/run/open_sizes.h"

namespace croze {

class OpenAxes {
 public:
  // Throws Error if the axis has a Dim already, or a Dim of this name has other bounds.
  void add(std::string_view place, std::int64_t axis, const Dim& dim);

  bool empty() const { return axes_.empty(); }
  const std::vector<Dim>& dims() const { return dims_; }
  // The number of the Dim along an axis of the input at this place; -1 if it is closed.
  int dim_at(std::string_view place, std::int64_t axis) const;
  // The value of each Dim.  Throws Error if there is no such input or axis, axes of one Dim differ,
  // or a size is out of bounds.
  std::vector<std::int64_t> sizes(const Signature& signature) const;
  // The signature with the sizes that `other` has along these axes.
  Signature with_sizes_of(const Signature& signature, const Signature& other) const;
  // What is known of recordings for sizes like these.
  OpenSizes& plans();

 private:
  struct Axis {
    std::string place;
    std::int64_t axis;
    std::size_t dim;
  };

  std::vector<Axis> axes_;
  std::vector<Dim> dims_;
  std::unique_ptr<OpenSizes> plans_;
};

}  // namespace croze
