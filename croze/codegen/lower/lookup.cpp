// lookup.cpp -- finds expressions of one small number, and weighs instructions.
//
// The number is the first on the way from a load that is small enough: of (x >> 4 & 15) as a float,
// less 8, times a scale, it is the shift if x has 8 bits.  All that follows and varies by it alone
// belongs to the expression.
#include "croze/codegen/lower/lookup.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/graph/graph.h"
#include "croze/graph/node_set.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/rules.h"
#include "croze/render/program.h"

namespace croze {
namespace {

constexpr int entry_bytes = 4;

// An expression, the number that it varies by, and what is computed between them.
struct Candidate {
  UOp root, number;
  std::int64_t instructions = 0;
};

// Numbers of other bytes are widened or narrowed before they become floats.
std::int64_t instructions_of(UOp u) {
  if (u.is(Op::Load)) return 2;  // a gather, at the least
  if (!is_elementwise(u.op())) return 0;
  return u.is(Op::Cast) && size_of(u.dtype()) != size_of(u.src(0).dtype()) ? 2 : 1;
}

bool is_plain_place(UOp u) { return u.is(Op::Index) && u.num_src() == 2 && u.src(0).is(Op::Param); }

// Whether each lane of it follows from the same lane of its sources.
bool is_by_lanes(UOp u) {
  return is_elementwise(u.op()) || is_plain_place(u) ||
         (u.is(Op::Load) && is_plain_place(u.src(0)));
}

class Finder {
 public:
  Finder(UOp sink, UOp lane) : lane_(lane), nodes_(toposort(sink)) {
    for (UOp u : nodes_) {
      if (const UOp number = number_of(u)) numbers_.insert(u.node(), number);
      if (u.varies_over(lane_) && (u.is(Op::Load) || has_loaded_source(u))) {
        loaded_.insert(u.node());
      }
    }
  }

  std::vector<Candidate> candidates() {
    NodeSet used_elsewhere;
    for (UOp u : nodes_) {
      for (UOp s : u.sources()) {
        if (number(s) && number(s) != number(u)) used_elsewhere.insert(s.node());
      }
    }
    std::vector<Candidate> result;
    for (UOp u : nodes_) {
      const UOp x = number(u);
      const bool is_entry = size_of(u.dtype()) == entry_bytes && !u.is(Op::Index);
      if (!x || x == u || !is_entry || !used_elsewhere.contains(u.node())) continue;
      result.push_back({u, x, instructions_between(u, x)});
    }
    return result;
  }

 private:
  UOp number(UOp u) const {
    const UOp* known = numbers_.find(u.node());
    return known ? *known : UOp();
  }

  // What `u` varies by from lane to lane, if that is one small number alone.
  UOp number_of(UOp u) const {
    if (!u.varies_over(lane_) || u == lane_) return UOp();
    const UOp shared = is_by_lanes(u) ? number_of_sources(u) : UOp();
    return shared || !is_small_number(u) ? shared : u;
  }

  UOp number_of_sources(UOp u) const {
    UOp common;
    for (UOp s : u.sources()) {
      if (!s.varies_over(lane_)) continue;
      const UOp x = number(s);
      if (!x || (common && x != common)) return UOp();
      common = x;
    }
    return common;
  }

  // What follows from the number of the lane is none: it is a vector of constants.
  bool is_small_number(UOp u) const {
    return is_integer(u.dtype()) && is_elementwise(u.op()) && u.lo() >= 0 &&
           u.hi() < lane_.range_size() && has_loaded_source(u);
  }

  bool has_loaded_source(UOp u) const {
    for (UOp s : u.sources()) {
      if (loaded_.contains(s.node())) return true;
    }
    return false;
  }

  std::int64_t instructions_between(UOp root, UOp number_below) const {
    NodeSet seen;
    seen.insert(number_below.node());
    std::int64_t count = instructions_of(number_below);
    std::vector<UOp> pending{root};
    while (!pending.empty()) {
      const UOp u = pending.back();
      pending.pop_back();
      if (!u.varies_over(lane_) || !seen.insert(u.node())) continue;
      count += instructions_of(u);
      for (UOp s : u.sources()) pending.push_back(s);
    }
    return count;
  }

  UOp lane_;
  std::vector<UOp> nodes_;
  NodeSet loaded_;
  FlatMap<const Node*, UOp> numbers_;
};

// The number as an index: what stands above its bits that count does not matter.
UOp index_of(UOp number, std::int64_t lanes) {
  Graph& graph = number.graph();
  const auto counts = [&](UOp mask) { return (mask.const_int() & (lanes - 1)) == lanes - 1; };
  while (number.is(Op::And) && number.src(1).is_const() && counts(number.src(1))) {
    number = number.src(0);
  }
  const auto word = [&](UOp u) { return graph.cast(u, DType::UInt32); };
  // What is shifted out of a wider number is not in its word.
  const bool shifts = number.is(Op::Shr) && is_unsigned(number.dtype()) &&
                      number.src(1).is_const() && size_of(number.dtype()) <= entry_bytes;
  if (!shifts) return word(number);
  const UOp shifted = graph.alu(Op::Shr, {word(number.src(0)), word(number.src(1))});
  return rewrite(shifted, bits_rules());
}

// Expressions that are entries of one table, which varies over the lanes as they vary over the
// number.
struct Table {
  UOp values;
  std::vector<Candidate> entries;
};

std::vector<Table> tables_of(const std::vector<Candidate>& candidates, UOp lane) {
  std::vector<Table> tables;
  FlatMap<const Node*, std::size_t> place;
  for (const Candidate& c : candidates) {
    const std::pair<UOp, UOp> numbers[] = {{c.number, lane.graph().cast(lane, c.number.dtype())}};
    const UOp values = rewrite(substitute(c.root, numbers), bits_rules());
    const std::size_t* known = place.find(values.node());
    if (!known) {
      place.insert(values.node(), tables.size());
      tables.push_back({values, {}});
    }
    tables[known ? *known : tables.size() - 1].entries.push_back(c);
  }
  return tables;
}

// Whether memory has an entry for each lane: the numbers may be fewer.
bool stays_in_memory(const Table& table, UOp lane) {
  return std::ranges::all_of(toposort(table.values), [&](UOp u) {
    const bool reads = u.is(Op::Load) && u.varies_over(lane);
    if (!reads) return true;
    const UOp index = u.src(0).src(1);
    return index.lo() >= 0 && index.hi() < u.src(0).src(0).buffer_elements();
  });
}

// What stands outside of the innermost loop of the entries costs nothing.
bool is_cheaper(const Table& table, UOp lane) {
  std::int64_t saved = 0, spent = 0;
  NodeSet added;
  for (const Candidate& c : table.entries) {
    saved += c.instructions;
    spent += 1;
    const UOp index = index_of(c.number, lane.range_size());
    if (added.insert(index.node())) spent += 1;
    if (index.is(Op::Shr) && added.insert(index.src(0).node())) spent += 1;
  }
  const RangeSet inner = table.entries.front().root.ranges();
  for (UOp u : toposort(table.values)) {
    if (u.varies_over(lane) && u.ranges() == inner)
      spent += u.is(Op::Load) ? 1 : instructions_of(u);
  }
  return spent < saved;
}

// A number may follow from what another lookup has come to.
UOp look_up(UOp sink, UOp lane) {
  Graph& graph = sink.graph();
  const std::vector<Candidate> candidates = Finder(sink, lane).candidates();
  FlatMap<const Node*, UOp> values;  // of what is worth a lookup
  for (const Table& table : tables_of(candidates, lane)) {
    if (!stays_in_memory(table, lane) || !is_cheaper(table, lane)) continue;
    for (const Candidate& c : table.entries) values.insert(c.root.node(), table.values);
  }
  std::vector<std::pair<UOp, UOp>> replacements;
  for (const Candidate& c : candidates) {
    const UOp* table = values.find(c.root.node());
    if (!table) continue;
    UOp index = index_of(c.number, lane.range_size());
    if (!replacements.empty()) index = substitute(index, replacements);
    replacements.emplace_back(c.root,
                              graph.make(Op::Lookup, c.root.dtype(), {*table, index}, Arg()));
  }
  return replacements.empty() ? sink : substitute(sink, replacements);
}

}  // namespace

UOp make_lookups(UOp sink, const Caps& caps) {
  const std::int64_t lanes = caps.vector_bytes / entry_bytes;
  if (!caps.looks_up || !std::has_single_bit(static_cast<std::uint64_t>(lanes))) return sink;
  for (UOp u : toposort(sink)) {
    if (is_lane(u) && u.range_size() == lanes) sink = look_up(sink, u);
  }
  return sink;
}

}  // namespace croze
