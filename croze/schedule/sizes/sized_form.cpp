// sized_form.cpp -- the bytes of a form.
#include "croze/schedule/sizes/sized_form.h"

#include <algorithm>
#include <utility>

#include "croze/base/flat_map.h"
#include "croze/base/hash.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {

bool is_size(UOp u, std::int64_t i) {
  switch (u.op()) {
    case Op::Reshape:
    case Op::Expand:
    case Op::Pad:
    case Op::Shrink: return true;
    case Op::Unwindow: return i == 1;
    default: return false;
  }
}

namespace {

// Pairs of nodes that are looked at to tell two of one shape apart.
constexpr int most_compared = 1000;

class FormWriter {
 public:
  explicit FormWriter(const CanonicalGraph& graph) : shapes_(graph.graph->id_limit()) {
    for (UOp u : toposort(graph.roots)) shapes_[u.id()] = shape_hash(u);
    for (UOp root : graph.roots) visit(root);
    for (UOp root : graph.roots) append(*place_.find(root.node()));
  }

  SizedForm take() { return std::move(form_); }

 private:
  // Of what stands below, without constants, and of sizes no more than whether they are 1.
  std::uint64_t shape_hash(UOp u) const {
    std::uint64_t h =
        hash_mix(static_cast<std::uint64_t>(u.op()), static_cast<std::uint64_t>(u.dtype()));
    for (std::int64_t i = 0; i < std::ssize(u.arg().as_ints()) && !u.is(Op::Buffer); i++) {
      const std::int64_t word = u.arg().ints[i];
      h = hash_mix(h, static_cast<std::uint64_t>(is_size(u, i) ? word == 1 : word));
    }
    std::uint64_t sources = 0;
    for (UOp s : u.sources()) {
      const std::uint64_t below = shapes_[s.id()];
      sources = is_commutative(u.op()) ? sources + hash_word(below) : hash_mix(sources, below);
    }
    return hash_mix(h, sources);
  }

  // Sources in an order that is the same in recordings of other sizes.
  SmallVector<UOp, 4> sources_of(UOp u) const {
    SmallVector<UOp, 4> sources = sources_by_shape(u);
    const bool swaps = is_commutative(u.op()) && sources.size() == 2 &&
                       shapes_[sources[1].id()] == shapes_[sources[0].id()] &&
                       precedes(sources[1], sources[0]);
    if (swaps) std::swap(sources[0], sources[1]);
    return sources;
  }

  SmallVector<UOp, 4> sources_by_shape(UOp u) const {
    SmallVector<UOp, 4> sources;
    for (UOp s : u.sources()) sources.push_back(s);
    const bool swaps = is_commutative(u.op()) && sources.size() == 2 &&
                       shapes_[sources[1].id()] < shapes_[sources[0].id()];
    if (swaps) std::swap(sources[0], sources[1]);
    return sources;
  }

  // Of two of one shape, such as the halves of a tensor, that with the lesser number where they
  // first differ.  Recordings of other sizes differ there, too, and a half that begins earlier does
  // so at any size.
  bool precedes(UOp a, UOp b) const {
    std::vector<std::pair<UOp, UOp>> pending{{a, b}};
    for (int n = 0; n < most_compared && !pending.empty(); n++) {
      const auto [x, y] = pending.back();
      pending.pop_back();
      if (x == y || x.is(Op::Buffer)) continue;
      if (x.op() != y.op() || x.num_src() != y.num_src()) return false;  // hashes collide
      const Arg &left = x.arg(), &right = y.arg();
      if (left.kind == Arg::Kind::Int && left.value != right.value) return left.value < right.value;
      const auto first = std::ranges::mismatch(left.as_ints(), right.as_ints());
      if (first.in1 != left.as_ints().end() && first.in2 != right.as_ints().end()) {
        return *first.in1 < *first.in2;
      }
      const SmallVector<UOp, 4> of_x = sources_by_shape(x), of_y = sources_by_shape(y);
      for (std::int64_t i = of_x.size(); i-- > 0;) pending.emplace_back(of_x[i], of_y[i]);
    }
    return false;
  }

  void visit(UOp root) {
    std::vector<UOp> stack{root};
    while (!stack.empty()) {
      const UOp u = stack.back();
      if (place_.contains(u.node())) {
        stack.pop_back();
        continue;
      }
      const std::size_t depth = stack.size();
      const SmallVector<UOp, 4> sources = sources_of(u);
      for (std::int64_t i = sources.size(); i-- > 0;) {
        if (!place_.contains(sources[i].node())) stack.push_back(sources[i]);
      }
      if (stack.size() > depth) continue;
      stack.pop_back();
      write(u, sources);
    }
  }

  void write(UOp u, const SmallVector<UOp, 4>& sources) {
    place_.insert(u.node(), std::ssize(form_.order));
    form_.order.push_back(u);
    append(static_cast<std::int64_t>(u.op()) << 16 | static_cast<std::int64_t>(u.dtype()) << 8 |
           u.rank());
    append(sources.size());
    for (UOp s : sources) append(*place_.find(s.node()));
    if (u.is_const()) return form_.constants.push_back({u.dtype(), u.arg().value});
    if (u.is(Op::Iota)) return form_.sizes.push_back(u.arg().value);
    const Arg& arg = u.arg();
    if (u.is(Op::Buffer)) {
      // Numbers of buffers follow an order in which sizes have a part.
      form_.buffers.push_back(u);
      form_.sizes.push_back(u.buffer_elements());
      return append(u.buffer_device());
    }
    append(static_cast<std::int64_t>(arg.kind) << 32 | arg.size);
    if (arg.kind == Arg::Kind::Int) append(arg.value);
    for (std::int64_t i = 0; i < std::ssize(arg.as_ints()); i++) {
      is_size(u, i) ? form_.sizes.push_back(arg.ints[i]) : append(arg.ints[i]);
    }
  }

  void append(std::int64_t word) {
    form_.structure.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }

  SizedForm form_;
  std::vector<std::uint64_t> shapes_;  // by node id
  FlatMap<const Node*, std::int64_t> place_;
};

}  // namespace

SizedForm sized_form_of(const CanonicalGraph& graph) { return FormWriter(graph).take(); }

}  // namespace croze
