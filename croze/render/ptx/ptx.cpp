// ptx.cpp -- the walk over a linear program: its values as registers, its loops as branches.
#include "croze/render/ptx/ptx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "croze/base/error.h"
#include "croze/base/flat_map.h"
#include "croze/base/small_vector.h"
#include "croze/graph/eval.h"
#include "croze/graph/matrix_unit.h"
#include "croze/render/lane_form.h"
#include "croze/render/ptx/boxes.h"
#include "croze/render/ptx/contract.h"
#include "croze/render/ptx/elementwise.h"
#include "croze/render/ptx/memory.h"
#include "croze/render/ptx/text.h"
#include "croze/render/ptx/vectors.h"
#include "croze/render/scratch.h"

namespace croze {
namespace {

using ptx::Text;

// The registers (or constants) of a value: one for each lane, or that of lane 0 where the others
// follow from it (lane_form.h).
using Lanes = std::vector<std::string>;

class Writer {
 public:
  Writer(const LinearProgram& program, const PtxTarget& target)
      : program_(program), target_(target), forms_(program), boxes_(program, text_) {
    for (UOp u : program.instructions) {
      for (int i = 0; i < u.num_src(); i++) {
        const UOp s = u.src(i);
        if (u.is(Op::Contract) && (i == 1 || i == 2))
          factors_.insert(s.node());
        else
          others_.insert(s.node());
      }
      if (u.is(Op::Contract) && is_read_by_unit(u.src(1))) added_to_behind_.insert(u.src(0).node());
      units_read_ = units_read_ || is_read_by_unit(u);
      if (!u.is(Op::Store)) continue;
      items_copy_ = items_copy_ || is_copy(u);
      const UOp stored = buffer_of(u.src(0));
      if (stored.is(Op::Param)) written_.insert(stored.slot());
    }
  }

  std::string run() {
    for (UOp u : program_.instructions) declare(u);
    if (boxes_.are_there()) {
      arrays_ += boxes_.array();
      boxes_.begin();
    }
    for (UOp u : program_.instructions) statement(u);
    return fmt::format(".version {}\n.target {}\n.address_size 64\n\n{}{{\n{}{}  ret;\n}}\n",
                       target_.version, target_.architecture, head(), arrays_, text_.take());
  }

 private:
  std::string head() const {
    const ProgramInfo& info = program_.info;
    std::vector<std::string> parameters;
    for (int i = 0; i < info.num_buffers; i++)
      parameters.push_back(fmt::format(".param .u64 buffer{}", i));
    for (int i = 0; i < info.num_variables; i++)
      parameters.push_back(fmt::format(".param .s64 variable{}", i));
    for (std::string& p : boxes_.parameters()) parameters.push_back(std::move(p));
    const auto& items = info.launch.items;
    return fmt::format(".visible .entry {}({}{}\n)\n.reqntid {}, {}, {}\n",
                       PtxRenderer::entry(info.name), parameters.empty() ? "" : "\n  ",
                       fmt::join(parameters, ",\n  "), items[0], items[1], items[2]);
  }

  // ---- values ----

  const Lanes& lanes(UOp u) const {
    while (u.is(Op::After)) u = u.src(0);
    const Lanes* found = values_.find(u.node());
    ensure(found != nullptr, "linear program: {} is used before it stands in the list",
           info(u.op()).name);
    return *found;
  }

  // Lane k; that of a scalar is the scalar.
  std::string lane(UOp u, std::int64_t k) {
    while (u.is(Op::After)) u = u.src(0);
    const Lanes& all = lanes(u);
    if (all.size() > 1) return all[static_cast<std::size_t>(k)];
    const LaneForm form = forms_.of(u);
    if (k == 0 || form.step == 0) return all[0];
    if (const auto bits = known_lane(u, k)) return ptx::literal(*bits, u.dtype());
    return ptx::plus(text_, u.dtype(), all[0], k * form.step);
  }

  std::int64_t computed_lanes(UOp u) const {
    const LaneForm form = forms_.of(u);
    return form.affine ? 1 : form.lanes;
  }

  // ---- declarations ----

  void declare(UOp u) {
    if (values_.find(u.node())) return;
    switch (u.op()) {
      case Op::Const: values_[u.node()] = {constant(u.arg().value, u.dtype())}; return;
      case Op::Param: values_[u.node()] = {address_of_buffer(u.slot())}; return;
      case Op::Variable: values_[u.node()] = {variable(u)}; return;
      case Op::Special: values_[u.node()] = {special(u)}; return;
      case Op::Local: values_[u.node()] = {array(u)}; return;
      case Op::Range:
        values_[u.node()] = {is_lane(u) ? std::string("0") : text_.fresh(u.dtype())};
        return;
      case Op::Register: {
        Lanes registers;
        for (std::int64_t k = 0; k < forms_.of(u).lanes; k++) {
          registers.push_back(text_.fresh(u.dtype()));
        }
        values_[u.node()] = std::move(registers);
        return;
      }
      default: return;
    }
  }

  // Predicates have no constants as operands.
  std::string constant(std::int64_t bits, DType t) {
    if (t != DType::Bool) return ptx::literal(bits, t);
    const std::string result = text_.fresh(t);
    text_.prologue("mov.pred {}, {};", result, bits ? -1 : 0);
    return result;
  }

  std::string address_of_buffer(std::int64_t slot) {
    if (const std::string* known = buffers_.find(slot)) return *known;
    const std::string generic = text_.fresh(DType::UInt64), address = text_.fresh(DType::UInt64);
    text_.prologue("ld.param.u64 {}, [buffer{}];", generic, slot);
    text_.prologue("cvta.to.global.u64 {}, {};", address, generic);
    buffers_.insert(slot, address);
    return address;
  }

  // The predicate that tells whether vectors of the buffer are aligned where their indices are.
  std::string aligned_buffer(std::int64_t slot) {
    if (const std::string* known = aligned_.find(slot)) return *known;
    const std::string low = text_.fresh(DType::UInt64), result = text_.fresh(DType::Bool);
    text_.prologue("and.b64 {}, {}, 15;", low, address_of_buffer(slot));
    text_.prologue("setp.eq.s64 {}, {}, 0;", result, low);
    aligned_.insert(slot, result);
    return result;
  }

  std::string variable(UOp u) {
    const std::string wide = text_.fresh(DType::Int64);
    text_.prologue("ld.param.s64 {}, [variable{}];", wide, u.arg().ints[0]);
    if (size_of(u.dtype()) == 8) return wide;
    const std::string result = text_.fresh(u.dtype());
    text_.prologue("cvt.{}.s64 {}, {};", ptx::number_type(u.dtype()), result, wide);
    return result;
  }

  std::string special(UOp u) {
    ensure(u.loop_kind() != LoopKind::Thread, "the ptx renderer has no tasks");
    const bool is_group = u.loop_kind() == LoopKind::Group;
    const std::string number = text_.fresh(DType::UInt32);
    text_.prologue("mov.u32 {}, %{}.{};", number, is_group ? "ctaid" : "tid",
                   "xyz"[u.arg().ints[0]]);
    if (size_of(u.dtype()) == 4) return number;
    const std::string result = text_.fresh(u.dtype());
    text_.prologue("cvt.u64.u32 {}, {};", result, number);
    return result;
  }

  std::string array(UOp u) {
    const std::string name = fmt::format("array{}", num_arrays_++);
    arrays_ += fmt::format("  .{} .align {} .b8 {}[{}];\n", is_group_tile(u) ? "shared" : "local",
                           is_group_tile(u) ? group_alignment(program_) : 16, name,
                           std::max<std::int64_t>(u.buffer_elements() * size_of(u.dtype()), 1));
    const std::string address = text_.fresh(DType::UInt64);
    text_.prologue("mov.u64 {}, {};", address, name);
    return address;
  }

  // ---- statements ----

  void statement(UOp u) {
    if (is_declaration(u)) return;
    switch (u.op()) {
      case Op::Range: return;
      case Op::Loop: return open_loop(u.src(0));
      case Op::EndLoop: return close_loop(u.src(0));
      case Op::Load: return load(u);
      case Op::Store: return store(u);
      case Op::Prefetch: return prefetch(u);
      case Op::Reduce: return reduce(u);
      case Op::Exchange: return exchange(u);
      case Op::Lookup: return look_up(u);
      case Op::Contract: return contract(u);
      case Op::Shuffle: return shuffle(u);
      case Op::Ballot: return ballot(u);
      case Op::LoadMatrix: return load_matrix(u);
      case Op::Barrier: return meet(u);
      case Op::CopyBox: return copy_box(u);
      case Op::AwaitProducts: return text_.line("wgmma.wait_group.sync.aligned {};", u.arg().value);
      default: return elementwise(u);
    }
  }

  void elementwise(UOp u) {
    ensure(is_elementwise(u.op()) && u.num_src() >= 1 && u.num_src() <= 3,
           "linear program: {} cannot stand in it", info(u.op()).name);
    Lanes result;
    for (std::int64_t k = 0; k < computed_lanes(u); k++) result.push_back(elementwise(u, k));
    values_[u.node()] = std::move(result);
  }

  std::string elementwise(UOp u, std::int64_t k) {
    const DType operand = u.src(u.num_src() - 1).dtype();
    if (const std::optional<std::int64_t> bits = folded(u, k)) {
      if (k == 0) known_[u.node()] = *bits;
      return constant(*bits, u.dtype());
    }
    Lanes operands;
    for (UOp s : u.sources()) operands.push_back(lane(s, k));
    // What lane 0 adds to a row.
    if (u.is(Op::Add) && is_integer(u.dtype()) && operands[1] == "0") return operands[0];
    return ptx::elementwise(text_, u.op(), u.dtype(), operand, operands);
  }

  // Lane k of constants and of the numbers of lanes, and of what follows from these.
  std::optional<std::int64_t> folded(UOp u, std::int64_t k) const {
    SmallVector<std::int64_t, 3> bits;
    for (UOp s : u.sources()) {
      const std::optional<std::int64_t> known = known_lane(s, k);
      if (!known) return {};
      bits.push_back(*known);
    }
    const DType operand = u.src(u.num_src() - 1).dtype();
    return eval(u.op(), u.dtype(), operand, std::span<const std::int64_t>(bits));
  }

  std::optional<std::int64_t> known_lane(UOp u, std::int64_t k) const {
    while (u.is(Op::After)) u = u.src(0);
    if (u.is_const()) return u.arg().value;
    if (is_lane(u)) return k;
    const std::int64_t* lane_0 = known_.find(u.node());
    const LaneForm form = forms_.of(u);
    if (!lane_0 || !form.affine) return {};
    return form.step == 0 ? *lane_0 : bits_of(*lane_0 + k * form.step, u.dtype());
  }

  Lanes all_lanes(UOp u, std::int64_t count) {
    Lanes all;
    for (std::int64_t k = 0; k < count; k++) all.push_back(lane(u, k));
    return all;
  }

  void reduce(UOp u) {
    values_[u.node()] = {ptx::reduced(text_, u.reduce_op(), u.dtype(), u.src(0).dtype(),
                                      all_lanes(u.src(0), u.src(1).range_size()))};
  }

  void exchange(UOp u) {
    const std::int64_t bit = u.arg().value;
    Lanes result;
    for (std::int64_t k = 0; k < forms_.of(u).lanes; k++) {
      const bool has_bit = (k & std::abs(bit)) != 0;
      const std::int64_t moved = k - bit;  // the lane that trades places with this one
      result.push_back(has_bit ? lane(u.src(1), bit > 0 ? moved : k)
                               : lane(u.src(0), bit > 0 ? k : moved));
    }
    values_[u.node()] = std::move(result);
  }

  void look_up(UOp u) {
    const std::int64_t lanes = forms_.of(u).lanes;
    values_[u.node()] = ptx::looked_up(text_, u.dtype(), all_lanes(u.src(0), lanes),
                                       u.src(1).dtype(), all_lanes(u.src(1), lanes));
  }

  // ---- warps ----

  void shuffle(UOp u) {
    Lanes result;
    for (std::int64_t k = 0; k < computed_lanes(u); k++) {
      result.push_back(ptx::shuffled(text_, u.dtype(), lane(u.src(0), k), u.arg().value));
    }
    values_[u.node()] = std::move(result);
  }

  void ballot(UOp u) {
    Lanes result;
    for (std::int64_t k = 0; k < computed_lanes(u); k++)
      result.push_back(ptx::ballot(text_, lane(u.src(0), k)));
    values_[u.node()] = std::move(result);
  }

  void meet(UOp barrier) {
    if (awaits_copies(barrier) && items_copy_) {
      text_.line("cp.async.commit_group;");
      text_.line("cp.async.wait_group {};", barrier.arg().value);
    }
    if (awaits_copies(barrier) && boxes_.are_there()) boxes_.await(barrier.arg().value);
    if (units_read_) text_.line("fence.proxy.async.shared::cta;");
    text_.line("bar.sync 0;");
  }

  // ---- matrix units ----

  void contract(UOp u) {
    const MatrixUnit& unit = *find_matrix_unit(u.arg().as_text());
    Lanes sums = all_lanes(u.src(0), u.src(3).range_size());
    if (unit.reads_group_memory) return contract_behind(u, unit, std::move(sums));
    values_[u.node()] =
        ptx::contract(text_, unit, std::move(sums), factor(u.src(1), u.src(4), unit.a),
                      factor(u.src(2), u.src(5), unit.b));
  }

  // The sums stay in their registers, which nobody touches until they are awaited.
  void contract_behind(UOp u, const MatrixUnit& unit, Lanes sums) {
    for (std::string& x : sums) {
      if (x[0] != '%') x = ptx::copied(text_, unit.accumulator, x);
    }
    ptx::contract_behind(text_, unit, sums, place_of(u.src(1).src(0), 0, false),
                         place_of(u.src(2).src(0), 0, false));
    values_[u.node()] = std::move(sums);
  }

  // The registers of a factor.
  Lanes factor(UOp u, UOp over, DType t) {
    if (in_words_.contains(u.node())) return lanes(u);
    Lanes elements = all_lanes(u, over.range_size());
    return size_of(t) < 4 ? ptx::packed(text_, t, elements) : elements;
  }

  // In words, of which units make their factors; what is added to products is wanted by elements.
  void load_matrix(UOp u) {
    if (is_read_by_unit(u)) return;
    Lanes words = ptx::load_matrix(text_, place_of(u.src(0), 0, false), u.src(1).range_size() / 2,
                                   u.arg().value == 1);
    if (others_.contains(u.node())) {
      values_[u.node()] = ptx::unpacked(text_, words);
      return;
    }
    in_words_.insert(u.node());
    values_[u.node()] = std::move(words);
  }

  // Whether the load is of a factor and nothing else, and of whole words that lie side by side.
  bool is_in_words(UOp u) const {
    const UOp place = u.src(0), buffer = buffer_of(place);
    const std::int64_t size = size_of(u.dtype());
    return size < 4 && factors_.contains(u.node()) && !others_.contains(u.node()) &&
           buffer.is(Op::Local) && is_row(place) &&
           multiple_in_first_lane(place.src(1)) * size % 4 == 0 &&
           forms_.of(place).lanes * size % 4 == 0;
  }

  Lanes load_words(UOp u) {
    const UOp place = u.src(0);
    const std::int64_t in_word = 4 / size_of(u.dtype());
    ptx::Place words = place_of(place, 0, true);
    words.dtype = DType::UInt32;
    words.multiple /= in_word;
    in_words_.insert(u.node());
    return ptx::load(text_, words, forms_.of(place).lanes / in_word);
  }

  // ---- loops ----

  struct OpenLoop {
    std::string body, end;  // labels; none where nothing goes there
  };

  std::string end_of(UOp range) {
    return range.is_open() ? lane(range.src(0), 0) : fmt::format("{}", range.range_size());
  }

  // Tested at the end, and before the first turn where there may be none.
  void open_loop(UOp range) {
    const bool may_be_empty = range.is_open() || range.range_size() <= 0;
    const OpenLoop loop{turns_at_most_once(range) ? "" : text_.fresh_label(),
                        may_be_empty ? text_.fresh_label() : ""};
    ptx::copy(text_, range.dtype(), lanes(range)[0], "0");
    if (range.is_open()) {
      const std::string is_empty =
          text_.define(DType::Bool, fmt::format("setp.le.{}", ptx::number_type(range.dtype())),
                       {end_of(range), "0"});
      text_.line("@{} bra {};", is_empty, loop.end);
    } else if (may_be_empty) {
      text_.line("bra {};", loop.end);
    }
    if (!loop.body.empty()) text_.label(loop.body);
    loops_.push_back(loop);
  }

  void close_loop(UOp range) {
    ensure(!loops_.empty(), "linear program: loops are not nested");
    const OpenLoop loop = std::move(loops_.back());
    loops_.pop_back();
    if (!loop.body.empty()) turn_again(range, loop.body);
    if (!loop.end.empty()) text_.label(loop.end);
  }

  void turn_again(UOp range, std::string_view body) {
    const std::string& counter = lanes(range)[0];
    const std::string_view type = ptx::number_type(range.dtype());
    text_.line("add.{} {}, {}, 1;", type, counter, counter);
    const std::string goes_on =
        text_.define(DType::Bool, fmt::format("setp.lt.{}", type), {counter, end_of(range)});
    text_.line("@{} bra {};", goes_on, body);
  }

  // ---- memory ----

  void load(UOp u) {
    const UOp place = u.src(0), buffer = buffer_of(place);
    Lanes result;
    if (added_to_behind_.contains(u.node())) {
      result = lanes(buffer);
    } else if (buffer.is(Op::Register)) {
      // A later store must not change what was read.
      for (const std::string& x : lanes(buffer)) {
        result.push_back(ptx::copied(text_, u.dtype(), x));
      }
    } else if (is_in_words(u)) {
      result = load_words(u);
    } else if (is_row(place)) {
      result = ptx::load(text_, place_of(place, 0, true), forms_.of(place).lanes);
    } else {
      for (std::int64_t k = 0; k < forms_.of(place).lanes; k++) {
        result.push_back(ptx::load(text_, place_of(place, k, false), 1)[0]);
      }
    }
    values_[u.node()] = std::move(result);
  }

  // A vector is read whole before any of it is written, so a lane that another one overwrites in a
  // register has been copied.
  void store(UOp u) {
    const UOp place = u.src(0), buffer = buffer_of(place);
    if (is_copy(u)) {
      const std::int64_t lanes = forms_.of(place).lanes;
      return ptx::begin_copy(text_, place_of(place, 0, lanes > 1), place_of(u.src(1), 0, lanes > 1),
                             lanes);
    }
    if (buffer.is(Op::Register)) {
      const Lanes& targets = lanes(buffer);
      for (std::size_t k = 0; k < targets.size(); k++) {
        const std::string value = lane(u.src(1), static_cast<std::int64_t>(k));
        if (value != targets[k]) ptx::copy(text_, buffer.dtype(), targets[k], value);
      }
      return;
    }
    const std::int64_t count = std::max(forms_.of(place).lanes, forms_.of(u.src(1)).lanes);
    const Lanes values = all_lanes(u.src(1), count);
    if (is_row(place)) return ptx::store(text_, place_of(place, 0, true), values);
    for (std::int64_t k = 0; k < count; k++) {
      ptx::store(text_, place_of(place, k, false),
                 std::span(values).subspan(static_cast<std::size_t>(k), 1));
    }
  }

  void copy_box(UOp u) {
    Lanes coordinates;
    for (int i = 2; i < u.first_closed(); i++) coordinates.push_back(lane(u.src(i), 0));
    boxes_.copy(box_of(u), place_of(u.src(0), 0, false), coordinates, u.src(2).dtype());
  }

  void prefetch(UOp u) {
    const ptx::Place place = place_of(u.src(0), 0, false);
    if (place.space != "global") return;
    text_.line("prefetch.global.L{} [{}+{}];", u.arg().value, place.base, place.offset);
  }

  // Whether the lanes are neighbours in memory that one gate opens.
  bool is_row(UOp place) const {
    const LaneForm index = forms_.of(place.src(1));
    const bool one_gate = place.num_src() < 3 || computed_lanes(place.src(2)) == 1;
    return index.lanes > 1 && index.affine && index.step == 1 && one_gate;
  }

  // Of lane k; of a row, its lane 0.
  ptx::Place place_of(UOp place, std::int64_t k, bool is_row) {
    const UOp buffer = buffer_of(place);
    ensure(place.is(Op::Index) && (buffer.is(Op::Param) || buffer.is(Op::Local)),
           "linear program: {} is no place", info(place.op()).name);
    ptx::Place result;
    result.dtype = buffer.dtype();
    result.multiple = multiple_in_first_lane(place.src(1));
    if (place.num_src() > 2) result.gate = lane(place.src(2), k);
    result.space = buffer.is(Op::Param) ? "global" : is_group_tile(buffer) ? "shared" : "local";
    if (buffer.is(Op::Param)) {
      result.is_constant = !written_.contains(buffer.slot());
      if (is_row && result.multiple != 1) result.is_aligned = aligned_buffer(buffer.slot());
    }
    set_address(result, lanes(buffer)[0], place.src(1), k);
    return result;
  }

  // Lane 0 of an index as a constant and a rest, which is null if that is all.
  struct Parted {
    UOp rest;
    std::int64_t constant = 0;
  };
  Parted parted(UOp index) const {
    Parted result{index};
    if (is_unsigned(index.dtype())) return result;  // their sums may wrap
    while (result.rest.is(Op::Add) && result.rest.src(1).is_const()) {
      result.constant += result.rest.src(1).const_int();
      result.rest = result.rest.src(0);
    }
    const std::optional<std::int64_t> lane_0 = known_lane(result.rest, 0);
    if (!lane_0) return result;
    return {{}, result.constant + *lane_0};
  }

  // base + index * size.  A constant, and what lane k adds to lane 0, goes into the offset of the
  // instruction, so that neighbours have one address; an offset has 32 bits.
  void set_address(ptx::Place& result, const std::string& base, UOp index, std::int64_t k) {
    constexpr std::int64_t most = 1 << 24;  // elements
    const std::int64_t size = size_of(result.dtype);
    const LaneForm form = forms_.of(index);
    const Parted parts = parted(index);
    const std::int64_t constant = parts.constant + k * form.step;
    if ((k > 0 && !form.affine) || constant < -most || constant > most) {
      result.base = sum(base, lane(index, k), index.dtype(), size);
      return;
    }
    result.offset = constant * size;
    const UOp rest = parts.rest;
    result.base = rest ? sum(base, lane(rest, 0), rest.dtype(), size) : base;
  }

  std::string sum(const std::string& base, const std::string& index, DType t, std::int64_t size) {
    ensure(size_of(t) >= 4, "the ptx renderer has no index of {}", name_of(t));
    const std::string in_register = index[0] == '%' ? index : ptx::copied(text_, t, index);
    const std::string_view instruction = size_of(t) == 8  ? "mad.lo.s64"
                                         : is_unsigned(t) ? "mad.wide.u32"
                                                          : "mad.wide.s32";
    return text_.define(DType::UInt64, instruction, {in_register, fmt::format("{}", size), base});
  }

  const LinearProgram& program_;
  PtxTarget target_;
  LaneForms forms_;
  Text text_;
  FlatMap<const Node*, Lanes> values_;
  FlatMap<const Node*, std::int64_t> known_;              // lane 0 of what was folded
  FlatMap<std::int64_t, std::string> buffers_, aligned_;  // by slot
  FlatSet<std::int64_t> written_;                         // slots
  FlatSet<const Node*> factors_, others_;  // operands of matrix units, and of all else
  FlatSet<const Node*> in_words_;          // loaded as a unit takes them
  FlatSet<const Node*> added_to_behind_;   // sums
  bool units_read_ = false;                // shared memory by themselves
  bool items_copy_ = false;                // to shared memory
  ptx::BoxCopies boxes_;
  std::vector<OpenLoop> loops_;
  std::string arrays_;  // of Locals
  int num_arrays_ = 0;
};

}  // namespace

std::string PtxRenderer::render(const LinearProgram& program) const {
  return Writer(program, target_).run();
}

}  // namespace croze
