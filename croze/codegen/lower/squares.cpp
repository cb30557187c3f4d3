// squares.cpp -- copies of the code that go along rows, with a row for each lane.
//
//     for lane j:  a = x[32 j];  b = x[32 j + 1];  c = x[32 j + 2];  d = x[32 j + 3]
//
// takes every element by itself, a load and a shuffle for each.  With four lanes it is four vectors
// in the order of memory, x[32 j .. 32 j + 3] for each j, and a square that is turned in registers.
// So a scan has the elements of its blocks, of which each lane has one.
#include "croze/codegen/lower/squares.h"

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/codegen/lower/transpose.h"
#include "croze/graph/graph.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/node_set.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/render/program.h"

namespace croze {
namespace {

constexpr std::int64_t least_lanes = 4;  // fewer are two loads and a shuffle as they are

// A place at `step * lane + rest + constant` of a buffer.
struct Column {
  UOp buffer, lane, rest;
  std::int64_t step = 0, constant = 0;

  UOp row(std::int64_t number) const {
    return buffer.graph().place(buffer, rest + (number * step + constant) + lane);
  }
};

// Nothing if a vector lies in the order of memory, or does not go along one loop of lanes.
std::optional<Column> column_of(UOp place) {
  if (!place.is(Op::Index) || place.num_src() != 2 || !place.src(0).is(Op::Param)) return {};
  LinearForm form = LinearForm::of(place.src(1));
  UOp lane;
  for (const Term& t : form.terms) {
    if (is_lane(t.atom)) lane = t.atom;
  }
  const Stride s = lane ? stride_over(place.src(1), lane) : Stride{};
  if (!s.affine || s.step == 0 || s.step == 1) return {};
  Graph& graph = place.graph();
  Column column{place.src(0), lane, UOp(), s.step, form.constant};
  form.add(lane, -s.step);
  form.constant = 0;
  column.rest = form.build(graph);
  for (UOp u : toposort(column.rest)) {
    if (is_lane(u)) return {};
  }
  return column;
}

// Loads or stores of columns that differ in the constant alone, by it.
struct Columns {
  Column first;
  std::map<std::int64_t, UOp> accesses;
};

// In the order of the ids of their nodes, so that it is the same in every run.
using Key = std::vector<std::int64_t>;
using AllColumns = std::map<Key, Columns>;

void add_to(AllColumns& all, UOp access, const Column& column) {
  Key key{column.buffer.id(), column.lane.id(), column.rest.id(), column.step};
  if (access.is(Op::Store)) {
    for (UOp r : closed_ranges(access)) key.push_back(r.id());
  }
  Columns& columns = all.try_emplace(key, Columns{column, {}}).first->second;
  columns.accesses.emplace(column.constant, access);
}

// As many accesses as there are lanes, one after the other.
std::vector<std::vector<UOp>> squares_of(const Columns& columns) {
  const auto lanes = static_cast<std::size_t>(columns.first.lane.range_size());
  std::vector<std::vector<UOp>> squares;
  std::vector<UOp> run;
  std::int64_t next = 0;
  for (const auto& [constant, access] : columns.accesses) {
    if (constant != next) run.clear();
    next = constant + 1;
    run.push_back(access);
    if (run.size() == lanes) squares.push_back(std::exchange(run, {}));
  }
  return squares;
}

class Squares {
 public:
  Squares(UOp sink, const Caps& caps) : sink_(sink), caps_(caps), order_(toposort(sink)) {
    for (UOp u : order_) {
      if (is_write(u)) stored_.insert(buffer_of(u.src(0)).node());
    }
    find_accesses();
  }

  UOp turned() {
    for (const auto& [key, columns] : loads_) {
      for (const std::vector<UOp>& square : squares_of(columns)) turn_loads(square);
    }
    // What is stored may be made of what is loaded.
    const UOp loaded = replaced_.empty() ? sink_ : substitute(sink_, replaced_);
    if (loaded != sink_) return Squares(loaded, caps_).turned();
    for (const auto& [key, columns] : stores_) {
      for (const std::vector<UOp>& square : squares_of(columns)) turn_stores(square);
    }
    return replaced_.empty() ? sink_ : substitute(sink_, replaced_);
  }

 private:
  bool has_squares(UOp value, UOp lane) const {
    const std::int64_t lanes = lane.range_size();
    return lanes >= least_lanes && std::has_single_bit(static_cast<std::uint64_t>(lanes)) &&
           can_exchange(value.dtype(), caps_);
  }

  void find_accesses() {
    NodeSet known;  // to others than the sink
    for (UOp u : order_) {
      if (u == sink_) continue;
      for (UOp s : u.sources()) known.insert(s.node());
    }
    for (UOp u : order_) {
      if (!u.is(Op::Load) && !u.is(Op::Store)) continue;
      const UOp value = u.is(Op::Load) ? u : u.src(1);
      const auto column = column_of(u.src(0));
      if (!column || !has_squares(value, column->lane)) continue;
      if (u.is(Op::Store)) {
        if (!known.contains(u.node()) && value.varies_over(column->lane)) {
          add_to(stores_, u, *column);
        }
      } else if (u.num_src() == 1 && !stored_.contains(column->buffer.node())) {
        add_to(loads_, u, *column);
      }
    }
  }

  void turn_loads(const std::vector<UOp>& square) {
    const Column first = *column_of(square[0].src(0));
    Graph& graph = sink_.graph();
    const std::int64_t lanes = std::ssize(square);
    std::vector<UOp> rows;
    for (std::int64_t i = 0; i < lanes; i++) rows.push_back(graph.load(first.row(i)));
    const std::vector<UOp> columns = transposed(std::move(rows), lanes, 1);
    for (std::size_t i = 0; i < square.size(); i++) replaced_.emplace_back(square[i], columns[i]);
  }

  void turn_stores(const std::vector<UOp>& square) {
    const Column first = *column_of(square[0].src(0));
    std::vector<UOp> columns;
    for (UOp store : square) columns.push_back(store.src(1));
    const std::vector<UOp> rows = transposed(std::move(columns), std::ssize(square), 1);
    for (std::size_t i = 0; i < square.size(); i++) {
      const UOp place = first.row(static_cast<std::int64_t>(i));
      replaced_.emplace_back(square[i],
                             sink_.graph().store(place, rows[i], closed_ranges(square[i])));
    }
  }

  UOp sink_;
  const Caps& caps_;
  std::vector<UOp> order_;
  NodeSet stored_;  // buffers
  AllColumns loads_, stores_;
  std::vector<std::pair<UOp, UOp>> replaced_;
};

}  // namespace

UOp turn_squares(UOp sink, const Caps& caps) {
  return caps.exchanges_lanes ? Squares(sink, caps).turned() : sink;
}

}  // namespace croze
