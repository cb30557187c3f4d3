// tuple.cpp -- tuples as nodes, and how two are combined.
#include "croze/graph/tuple.h"

#include "croze/base/small_vector.h"
#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/graph/rules/transport.h"

namespace croze {
namespace {

constexpr std::size_t fields = 3;  // of a part, in the argument of the node

}  // namespace

UOp tuple_reduce(const TupleForm& form, std::span<const UOp> values, std::span<const UOp> ranges) {
  SmallVector<std::int64_t, 16> arg{form.terms};
  for (const TuplePart& p : form.parts) {
    arg.push_back(static_cast<std::int64_t>(p.op));
    arg.push_back(p.transport);
    arg.push_back(p.leader);
  }
  SmallVector<UOp, 8> src;
  src.append(values.begin(), values.end());
  src.append(ranges.begin(), ranges.end());
  return values[0].graph().make(Op::TupleReduce, values[0].dtype(), src,
                                Arg(std::span<const std::int64_t>(arg)));
}

TupleForm form_of(UOp tuple_reduce) {
  const std::span<const std::int64_t> arg = tuple_reduce.arg().as_ints();
  TupleForm form{.terms = arg[0], .parts = {}};
  for (std::size_t i = 1; i < arg.size(); i += fields) {
    form.parts.push_back({static_cast<Op>(arg[i]), arg[i + 1], arg[i + 2]});
  }
  return form;
}

UOp part_of(UOp tuple_reduce, std::int64_t k) {
  if (k == 0) return tuple_reduce;
  const UOp value = tuple_reduce.src(static_cast<int>(k));
  return tuple_reduce.graph().make(Op::Part, value.dtype(), {tuple_reduce}, Arg(k));
}

TupleState combined(const TupleForm& form, const TupleState& a, const TupleState& b) {
  TupleState both{.values = {}, .terms = a.terms + b.terms};
  // Leaders stand before those who follow them.
  for (std::size_t i = 0; i < form.parts.size(); i++) {
    const TuplePart& p = form.parts[i];
    UOp left = a.values[i], right = b.values[i];
    if (p.transport >= 0) {
      const Transport& law = transports()[static_cast<std::size_t>(p.transport)];
      const auto leader = static_cast<std::size_t>(p.leader);
      const UOp to = centre_of(law, both.values[leader], both.terms);
      left = moved(law, p.op, left, centre_of(law, a.values[leader], a.terms), to, a.terms);
      right = moved(law, p.op, right, centre_of(law, b.values[leader], b.terms), to, b.terms);
    }
    both.values.push_back(left.graph().alu(p.op, {left, right}));
  }
  return both;
}

}  // namespace croze
