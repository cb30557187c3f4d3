// modules.h -- internal to run/: which module of a model each node of a graph belongs to.
//
// Graphs know nothing of models, and a model is a plain struct that registers nothing.  But its
// parameters get names where its members are visited (nn/state.h), "blocks.0.query.weight", and a
// file of weights has such names, too.  From them it follows where a node belongs: what computes
// with parameters belongs to the module that holds them; what does not, such as an activation, to
// the innermost module that holds all of those its inputs come from.  So the sum of a residual
// connection belongs to the block around it, and the scores of attention to the attention.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/graph/uop.h"

namespace croze {

// The module that holds all of the model.
inline constexpr std::string_view whole_model = ".";

// The innermost module that holds both.  The empty one is none, and holds nothing.
std::string common_module(std::string_view a, std::string_view b);

// The module of what is called "blocks.0.query.weight": "blocks.0.query".  Empty for no name.
std::string module_of(std::string_view name);

class Modules {
 public:
  // `order`: sources first.  `name_of`: what the memory of a Buffer is called; "" if it has no
  // name.
  template <typename F>
  Modules(std::span<const UOp> order, F name_of) {
    for (UOp u : order) {
      if (u.is(Op::Buffer)) {
        add_buffer(u, name_of(u));
      } else {
        add(u);
      }
    }
  }

  // Empty where the node depends on no parameter, or was not in the order.
  const std::string& of(UOp node) const;

 private:
  struct Entry {
    std::string module;
    bool is_parameter = false;  // made of parameters alone
    bool depends = false;       // on memory
  };

  void add_buffer(UOp buffer, const std::string& name);
  void add(UOp node);

  std::vector<Entry> entries_;
  FlatMap<const Node*, std::size_t> places_;
};

}  // namespace croze
