// numbers.cpp -- the form of a graph, and how its numbers come to kernels.
//
// A result must not depend on whether a number was compiled in or passed.  Codegen computes every
// op as rounded by its definition, folded or not, with these exceptions:
//
//   * Elementary functions of constants are folded exactly; a kernel computes them to one ulp.  So
//     what follows from numbers alone is folded here, for both, and a function that is applied to
//     numbers and positions only keeps its constants.
//   * A sum of products is a chain of multiply-adds.  An op that does nothing because of a constant
//     (x * 1, x + -0.0, max(x, -inf), where(c, x, 0)) is left out, and what stands below it can be
//     such a product, which is then not rounded by itself.  `is_folded` names these values.
#include "croze/schedule/numbers.h"

#include <cmath>
#include <limits>

#include "croze/base/flat_map.h"
#include "croze/base/small_vector.h"
#include "croze/graph/eval.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/text/serialize.h"

namespace croze {
namespace {

// ---- what may change --------------------------------------------------------------------------

// Whether a kernel computes the op on floats as it would fold it, to the last bit.
bool is_exact(UOp u) {
  if (!is_float(u.dtype())) return false;
  switch (u.op()) {
    case Op::Cast:
    case Op::Neg:
    case Op::Add:
    case Op::Mul:
    case Op::Div:
    case Op::Max:
    case Op::Min:
    case Op::Where: return true;
    default: return false;
  }
}

bool is_index_operand(UOp u, int source) {
  return (u.is(Op::Gather) && source >= 1) || (u.is(Op::Scatter) && source >= 2);
}

// What the nodes above and below mean for the numbers of a graph.
class Surroundings {
 public:
  Surroundings(std::span<const UOp> order, std::uint32_t id_limit)
      : reads_(id_limit, false), fixed_(id_limit, false), is_term_(id_limit, false) {
    for (UOp u : order) {
      bool reads = u.is(Op::Buffer);
      for (UOp s : u.sources()) reads = reads || reads_[s.id()];
      reads_[u.id()] = reads;
    }
    for (auto u = order.rbegin(); u != order.rend(); ++u) {
      for (int i = 0; i < u->num_src(); i++) {
        if (fixes(*u, i)) fixed_[u->src(i).id()] = true;
        if (passes_terms(*u)) is_term_[u->src(i).id()] = true;
      }
    }
  }

  // Whether `u` needs to know the numbers that its source is, or is made of.
  bool fixes(UOp u, int source) const {
    // Without memory below, all is made of positions and numbers.
    const bool reads = reads_[u.id()];
    return is_index_operand(u, source) || (is_elementwise(u.op()) && !reads && !is_exact(u)) ||
           (fixed_[u.id()] && (!reads || is_integral(u.src(source).dtype())));
  }

  // Whether sums may have the node, or what remains of it, as a term.
  bool is_term(UOp u) const { return is_term_[u.id()]; }

 private:
  // Whether the sources of `u` are terms of a sum, or would be if a number made an op do nothing.
  bool passes_terms(UOp u) const {
    if (u.is(Op::Reduce)) return u.reduce_op() == Op::Add && is_float(u.dtype());
    if (!is_term_[u.id()]) return false;
    if (!is_elementwise(u.op())) return is_movement(u.op()) || u.is(Op::Detach);
    if (u.is(Op::Neg) || u.is(Op::Where)) return true;
    bool has_number = false;
    for (UOp s : u.sources()) has_number = has_number || !reads_[s.id()];
    return has_number;
  }

  std::vector<bool> reads_;  // memory; by node id, as the others
  std::vector<bool> fixed_;
  std::vector<bool> is_term_;
};

// See FormNumber::is_folded.
bool is_folded(UOp user, int source, UOp number) {
  if (!is_float(number.dtype())) return false;  // integer arithmetic is exact
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double v = number.const_double();
  const bool is_negative_zero = v == 0 && std::signbit(v);
  switch (user.op()) {
    case Op::Mul: return std::abs(v) == 1;
    case Op::Div: return source == 1 && std::abs(v) == 1;
    case Op::Add: return is_negative_zero;
    case Op::MulAdd: return source == 2 && is_negative_zero;
    case Op::Max: return v == -infinity;
    case Op::Min: return v == infinity;
    case Op::Where: return v == 0;
    default: return false;
  }
}

// ---- the form ---------------------------------------------------------------------------------

// Whether a view of one number everywhere is the same.
bool keeps_filling(Op op) {
  return (is_movement(op) && op != Op::Pad && op != Op::Unwindow) || op == Op::Detach;
}

bool is_memory(UOp u) {
  while (is_movement(u.op())) u = u.src(0);
  return u.is(Op::Buffer) || u.is(Op::After);
}

// Roots that were different before stay so, even if they have become equal: each result is a piece
// of memory of its own.
void keep_apart(std::span<const UOp> before, std::vector<UOp>& roots) {
  FlatMap<const Node*, UOp> from;
  for (std::size_t i = 0; i < roots.size(); i++) {
    UOp& root = roots[i];
    if (is_memory(root)) continue;
    for (const UOp* other; (other = from.find(root.node())) && *other != before[i];) {
      root = root.graph().make(Op::Contiguous, root.dtype(), {root});
    }
    from.insert(root.node(), before[i]);
  }
}

class FormMaker {
 public:
  explicit FormMaker(const CanonicalGraph& from)
      : from_(from),
        order_(toposort(from.roots)),
        around_(order_, from.graph->id_limit()),
        copies_(from.graph->id_limit()) {
    form_.graph = std::make_unique<Graph>();
  }

  GraphForm run() {
    for (UOp u : order_) copies_[u.id()] = copy(u);
    for (UOp root : from_.roots) {
      const Copy& c = copies_[root.id()];
      form_.roots.push_back(c.filling ? used(root, c.filling, false) : c.node);
    }
    keep_apart(from_.roots, form_.roots);
    form_.key = serialize(form_.roots);
    return std::move(form_);
  }

 private:
  // Of a node: itself, or the constant that is its value everywhere.
  struct Copy {
    UOp node, filling;
  };

  Copy copy(UOp u) {
    Graph& graph = *form_.graph;
    if (u.is_const()) return {{}, graph.constant_bits(u.dtype(), u.arg().value)};
    if (const UOp number = folded(u)) return {{}, number};
    src_.clear();
    for (int i = 0; i < u.num_src(); i++) {
      const Copy& c = copies_[u.src(i).id()];
      if (!c.filling) {
        src_.push_back(c.node);
      } else if (around_.fixes(u, i)) {
        src_.push_back(filled(u.src(i), c.filling));
      } else {
        src_.push_back(used(u.src(i), c.filling, around_.is_term(u) && is_folded(u, i, c.filling)));
      }
    }
    return {graph.make(u.op(), u.dtype(), src_, u.arg()), {}};
  }

  // What follows from numbers alone; null if something else is below.
  UOp folded(UOp u) {
    if (!(is_elementwise(u.op()) || keeps_filling(u.op())) || u.num_src() == 0) return {};
    src_.clear();
    for (UOp s : u.sources()) {
      if (!copies_[s.id()].filling) return {};
      src_.push_back(copies_[s.id()].filling);
    }
    if (!is_elementwise(u.op())) return src_[0];
    const UOp number = form_.graph->with_sources(u, src_);
    return number.is_const() ? number : UOp();
  }

  // A number of the form, or the constant itself if its dtype belongs to indices and masks.
  UOp used(UOp u, UOp value, bool is_folded) {
    if (u.dtype() == DType::Index || u.dtype() == DType::Bool) return filled(u, value);
    const std::int64_t slot = std::ssize(form_.numbers);
    form_.numbers.push_back({u.dtype(), value.arg().value, is_folded});
    return filled(u, form_.graph->number(u.dtype(), slot));
  }

  // The value in the shape of u.
  UOp filled(UOp u, UOp value) {
    if (u.rank() == 0) return value;
    const SmallVector<std::int64_t, 8> ones(u.rank(), 1);
    Graph& graph = *form_.graph;
    return graph.movement(Op::Expand, graph.movement(Op::Reshape, value, ones), u.shape());
  }

  const CanonicalGraph& from_;
  std::vector<UOp> order_;
  Surroundings around_;
  std::vector<Copy> copies_;  // by node id
  std::vector<UOp> src_;
  GraphForm form_;
};

}  // namespace

GraphForm form_of(const CanonicalGraph& graph) { return FormMaker(graph).run(); }

CanonicalGraph with_numbers_passed(const GraphForm& form, std::span<const int> passed,
                                   std::span<const UOp> inputs) {
  CanonicalGraph result{std::make_unique<Graph>(), {}, {}, {inputs.begin(), inputs.end()}, {}};
  Graph& graph = *result.graph;
  result.buffers.resize(inputs.size());
  std::vector<UOp> copies(form.graph->id_limit());
  std::vector<UOp> src;
  for (UOp u : toposort(form.roots)) {
    src.clear();
    for (UOp s : u.sources()) src.push_back(copies[s.id()]);
    UOp& copy = copies[u.id()];
    if (!u.is(Op::Variable)) {
      copy = graph.make(u.op(), u.dtype(), src, u.arg());
      if (u.is(Op::Buffer)) result.buffers[static_cast<std::size_t>(u.buffer_id())] = copy;
      continue;
    }
    const auto i = static_cast<std::size_t>(u.slot());
    copy = passed[i] < 0 ? graph.constant_bits(u.dtype(), form.numbers[i].bits)
                         : graph.number(u.dtype(), passed[i]);
  }
  for (UOp root : form.roots) result.roots.push_back(copies[root.id()]);
  keep_apart(form.roots, result.roots);
  return result;
}

// ---- passing ----------------------------------------------------------------------------------

namespace {

// The integer type of a word that holds a number of this type, or half of it.
DType word_type(DType t) {
  switch (size_of(t)) {
    case 1: return DType::Int8;
    case 2: return DType::Int16;
    default: return DType::Int32;
  }
}

UOp word(Graph& graph, DType type, std::int64_t variable) {
  return graph.cast(graph.variable(variable, min_value(type), max_value(type)), type);
}

}  // namespace

void append_words(const FormNumber& number, std::vector<std::int64_t>& variables) {
  std::byte memory[8] = {};
  store_bits(number.bits, number.dtype, memory);
  const DType type = word_type(number.dtype);
  variables.push_back(load_bits(memory, type));
  variables.push_back(size_of(number.dtype) == 8 ? load_bits(memory + 4, type) : 0);
}

UOp number_of_words(Graph& graph, DType dtype, std::int64_t slot) {
  const UOp low = word(graph, word_type(dtype), 2 * slot);
  if (size_of(dtype) < 8) return graph.bitcast(low, dtype);
  const UOp high = cast(word(graph, DType::Int32, 2 * slot + 1), DType::Int64);
  const UOp shifted = graph.alu(Op::Shl, {high, graph.constant(DType::Int64, std::int64_t{32})});
  const UOp bits = shifted | cast(graph.bitcast(low, DType::UInt32), DType::Int64);
  return dtype == DType::UInt64 ? cast(bits, dtype) : graph.bitcast(bits, dtype);
}

}  // namespace croze
