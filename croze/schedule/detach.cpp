// detach.cpp -- loop nests become kernels that know nothing of where they stand.
//
// A kernel is bound to no more of a buffer than it touches.  So what is done to one row of a matrix
// is the same kernel for every row, bound to another place: it is compiled once.  And where memory
// is filled with many numbers, each in a part of its own, the number is passed.
#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "croze/graph/node_map.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/text/serialize.h"
#include "croze/schedule/kernels.h"
#include "croze/schedule/memory/region.h"
#include "croze/schedule/numbers.h"

namespace croze {
namespace {

// The place of a value in a list, at the end of which it is put if it is not there.
template <typename T>
std::int64_t slot_of(const T& value, std::vector<T>& slots) {
  const auto it = std::ranges::find(slots, value);
  const std::int64_t slot = it - slots.begin();
  if (it == slots.end()) slots.push_back(value);
  return slot;
}

// The part of a buffer that a nest touches.
struct Part {
  std::int64_t first = 0, last = 0;

  std::int64_t elements() const { return last - first + 1; }
};
using Parts = FlatMap<const Node*, Part>;

Parts parts_touched(std::span<const UOp> order) {
  Parts parts;
  for (UOp u : order) {
    if (!u.is(Op::Index)) continue;
    const UOp buffer = u.src(0);
    // Of an open one, all: where a part begins would be open too.
    if (buffer.has_open_shape()) {
      parts.insert(buffer.node(), {0, buffer.elements() - 1});
      continue;
    }
    const Region r = region_of(u);
    const auto [part, is_new] = parts.insert(buffer.node(), {r.first, r.last()});
    if (!is_new) *part = {std::min(part->first, r.first), std::max(part->last, r.last())};
  }
  return parts;
}

// The kernel in a graph of its own, its Buffers turned into Params in the order of `slots`, each of
// the part that is touched, its variables numbered as in the step.
std::shared_ptr<Kernel> detach(std::span<const UOp> order, const Parts& parts,
                               std::vector<UOp>& slots, std::vector<int>& variables) {
  auto kernel = std::make_shared<Kernel>();
  kernel->graph = std::make_shared<Graph>();
  NodeMap<UOp> copy(order.back().graph());
  std::vector<UOp> src;
  for (UOp u : order) {
    if (u.is(Op::Buffer)) {
      const std::int64_t elements = parts.find(u.node())->elements(), slot = slot_of(u, slots);
      copy.set(u, u.has_open_shape()
                      ? kernel->graph->param(u.dtype(), slot, elements, copy.get(u.src(0)))
                      : kernel->graph->param(u.dtype(), slot, elements));
      continue;
    }
    if (u.is(Op::Variable)) {
      const std::int64_t slot = slot_of(static_cast<int>(u.slot()), variables);
      copy.set(u, kernel->graph->variable(slot, u.lo(), u.hi()));
      continue;
    }
    src.clear();
    for (UOp s : u.sources()) src.push_back(copy.get(s));
    if (u.is(Op::Index)) src[1] = src[1] - parts.find(u.src(0).node())->first;
    // What a sum is made of has another order where it is numbered otherwise.
    const bool is_index = u.dtype() == DType::Index && is_elementwise(u.op()) && u.num_src() > 1;
    copy.set(u, is_index ? kernel->graph->alu(u.op(), src)
                         : kernel->graph->make(u.op(), u.dtype(), src, u.arg()));
  }
  kernel->sink = copy.get(order.back());
  kernel->key = serialize(std::span(&kernel->sink, 1));
  return kernel;
}

// Numbers that parts of memory are filled with: so many are compiled into kernels, each in its own.
constexpr std::int64_t most_fillings_compiled = 4;

// The number that is all a nest stores; null if it stores anything else.
UOp filling(const PendingStep& step, UOp nest) {
  if (step.block_axes > 0 || nest.num_src() != 1) return UOp();
  const UOp value = nest.src(0).src(1);
  const bool is_number = value.is_const() && value.dtype() != DType::Index;
  return is_number && value.dtype() != DType::Bool ? value : UOp();
}

bool passes_fillings(std::span<const PendingStep> steps) {
  FlatSet<const Node*> numbers;
  for (const PendingStep& step : steps) {
    for (UOp nest : step.nests) {
      if (const UOp number = filling(step, nest)) numbers.insert(number.node());
    }
  }
  return numbers.size() > most_fillings_compiled;
}

// The nest with the words of a number in the place of what it stores.
UOp filled_with_words(UOp nest) {
  const UOp store = nest.src(0);
  SmallVector<UOp, 8> sources;
  for (UOp s : store.sources()) sources.push_back(s);
  sources[1] = number_of_words(nest.graph(), store.src(1).dtype(), 0);
  const UOp changed = nest.graph().with_sources(store, sources);
  return nest.graph().sink(std::span(&changed, 1));
}

}  // namespace

void detach_kernels(std::vector<PendingStep>& steps) {
  std::unordered_map<std::string, std::shared_ptr<const Kernel>> kernels;
  const bool is_passing = passes_fillings(steps);
  for (PendingStep& pending : steps) {
    for (UOp nest : pending.nests) {
      std::vector<UOp> slots;
      for (UOp store : nest.sources()) slot_of(store.src(0).src(0), slots);
      std::vector<int> variables;
      for (int axis = 0; axis < pending.block_axes; axis++) {
        variables.push_back(static_cast<int>(block_variable(axis)));
      }
      const UOp number = is_passing ? filling(pending, nest) : UOp();
      const std::vector<UOp> order = toposort(number ? filled_with_words(nest) : nest);
      const Parts parts = parts_touched(order);
      std::shared_ptr<Kernel> kernel = detach(order, parts, slots, variables);
      ScheduleStep& step = pending.steps.emplace_back();
      step.variables.assign(variables.begin() + pending.block_axes, variables.end());
      if (number) {
        std::vector<std::int64_t> words;
        append_words({number.dtype(), number.arg().value}, words);
        for (int v : std::exchange(step.variables, {})) {
          step.own_variables.push_back(words[static_cast<std::size_t>(v)]);
        }
      }
      step.kernel = kernels.emplace(kernel->key, kernel).first->second;
      for (UOp b : slots) {
        step.buffers.push_back(static_cast<int>(b.buffer_id()));
        step.offsets.push_back(parts.find(b.node())->first * size_of(b.dtype()));
      }
      step.device = pending.device;
      step.sequence = pending.sequence;
    }
  }
}

}  // namespace croze
