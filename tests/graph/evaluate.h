// Direct evaluation of scalar expressions, node by node: the truth that rewriting must not change.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "croze/base/error.h"
#include "croze/graph/eval.h"
#include "croze/graph/uop.h"

namespace croze::test {

// Values by node, as the bits a constant carries.
using Values = std::unordered_map<const Node*, std::int64_t>;

// The value of `root`; `values` holds those of the leaves and gets those of all nodes visited.
inline std::int64_t evaluate(UOp root, Values& values) {
  std::vector<UOp> stack{root};
  while (!stack.empty()) {
    const UOp u = stack.back();
    if (values.contains(u.node())) {
      stack.pop_back();
      continue;
    }
    bool ready = true;
    std::vector<std::int64_t> operands;
    for (UOp s : u.sources()) {
      auto it = values.find(s.node());
      if (it == values.end()) {
        stack.push_back(s);
        ready = false;
      } else {
        operands.push_back(it->second);
      }
    }
    if (!ready) continue;
    stack.pop_back();
    if (u.is_const()) {
      values[u.node()] = u.arg().value;
      continue;
    }
    ensure(is_elementwise(u.op()) && !operands.empty(), "no value for a leaf");
    values[u.node()] = eval(u.op(), u.dtype(), u.src(u.num_src() - 1).dtype(), operands);
  }
  return values.at(root.node());
}

}  // namespace croze::test
