// views.cpp -- chains of movement ops as index arithmetic.
#include "fuzz/views.h"

#include <fmt/format.h>

#include "croze/graph/analysis/valid.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/rules.h"
#include "croze/graph/text/print.h"
#include "croze/schedule/ranges.h"
#include "fuzz/chance.h"
#include "fuzz/check.h"
#include "fuzz/generate.h"
#include "fuzz/node_values.h"
#include "fuzz/paste.h"

namespace croze::fuzz {
namespace {

// Where the element at a position of a view lies in the buffer.
struct Access {
  UOp index, gate;            // as movement makes them
  UOp lean_index, lean_gate;  // simplified
};

Access access_of(UOp view) {
  Graph& g = view.graph();
  Position at{{}, g.boolean(true)};
  for (std::int64_t size : view.shape()) {
    at.index.push_back(g.range(at.index.size(), size, LoopKind::Parallel));
  }
  UOp u = view;
  for (; is_movement(u.op()) && u.elements() > 0; u = u.src(0)) at = through_movement(u, at);
  const bool is_empty = u.elements() == 0;  // nothing but padding
  Access a;
  a.index = is_empty ? g.index(0) : flat_index(at.index, extents_of(u), g);
  a.gate = is_empty ? g.boolean(false) : at.gate;
  a.lean_gate = simplify_gate(rewrite(a.gate, simplify_rules()));
  a.lean_index = simplify_under(a.lean_gate, rewrite(a.index, simplify_rules()));
  return a;
}

class ViewCheck {
 public:
  ViewCheck(UOp view, const HostTensor& buffer, const HostTensor& expected)
      : buffer_(buffer),
        expected_(expected),
        access_(access_of(view)),
        values_(
            std::vector<UOp>{access_.index, access_.gate, access_.lean_index, access_.lean_gate}) {}

  std::string run() {
    std::vector<std::int64_t> position(static_cast<std::size_t>(expected_.shape.size()), 0);
    for (std::int64_t bits : expected_.bits) {
      values_.compute([&](UOp r) { return position[static_cast<std::size_t>(r.range_id())]; });
      std::string wrong = wrong_at(access_.index, access_.gate, bits);
      if (wrong.empty()) wrong = wrong_at(access_.lean_index, access_.lean_gate, bits);
      if (!wrong.empty()) return fmt::format("at ({}): {}", fmt::join(position, ", "), wrong);
      advance(position);
    }
    return {};
  }

 private:
  void advance(std::vector<std::int64_t>& position) const {
    for (std::size_t i = position.size(); i-- > 0;) {
      if (++position[i] < expected_.shape[static_cast<std::int64_t>(i)]) return;
      position[i] = 0;
    }
  }

  std::string wrong_at(UOp index, UOp gate, std::int64_t expected) const {
    std::int64_t got = 0;
    if (values_.of(gate)) {
      const std::int64_t i = values_.of(index);
      if (i < 0 || i >= buffer_.size()) {
        return fmt::format("element {} of {}: {} if {}", i, buffer_.size(), to_string(index),
                           to_string(gate));
      }
      got = buffer_.bits[static_cast<std::size_t>(i)];
    }
    if (got == expected) return {};
    return fmt::format("{} instead of {}: {} if {}", got, expected, to_string(index),
                       to_string(gate));
  }

  const HostTensor& buffer_;
  const HostTensor& expected_;
  Access access_;
  NodeValues values_;
};

std::string checked(const FuzzProgram& program) {
  Graph graph;
  int buffer = -1;
  const std::vector<UOp> nodes = build(program, graph, [&](int i) {
    const HostTensor& data = program.value(buffer = i).data;
    return graph.buffer(data.dtype, i, data.size(), 0);
  });
  const int root = program.roots[0];
  const UOp view = nodes[static_cast<std::size_t>(root)];
  const HostTensor& expected = program.value(root).data;
  for (UOp u = view; is_movement(u.op()); u = u.src(0)) {
    if (u.src(0).is(Op::Buffer)) buffer = static_cast<int>(u.src(0).buffer_id());
  }
  if (expected.size() == 0) return {};
  const HostTensor& contents = program.value(buffer).data;
  for (UOp u : {view, rewrite(view, tensor_rules())}) {
    if (std::string wrong = ViewCheck(u, contents, expected).run(); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace

std::string check_views(const FuzzProgram& program) {
  try {
    return checked(program);
  } catch (const std::exception& e) {
    return fmt::format("exception: {}", e.what());
  }
}

std::optional<Mismatch> views_case(std::uint64_t seed, Counts& counts) {
  Chance chance(seed);
  const FuzzProgram program = random_program(seed, {.steps = static_cast<int>(chance.between(1, 9)),
                                                    .largest = chance.percent(20) ? 2000 : 300,
                                                    .only_views = true});
  counts["views"] += static_cast<std::int64_t>(program.code.size()) - 1;
  if (check_views(program).empty()) return {};
  const FuzzProgram small = minimised(program, check_views);
  return Mismatch{seed, check_views(small), cpp_of(small)};
}

}  // namespace croze::fuzz
