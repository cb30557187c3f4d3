// linearize.cpp -- a lowered kernel graph becomes a list of instructions in loops.
//
// The loops form a tree of blocks.  The output loops are a chain from the root.  The loops of a
// reduction hang under the block that the reduction's own loops reach to (so what varies over the
// outer loops only is reduced once per outer iteration), the loops that fill a staged tile
// likewise. Each node is placed in the deepest block among those of its sources: invariants thus
// stand outside the loops without a pass of their own.  In each block, instructions and inner loops
// ("units") are put in an order that respects data flow; that is all the order there is, since
// every effect is reached through After.
#include "croze/codegen/linearize.h"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "croze/base/error.h"
#include "croze/base/flat_map.h"
#include "croze/codegen/block_fetches.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/codegen/edits/warps/fill_ahead.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/render/program.h"

namespace croze {
namespace {

bool is_loop(UOp u) { return u.is(Op::Range) && !is_lane(u); }

// What stands at the head of the program.
bool is_head(UOp u) { return is_declaration(u) || is_lane(u); }

// Nodes that order or address but do nothing themselves.
bool is_silent(UOp u) { return u.is(Op::Index) || u.is(Op::After) || u.is(Op::Sink); }

class Linearizer {
 public:
  explicit Linearizer(const LinearizeInput& input) : input_(input), order_(toposort(input.sink)) {
    for (std::size_t i = 0; i < order_.size(); i++) number_[order_[i].node()] = static_cast<int>(i);
    blocks_.push_back({});
  }

  std::vector<UOp> run() {
    make_output_blocks();
    make_inner_blocks();
    place_nodes();
    collect_units();
    for (UOp u : order_) {
      if (is_head(u)) head_.push_back(u);
    }
    emit(0);
    head_.insert(head_.end(), result_.begin(), result_.end());
    return std::move(head_);
  }

 private:
  // ---- blocks ----

  int add_block(int parent, UOp range) {
    blocks_.push_back({parent, blocks_[static_cast<std::size_t>(parent)].depth + 1, range, {}});
    block_of_range_[range.range_id()] = static_cast<int>(blocks_.size()) - 1;
    return static_cast<int>(blocks_.size()) - 1;
  }

  int depth(int block) const { return blocks_[static_cast<std::size_t>(block)].depth; }
  int deeper(int a, int b) const { return depth(a) >= depth(b) ? a : b; }

  // The deepest block among the loops in `ranges` that have one.
  int block_of(RangeSet ranges) const {
    int result = 0;
    for (const auto& [id, block] : block_of_range_) {
      if (ranges.contains(id)) result = deeper(result, block);
    }
    return result;
  }

  // The block around the turns before which the store fills a tile: what it stores may vary over
  // fewer loops than turn around them.  0: it fills none ahead.
  int block_before_turns(UOp store) const {
    const RangeSet turns = turns_after(store, order_);
    for (const auto& [id, block] : block_of_range_) {
      if (turns.contains(id)) return blocks_[static_cast<std::size_t>(block)].parent;
    }
    return 0;
  }

  void make_output_blocks() {
    std::unordered_map<std::int64_t, UOp> loops;
    for (UOp u : order_) {
      if (is_loop(u)) loops[u.range_id()] = u;
    }
    int block = 0;
    for (std::int64_t id : input_.loops) {
      if (auto it = loops.find(id); it != loops.end()) block = add_block(block, it->second);
    }
    innermost_output_ = block;
  }

  // Writes that close loops of their own: reductions (into a Register) and staged tiles (into a
  // Local). Walked from the users down, so that the loops around are known first.
  void make_inner_blocks() {
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const UOp u = *it;
      if (!is_write(u) || closed_ranges(u).empty()) continue;
      const UOp target = buffer_of(u.src(0));
      if (target.is(Op::Param)) continue;
      const bool reduction = target.is(Op::Register);
      int block = reduction ? block_of(input_.registers[register_id(target)].outer)
                            : deeper(block_of(u.ranges()), block_before_turns(u));
      for (UOp r : closed_ranges(u)) {
        if (!is_loop(r)) continue;
        auto known = block_of_range_.find(r.range_id());
        block = known != block_of_range_.end() ? known->second : add_block(block, r);
      }
      if (!reduction) {
        filled_in_[target.node()] = block;
        continue;
      }
      int base = block;  // the block around the reduction's loops
      for (UOp r : closed_ranges(u)) {
        if (is_loop(r)) base = blocks_[static_cast<std::size_t>(base)].parent;
      }
      inner_[register_id(target)] = block;
      around_[register_id(target)] = base;
    }
  }

  static std::size_t register_id(UOp reg) { return static_cast<std::size_t>(reg.arg().value); }

  // ---- placing ----

  void place_nodes() {
    place_.resize(order_.size(), 0);
    std::unordered_map<const Node*, bool> stored;
    for (UOp u : order_) {
      if (u.is(Op::Store)) stored[buffer_of(u.src(0)).node()] = true;
    }
    for (std::size_t i = 0; i < order_.size(); i++) {
      const UOp u = order_[i];
      int block = is_loop(u) ? block_of_range_.at(u.range_id()) : 0;
      for (UOp s : u.sources()) block = deeper(block, place(s));
      if (u.is(Op::Load) || is_write(u)) {
        const UOp target = buffer_of(u.src(0));
        if (target.is(Op::Register)) {
          block = register_block(u, target);
        } else if (u.is(Op::Load) && target.is(Op::Param) && stored.contains(target.node())) {
          block = deeper(block, innermost_output_);
        } else if (u.is(Op::Load) && u.src(0).src(0).is(Op::Local)) {  // sums so far
          block = deeper(block, filled_in_.at(target.node()));
        } else if (is_write(u)) {
          for (UOp r : closed_ranges(u)) block = deeper(block, place(r));
          block = deeper(block, block_before_turns(u));
        }
      }
      if (u.is(Op::After)) block = after_block(u);
      place_[i] = block;
    }
  }

  int place(UOp u) const { return place_[static_cast<std::size_t>(number_.at(u.node()))]; }

  // start: around the loops; the load after it and the update: in the innermost loop; the load
  // after the update: around the loops.
  int register_block(UOp u, UOp reg) const {
    const std::size_t id = register_id(reg);
    const bool starts =
        u.is(Op::Store) && u.src(0).is(Op::Register) && !u.src(0).is(Op::After) && !updates(u);
    if (starts) return around_.at(id);
    if (u.is(Op::Store)) return inner_.at(id);
    return is_result(u) ? around_.at(id) : inner_.at(id);
  }

  // Whether a load from a register comes after the loops that update it.
  static bool is_result(UOp load) { return updates(load.src(0).src(1)); }

  // Whether a store to a register is the one in the loop (it reads the register, or closes loops).
  static bool updates(UOp store) {
    for (UOp r : closed_ranges(store)) {
      if (is_loop(r)) return true;
    }
    return false;
  }

  // A value read after effects stands in the block around the loops of those effects.
  int after_block(UOp u) const {
    int block = place(u.src(0));
    for (int i = 1; i < u.num_src(); i++) {
      const UOp effect = u.src(i);
      int b = place(effect);
      for (UOp r : closed_ranges(effect)) {
        if (is_loop(r))
          b = std::min(b, blocks_[static_cast<std::size_t>(place(r))].parent,
                       [&](int x, int y) { return depth(x) < depth(y); });
      }
      block = deeper(block, b);
    }
    return block;
  }

  // ---- order ----

  void collect_units() {
    std::vector<bool> listed(blocks_.size(), false);
    for (std::size_t i = 0; i < order_.size(); i++) {
      if (is_head(order_[i]) || is_loop(order_[i])) continue;
      int block = place_[i];
      blocks_[static_cast<std::size_t>(block)].units.push_back(static_cast<int>(i));
      for (; block > 0 && !listed[static_cast<std::size_t>(block)];
           block = blocks_[static_cast<std::size_t>(block)].parent) {
        listed[static_cast<std::size_t>(block)] = true;
        const int parent = blocks_[static_cast<std::size_t>(block)].parent;
        blocks_[static_cast<std::size_t>(parent)].units.push_back(~block);
      }
    }
    find_dependencies();
    measure_updates();
    find_twins();
  }

  // For each pair (user, source), the unit of their common block that holds the user waits for the
  // one that holds the source.
  void find_dependencies() {
    for (std::size_t i = 0; i < order_.size(); i++) {
      for (UOp s : order_[i].sources()) {
        if (is_head(s) || is_loop(s)) continue;
        const int source = number_.at(s.node());
        int a = place_[i], b = place_[static_cast<std::size_t>(source)];
        int unit_a = static_cast<int>(i), unit_b = source;
        while (a != b) {
          if (depth(a) >= depth(b)) {
            unit_a = ~a;
            a = blocks_[static_cast<std::size_t>(a)].parent;
          } else {
            unit_b = ~b;
            b = blocks_[static_cast<std::size_t>(b)].parent;
          }
        }
        if (unit_a != unit_b) waits_for_[unit_a].push_back(unit_b);
      }
    }
  }

  // How far along the update of a register a node is: 0 for what does not read one in its block,
  // nor a sum that a unit begins there.  A choice between before and after is no step of its own:
  // both would have to be held until then.
  void measure_updates() {
    progress_.resize(order_.size(), 0);
    for (std::size_t i = 0; i < order_.size(); i++) {
      const UOp u = order_[i];
      if (u.is(Op::Load) && buffer_of(u.src(0)).is(Op::Register)) {
        progress_[i] = is_result(u) ? 0 : 1;
        continue;
      }
      if (u.is(Op::Contract) && !u.src(0).is(Op::Contract)) progress_[i] = 1;
      for (UOp s : u.sources()) {
        const auto n = static_cast<std::size_t>(number_.at(s.node()));
        if (progress_[n] > 0 && place_[n] == place_[i]) {
          progress_[i] = std::max(progress_[i], progress_[n] + (u.is(Op::Where) ? 0 : 1));
        }
      }
    }
  }

  // Two values of the same two operands, as a comparator and a butterfly have them: the second
  // comes right behind the first, so that from then on two values are held and not the operands,
  // too.
  void find_twins() {
    std::map<std::pair<int, int>, int> first;  // of two operands
    for (std::size_t i = 0; i < order_.size(); i++) {
      const UOp u = order_[i];
      if (!is_elementwise(u.op()) || u.num_src() != 2 || progress_[i] > 0) continue;
      if (u.src(0) == u.src(1) || is_head(u.src(0)) || is_head(u.src(1))) continue;
      const int a = number_.at(u.src(0).node()), b = number_.at(u.src(1).node());
      const auto n = static_cast<int>(i);
      const auto [known, is_first] = first.try_emplace(std::minmax(a, b), n);
      if (is_first || place_[static_cast<std::size_t>(known->second)] != place_[i]) continue;
      twin_[known->second] = n;
      twin_[n] = known->second;
    }
  }

  // What to ask for, in order: inner loops and stores; then the updates of registers side by side,
  // one step of each after the other, since each step waits for the one before; then the rest.
  // Operands come when they are first asked for, so that few of them are held in registers.
  std::vector<int> demands(int block) const {
    std::vector<int> effects, updates, rest;
    for (int unit : blocks_[static_cast<std::size_t>(block)].units) {
      const bool node = unit >= 0;
      const auto n = static_cast<std::size_t>(unit);
      if (node && progress_[n] > 0) {
        updates.push_back(unit);
      } else {
        (!node || is_write(order_[n]) ? effects : rest).push_back(unit);
      }
    }
    std::stable_sort(updates.begin(), updates.end(), [&](int a, int b) {
      return progress_[static_cast<std::size_t>(a)] < progress_[static_cast<std::size_t>(b)];
    });
    for (auto step = updates.begin(); step != updates.end();) {
      const int now = progress_[static_cast<std::size_t>(*step)];
      const auto end = std::find_if(step, updates.end(), [&](int unit) {
        return progress_[static_cast<std::size_t>(unit)] != now;
      });
      join_users({step, end});
      step = end;
    }
    effects.insert(effects.end(), updates.begin(), updates.end());
    effects.insert(effects.end(), rest.begin(), rest.end());
    return effects;
  }

  // Of a tile of rows and columns each update reads one of both.  The few that many updates read
  // stay in registers while the others come and go: those that read one of the latter follow each
  // other.
  void join_users(std::span<int> updates) const {
    std::unordered_map<int, int> users;  // of each operand
    for (int unit : updates) {
      for (int operand : operands_of(unit)) users[operand]++;
    }
    std::unordered_map<int, int> first;  // update that reads an operand
    std::vector<std::pair<int, int>> ordered;
    for (int unit : updates) {
      const std::vector<int> all = operands_of(unit);
      const auto rarest = std::ranges::min_element(all, {}, [&](int operand) {
        return std::pair(users.at(operand), fetches_.is_vector(operand));
      });
      const int at = static_cast<int>(ordered.size());
      const int joins = rarest == all.end() ? at : first.try_emplace(*rarest, at).first->second;
      ordered.emplace_back(joins, unit);
    }
    std::ranges::stable_sort(ordered, {}, &std::pair<int, int>::first);
    std::ranges::transform(ordered, updates.begin(), &std::pair<int, int>::second);
  }

  // What an update takes that is computed for it in the same block.
  std::vector<int> operands_of(int unit) const {
    std::vector<int> operands;
    for (UOp s : order_[static_cast<std::size_t>(unit)].sources()) {
      const int number = number_.at(s.node());
      const auto n = static_cast<std::size_t>(number);
      const auto user = static_cast<std::size_t>(unit);
      if (is_head(s) || is_silent(s) || place_[n] != place_[user]) continue;
      if (progress_[n] == 0) {
        operands.push_back(number);
      } else if (progress_[n] == progress_[user]) {  // chosen after it
        const std::vector<int> before = operands_of(number);
        operands.insert(operands.end(), before.begin(), before.end());
      }
    }
    return operands;
  }

  void emit(int block) {
    if (input_.prefetches) {
      for (const auto& [place, cache] : fetches_.of(block)) emit_prefetch(place, cache);
    }
    for (int root : demands(block)) emit_with_sources(root);
  }

  // A part of an index that perhaps nothing else computes.
  void emit_for_prefetch(UOp u) {
    const auto known = number_.find(u.node());
    if (known != number_.end()) {
      if (!is_head(u) && !is_loop(u)) emit_with_sources(known->second);
    } else if (!is_silent(u) && added_.insert(u.node())) {
      (is_head(u) ? head_ : result_).push_back(u);
    }
  }

  // Those are read before the loop that fetches the rows.
  void emit_numbers_of_later_rows(int block) {
    for (UOp place : fetches_.of_later_rows(block)) {
      for (UOp u : toposort(place.src(1))) {
        if (!u.varies_over(blocks_[static_cast<std::size_t>(block)].range)) emit_for_prefetch(u);
      }
    }
  }

  void emit_prefetch(UOp place, std::int64_t cache) {
    for (UOp u : toposort(place.src(1))) emit_for_prefetch(u);
    Graph& g = place.graph();
    const UOp fetched = g.place(place.src(0), place.src(1));
    result_.push_back(g.make(Op::Prefetch, DType::Void, {fetched}, Arg(cache)));
  }

  void emit_with_sources(int root) {
    std::vector<int> stack{root};
    while (!stack.empty()) {
      const int unit = stack.back();
      State& state = states_[unit];
      if (state == State::Done) {
        stack.pop_back();
        continue;
      }
      const bool again = state == State::Open;
      state = State::Open;
      bool ready = true;
      for (int w : waits_for_[unit]) {
        if (states_[w] == State::Done) continue;
        ensure(!again || states_[w] != State::Open, "instructions of a kernel wait for each other");
        stack.push_back(w);
        ready = false;
      }
      if (!ready) continue;
      states_[unit] = State::Done;
      stack.pop_back();
      emit_unit(unit);
      if (const auto twin = twin_.find(unit); twin != twin_.end()) stack.push_back(twin->second);
    }
  }

  void emit_unit(int unit) {
    if (unit >= 0) {
      const UOp u = order_[static_cast<std::size_t>(unit)];
      if (is_silent(u)) return;
      const bool shared = bool(filled_tile(u));
      if (shared) barrier();
      result_.push_back(u);
      if (shared) barrier();
      return;
    }
    const Block& inner = blocks_[static_cast<std::size_t>(~unit)];
    Graph& g = inner.range.graph();
    const std::size_t around = fills_.size();
    for (int i : inner.units) {
      if (i < 0 || !closes(order_[static_cast<std::size_t>(i)], inner.range)) continue;
      if (const UOp tile = filled_tile(order_[static_cast<std::size_t>(i)])) fills_.push_back(tile);
    }
    const bool shared = fills_.size() > around;
    if (shared) barrier();
    if (input_.prefetches) emit_numbers_of_later_rows(~unit);
    result_.push_back(g.make(Op::Loop, DType::Void, {inner.range}));
    result_.push_back(inner.range);
    emit(~unit);
    fills_.resize(around);
    result_.push_back(g.make(Op::EndLoop, DType::Void, {inner.range}));
    if (shared) barrier();
  }

  // The tile in group memory that an instruction fills, if that is not what the loops around it do
  // already: everyone has read the old one before, and written the new one after.
  UOp filled_tile(UOp u) const {
    if (!is_write(u)) return {};
    const UOp target = buffer_of(u.src(0));
    const bool is_new = std::ranges::find(fills_, target) == fills_.end();
    return is_group_tile(target) && is_new ? target : UOp();
  }

  void barrier() {
    const UOp b = input_.sink.graph().make(Op::Barrier, DType::Void, {});
    if (!result_.empty() && result_.back() == b) return;
    result_.push_back(b);
  }

  enum class State : char { New, Open, Done };

  LinearizeInput input_;
  std::vector<UOp> order_;
  std::unordered_map<const Node*, int> number_;
  std::vector<Block> blocks_;
  std::unordered_map<std::int64_t, int> block_of_range_;
  std::unordered_map<std::size_t, int> inner_, around_;  // by register id
  std::unordered_map<const Node*, int> filled_in_;       // innermost block, by tile
  int innermost_output_ = 0;
  std::vector<int> place_;     // block of each node
  std::vector<int> progress_;  // of each node in the update of a register
  std::unordered_map<int, int> twin_;
  std::unordered_map<int, std::vector<int>> waits_for_;
  BlockFetches fetches_{order_, blocks_, progress_, waits_for_, input_.is_blind_to_masks};
  std::unordered_map<int, State> states_;
  std::vector<UOp> fills_;      // tiles whose fill the loops at hand are, outermost first
  FlatSet<const Node*> added_;  // to compute what is fetched
  std::vector<UOp> head_, result_;
};

}  // namespace

std::vector<UOp> linearize(const LinearizeInput& input) { return Linearizer(input).run(); }

}  // namespace croze
