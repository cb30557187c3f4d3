// sized_form.h -- a tensor graph as a form, and the sizes and constants in it.
//
// A function recorded for a text of 37 words and for one of 52 makes two graphs of one form: they
// differ in sizes, and in numbers that follow from sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/schedule/schedule.h"

namespace croze {

// Whether integer `i` of the argument of a node is a size.
bool is_size(UOp u, std::int64_t i);

// Everything that is no size and no constant, as bytes, and these in the order of the form.
struct SizedForm {
  struct Constant {
    DType dtype = DType::Void;
    std::int64_t bits = 0;
    bool operator==(const Constant&) const = default;
  };

  std::string structure;
  std::vector<std::int64_t> sizes;
  std::vector<Constant> constants;
  std::vector<UOp> order;    // the nodes, sources first, in the order of the structure
  std::vector<UOp> buffers;  // those of them
};
SizedForm sized_form_of(const CanonicalGraph& graph);

}  // namespace croze
