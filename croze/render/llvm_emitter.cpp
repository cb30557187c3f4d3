// llvm_emitter.cpp -- linear program -> the body of a function in LLVM IR.
//
// A value is rendered in up to two forms.  What moves by a constant from lane to lane
// (lane_form.h), and every scalar, is computed once, for lane 0; a vector of it is made only where
// some vector operation wants one, right after lane 0 is known, so that a broadcast stands outside
// of the loops that use it.  All else is computed as vectors from the start.
#include "croze/render/llvm_emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <ranges>
#include <string>
#include <vector>

#include "croze/base/error.h"
#include "croze/graph/matrix_unit.h"
#include "croze/render/lane_form.h"
#include "croze/render/llvm_bytes.h"
#include "croze/render/llvm_index.h"
#include "croze/render/llvm_memory.h"
#include "croze/render/llvm_order.h"
#include "croze/render/llvm_text.h"
#include "croze/render/step_neighbours.h"
#include "croze/render/words_in_memory.h"

namespace croze {
namespace {

// One instruction while rendering.
struct Rendered {
  UOp node;
  LaneForm form;
  std::vector<std::int64_t> wanted;  // lane counts in which an affine value is wanted as a vector
  LlvmValue base;                    // lane 0 of an affine value; the vector of any other
  std::vector<LlvmValue> vectors;    // of an affine value, as wanted
  bool is_needed = false;            // by another instruction, as a value
  int exchanges = 0;                 // of an Exchange: those in a row that end in it
};

class Emitter {
 public:
  Emitter(const LlvmWords& words, const LinearProgram& program)
      : words_(words),
        program_(program),
        forms_(program, true),
        apart_(program, forms_),
        indices_(program, words.hides_counters),
        neighbours_(program, forms_, indices_),
        text_(words.forms) {}

  LlvmBody run();

 private:
  // What is wanted as a vector.
  void collect();
  void want_sources(UOp user);
  void want_place(UOp place, std::int64_t lanes);
  void need_sources(UOp user);
  static bool is_left_out(const Rendered& r);
  UOp place_of_word(UOp u) const;
  void want(UOp node, std::int64_t lanes);
  std::int64_t access_lanes(UOp load_or_store) const;
  std::int64_t operand_lanes(UOp contract, int source) const;
  bool wants_index_vector(UOp place, std::int64_t lanes) const;
  bool has_one_gate(UOp place, std::int64_t lanes) const;
  bool keeps_scalar(UOp user, int source) const;

  // Values.
  Rendered& at(UOp node);
  LlvmValue value_of(UOp node, std::int64_t lanes);
  void make_vector(Rendered& r, std::int64_t lanes);
  LlvmPlace place_of(UOp place, std::int64_t lanes);

  // Instructions.
  void emit(Rendered& r);
  LlvmValue compute(Rendered& r);
  LlvmValue leaf(UOp u);
  LlvmValue elementwise(const Rendered& r);
  bool is_loaded_number(UOp user, int source, std::int64_t lanes) const;
  LlvmValue exchange(Rendered& r);
  LlvmValue load(UOp u);
  void store(UOp u);
  LlvmType type_in_register(UOp place, LlvmType type) const;
  LlvmValue as_type(const LlvmValue& value, LlvmType type);
  void open_loop(UOp range);
  LlvmValue counter(UOp range);
  void close_loop(UOp range);
  LlvmValue end_of(UOp range);
  std::string turns_of(UOp range);
  std::string registers() const;

  const LlvmWords& words_;
  const LinearProgram& program_;
  LaneForms forms_;
  WordsInMemory apart_;
  IndexSplitter indices_;
  StepNeighbours neighbours_;
  std::vector<Rendered> rendered_;
  std::vector<std::int32_t> position_;            // in rendered_, by node id
  std::vector<std::int64_t> params_, variables_;  // their slots
  std::vector<UOp> tiles_;                        // registers of sums of units with rows
  std::string before_loop_;                       // the block in front of the loop just opened
  LlvmOrder order_{words_.vector_registers};
  // Where the label of the last block of each loop belongs, by its id: an inner loop's, which is
  // known first, stands behind those of the loops around it, so none is moved.
  std::map<std::int64_t, std::size_t> last_block_;
  LlvmText text_;
};

// A half that memory gives to all lanes at once is widened in them: one by itself goes through
// three registers first.
bool widens_half(UOp u) {
  return u.is(Op::Cast) && u.dtype() == DType::Float32 && u.src(0).dtype() == DType::Float16 &&
         !u.src(0).is_const();
}

// Whether its operands are in registers of tiles of one thread.
bool has_tiles(const MatrixUnit& unit) { return unit.rows > 1 && unit.threads == 1; }

std::string name_of_register(UOp u) { return fmt::format("%r{}", u.arg().value); }

// ---- what is wanted as a vector ---------------------------------------------------------------

void Emitter::collect() {
  position_.assign(program_.graph->id_limit(), -1);
  rendered_.reserve(program_.instructions.size());
  for (UOp u : program_.instructions) {
    position_[u.id()] = static_cast<std::int32_t>(rendered_.size());
    rendered_.push_back({.node = u, .form = forms_.of(u), .wanted = {}, .base = {}, .vectors = {}});
    if (!u.is(Op::Param) && !u.is(Op::Variable)) continue;
    std::vector<std::int64_t>& slots = u.is(Op::Param) ? params_ : variables_;
    if (std::ranges::find(slots, u.slot()) == slots.end()) slots.push_back(u.slot());
  }
  for (const Rendered& r : std::views::reverse(rendered_)) {
    if (is_left_out(r)) continue;
    want_sources(r.node);
    need_sources(r.node);
  }
}

// Sums of an index and a constant are part of addresses, and often of nothing else; so are bytes of
// words that are loaded as such.
bool Emitter::is_left_out(const Rendered& r) {
  return (is_elementwise(r.node.op()) || r.node.is(Op::Load)) && !r.is_needed;
}

// The place in memory where a word or a half is loaded from; else null.
UOp Emitter::place_of_word(UOp u) const {
  const WordInMemory* half = apart_.find_half(u);
  const WordInMemory* word = half ? half : apart_.find_word(u);
  return word ? word->low.src(0) : UOp();
}

void Emitter::need_sources(UOp u) {
  const auto need = [&](UOp node) {
    const std::int32_t position = position_[without_after(node).id()];
    if (position >= 0) rendered_[static_cast<std::size_t>(position)].is_needed = true;
  };
  if (const UOp place = place_of_word(u)) {
    for (UOp term : indices_.split(place).terms) need(term);
    return;
  }
  for (UOp s : u.sources()) {
    const UOp place = without_after(s);
    if (!place.is(Op::Index)) {
      need(place);
      if (place.is(Op::Range) && place.is_open()) need(place.src(0));
      continue;
    }
    const std::int64_t lanes = u.is(Op::Prefetch) ? 1 : access_lanes(u);
    if (wants_index_vector(place, lanes)) {
      need(place.src(1));
    } else {
      for (UOp term : indices_.split(place).terms) need(term);
    }
    if (place.num_src() > 2) need(place.src(2));
  }
}

void Emitter::want_sources(UOp u) {
  if (u.is(Op::Load) || u.is(Op::Store)) {
    const UOp place = without_after(u.src(0));
    const std::int64_t lanes = access_lanes(u);
    if (place.is(Op::Index)) want_place(place, lanes);
    if (u.is(Op::Store)) want(u.src(1), lanes);
  } else if (u.is(Op::Prefetch)) {
    want_place(u.src(0), 1);
  } else if (u.is(Op::Reduce)) {
    want(u.src(0), u.src(1).range_size());
  } else if (u.is(Op::Contract)) {
    for (int i : {0, 1, 2}) want(u.src(i), operand_lanes(u, i));
    if (u.src(0).is(Op::Load) && has_tiles(*find_matrix_unit(u.arg().as_text())))
      tiles_.push_back(without_after(u.src(0).src(0)));
  } else if (u.is(Op::Exchange) || u.is(Op::Lookup) || u.is(Op::Shuffle) || u.is(Op::Ballot)) {
    for (UOp s : u.sources()) want(s, forms_.of(u).lanes);
  } else if (is_elementwise(u.op()) && !forms_.of(u).affine && !place_of_word(u)) {
    for (int i = 0; i < u.num_src(); i++) {
      if (!keeps_scalar(u, i)) want(u.src(i), forms_.of(u).lanes);
    }
  }
}

void Emitter::want_place(UOp place, std::int64_t lanes) {
  if (wants_index_vector(place, lanes)) want(place.src(1), lanes);
  if (place.num_src() > 2 && !has_one_gate(place, lanes)) want(place.src(2), lanes);
}

void Emitter::want(UOp node, std::int64_t lanes) {
  Rendered& r = at(node);
  if (lanes == 1) return;
  ensure(r.form.affine || r.form.lanes == lanes, "llvm: {} has {} lanes, its user {}",
         info(r.node.op()).name, r.form.lanes, lanes);
  if (!r.form.affine || std::ranges::find(r.wanted, lanes) != r.wanted.end()) return;
  r.wanted.push_back(lanes);
  if (widens_half(r.node)) want(r.node.src(0), lanes);
}

// What lanes load again is loaded once, if no gate tells them apart.
std::int64_t Emitter::access_lanes(UOp u) const {
  const UOp place = without_after(u.src(0));
  const std::int64_t lanes = forms_.of(place).lanes;
  if (u.is(Op::Store)) return std::max(lanes, forms_.of(u.src(1)).lanes);
  if (!place.is(Op::Index)) return lanes;
  const LaneForm index = forms_.of(place.src(1));
  const bool has_gates = place.num_src() > 2 && forms_.of(place.src(2)).lanes > 1;
  return index.period == 0 || index.jump != 0 || has_gates ? lanes : index.period;
}

// All places of the unit's operand that a thread has.
std::int64_t Emitter::operand_lanes(UOp u, int source) const {
  const MatrixUnit& unit = *find_matrix_unit(u.arg().as_text());
  const std::string_view places[] = {unit.places_of_sums, unit.places_of_a, unit.places_of_b};
  return places_of_thread(unit, places[source]);
}

// Contiguous accesses, and ungated ones that are strided or go in runs, start from lane 0.
bool Emitter::wants_index_vector(UOp place, std::int64_t lanes) const {
  const LaneForm index = forms_.of(place.src(1));
  const bool gated = place.num_src() > 2, has_runs = index.period != 0 && lanes > index.period;
  if (lanes == 1 || !index.affine) return lanes > 1;
  if (has_runs) {
    const bool can_be_joined =
        std::has_single_bit(static_cast<std::uint64_t>(lanes / index.period));
    return gated || index.jump == 0 || index.step < 0 || (index.step <= 1 && !can_be_joined);
  }
  return gated && index.step != 1 && index.step != 2;
}

// Lanes side by side behind one condition are one access or none.
bool Emitter::has_one_gate(UOp place, std::int64_t lanes) const {
  const LaneForm index = forms_.of(place.src(1));
  const bool contiguous = !wants_index_vector(place, lanes) && (index.step == 1 || lanes == 1);
  return contiguous && forms_.of(place.src(2)).lanes == 1;
}

// One condition may choose between two vectors.
bool Emitter::keeps_scalar(UOp user, int source) const {
  return user.is(Op::Where) && source == 0 && forms_.of(user.src(0)).lanes == 1;
}

// ---- values -----------------------------------------------------------------------------------

Rendered& Emitter::at(UOp node) {
  const UOp u = without_after(node);
  const std::int32_t position = position_[u.id()];
  ensure(position >= 0, "llvm: {} is used before it stands in the list", info(u.op()).name);
  return rendered_[static_cast<std::size_t>(position)];
}

// The value as a vector of `lanes`, or lane 0 if lanes is 1.
LlvmValue Emitter::value_of(UOp node, std::int64_t lanes) {
  const Rendered& r = at(node);
  if (lanes == 1 || !r.form.affine) return r.base;
  const auto it = std::ranges::find(r.wanted, lanes);
  ensure(it != r.wanted.end(), "llvm: no vector of {} was wanted", info(r.node.op()).name);
  return r.vectors[static_cast<std::size_t>(it - r.wanted.begin())];
}

void Emitter::make_vector(Rendered& r, std::int64_t lanes) {
  const LlvmType type{r.node.dtype(), lanes};
  if (r.node.is_const()) {
    r.vectors.push_back({llvm_constant(type, r.node.arg().value), type});
    return;
  }
  if (is_lane(r.node)) {
    r.vectors.push_back({llvm_steps(type, 0, 1), type});
    return;
  }
  if (widens_half(r.node)) {
    const LlvmValue halfs = value_of(r.node.src(0), lanes);
    r.vectors.push_back(llvm_elementwise(text_, Op::Cast, type, {&halfs, 1}));
    return;
  }
  const LlvmValue first =
      text_.define(type, "insertelement {} poison, {}, i64 0", type.text(), r.base.text());
  LlvmValue all = text_.define(type, "shufflevector {}, {} poison, <{} x i32> zeroinitializer",
                               first.text(), type.text(), lanes);
  if (!r.form.is_uniform()) {
    const std::string offsets = llvm_lanes(type, [&](std::int64_t k) { return r.form.offset(k); });
    all = text_.define(type, "add {}, {}", all.text(), offsets);
  }
  r.vectors.push_back(all);
}

LlvmPlace Emitter::place_of(UOp place, std::int64_t lanes) {
  const UOp buffer = buffer_of(place);
  LlvmPlace result{.pointer = llvm_buffer_name(buffer),
                   .dtype = buffer.dtype(),
                   .outer = {},
                   .index = {},
                   .offset = 0,
                   .step = forms_.of(place.src(1)).step,
                   .gate = {}};
  if (wants_index_vector(place, lanes)) {
    result.index = value_of(place.src(1), lanes);
  } else {
    const LaneForm form = forms_.of(place.src(1));
    if (form.period != 0 && lanes > form.period) {
      result.run = form.period;
      result.jump = form.jump;
    }
    const SplitIndex split = indices_.split(place);
    result.offset = split.offset;
    result.index = {"0", {DType::Int64, 1}};
    for (UOp term : split.terms) result.outer.push_back(value_of(term, 1));
    if (!result.outer.empty()) {
      result.index = result.outer.back();
      result.outer.pop_back();
    }
  }
  if (place.num_src() > 2) {
    result.gate = value_of(place.src(2), has_one_gate(place, lanes) ? 1 : lanes);
  }
  return result;
}

// ---- instructions -----------------------------------------------------------------------------

void Emitter::emit(Rendered& r) {
  const UOp u = r.node;
  if (u.is(Op::Loop) || u.is(Op::EndLoop)) order_.begin_block();
  if (u.is(Op::MulAdd) || u.is(Op::Contract)) order_.multiply();
  switch (u.op()) {
    case Op::Param:
    case Op::Local:
    case Op::Register: break;  // declared in front of all
    case Op::Barrier:
      text_.forget_loaded();
      words_.barrier(text_);
      break;
    case Op::Loop: open_loop(u.src(0)); break;
    case Op::EndLoop: close_loop(u.src(0)); break;
    case Op::Store: store(u); break;
    case Op::Prefetch: llvm_prefetch(text_, place_of(u.src(0), 1), u.arg().value); break;
    default:
      if (is_left_out(r)) break;
      r.base = compute(r);
      for (std::int64_t lanes : r.wanted) make_vector(r, lanes);
  }
}

LlvmValue Emitter::compute(Rendered& r) {
  const UOp u = r.node;
  switch (u.op()) {
    case Op::Range: return counter(u);
    case Op::Const:
    case Op::Variable:
    case Op::Special: return leaf(u);
    case Op::Load: return load(u);
    case Op::Reduce:
      return llvm_reduce(text_, u.reduce_op(), value_of(u.src(0), u.src(1).range_size()));
    case Op::Contract:
      return words_.contract(
          text_, *find_matrix_unit(u.arg().as_text()), value_of(u.src(0), operand_lanes(u, 0)),
          value_of(u.src(1), operand_lanes(u, 1)), value_of(u.src(2), operand_lanes(u, 2)));
    case Op::Exchange: return exchange(r);
    case Op::Shuffle:
      ensure(words_.shuffle != nullptr, "llvm: the processor has no warps");
      return words_.shuffle(text_, value_of(u.src(0), r.form.lanes), u.arg().value);
    case Op::Ballot:
      ensure(words_.ballot != nullptr, "llvm: the processor has no warps");
      return words_.ballot(text_, value_of(u.src(0), r.form.lanes), {u.dtype(), r.form.lanes});
    case Op::Lookup:
      return llvm_lookup(text_, value_of(u.src(0), r.form.lanes), value_of(u.src(1), r.form.lanes));
    default:
      ensure(is_elementwise(u.op()), "llvm: {} cannot stand in a linear program",
             info(u.op()).name);
      return elementwise(r);
  }
}

LlvmValue Emitter::leaf(UOp u) {
  const LlvmType type{u.dtype(), 1};
  if (u.is_const()) return {llvm_constant(type, u.arg().value), type};
  const LlvmValue wide = u.is(Op::Special)
                             ? words_.special(text_, u)
                             : LlvmValue{fmt::format("%variable{}", u.slot()), {DType::Int64, 1}};
  return llvm_elementwise(text_, Op::Cast, type, {&wide, 1});
}

// Numbers that LLVM makes other instructions of stay as they are.
bool Emitter::is_loaded_number(UOp user, int source, std::int64_t lanes) const {
  const UOp u = user.src(source);
  const bool is_sum = user.is(Op::MulAdd) || user.is(Op::Add) || user.is(Op::Mul);
  if (!is_sum || !u.is_const() || !is_float(u.dtype())) return false;
  const double size = std::abs(u.const_double());
  const bool is_plain = size > 0 && size < std::numeric_limits<double>::infinity() && size != 1;
  return is_plain &&
         lanes * static_cast<std::int64_t>(size_of(u.dtype())) == words_.forms.number_bytes;
}

LlvmValue Emitter::elementwise(const Rendered& r) {
  const UOp u = r.node;
  const std::int64_t lanes = r.form.affine ? 1 : r.form.lanes;
  if (const WordInMemory* half = apart_.find_half(u))
    return apart_.load_half(text_, *half, place_of(half->low.src(0), lanes), lanes);
  if (const WordInMemory* word = apart_.find_word(u))
    return apart_.load_word(text_, *word, place_of(word->low.src(0), lanes), lanes);
  if (const std::vector<std::int64_t> amounts = shifts_of_words(u); std::ssize(amounts) == lanes)
    return llvm_shift_bytes(text_, value_of(u.src(0), lanes), amounts);
  std::vector<LlvmValue> src;
  for (int i = 0; i < u.num_src(); i++) {
    const LlvmType type{u.src(i).dtype(), lanes};
    src.push_back(is_loaded_number(u, i, lanes)
                      ? text_.loaded_number(type, u.src(i).arg().value)
                      : value_of(u.src(i), keeps_scalar(u, i) ? 1 : lanes));
  }
  // Lane 0 of "something + lane" is the something.
  if (u.is(Op::Add) && is_integer(u.dtype()) && lanes == 1) {
    if (src[0].name == "0") return src[1];
    if (src[1].name == "0") return src[0];
  }
  return llvm_elementwise(text_, u.op(), {u.dtype(), lanes}, src, fits_its_type(u));
}

// LLVM looks for one shuffle that does the work of several, through as many as there are in a row:
// in the transposition of a tile, four deep, that took a fifth of the time of its compile, and
// found none.  Two are looked at together.
LlvmValue Emitter::exchange(Rendered& r) {
  constexpr int most_in_a_row = 2;
  for (UOp s : r.node.sources()) {
    r.exchanges = std::max(r.exchanges, at(s).exchanges % most_in_a_row);
  }
  r.exchanges++;
  const LlvmValue result =
      llvm_exchange(text_, r.node.arg().value, value_of(r.node.src(0), r.form.lanes),
                    value_of(r.node.src(1), r.form.lanes));
  return r.exchanges == most_in_a_row ? llvm_opaque(text_, result) : result;
}

LlvmValue Emitter::load(UOp u) {
  const UOp place = without_after(u.src(0));
  const LlvmType type{u.dtype(), access_lanes(u)};
  if (place.is(Op::Index)) {
    LlvmPlace from = place_of(place, type.lanes);
    const StepNeighbours::Reach reach = neighbours_.of(u);
    from.before = reach.before;
    from.behind = reach.behind;
    if (type.lanes > 1) order_.keep_behind_products(text_);
    return llvm_repeat(text_, llvm_load(text_, from, type.lanes), forms_.of(u).lanes / type.lanes);
  }
  if (type.lanes > 1) order_.read_sum();
  const LlvmType in_register = type_in_register(place, type);
  const LlvmValue loaded = text_.define(in_register, "load {}, ptr{} {}", in_register.text(),
                                        words_.space, name_of_register(place));
  return as_type(loaded, type);
}

// LLVM keeps the sums of a unit with rows in a register of tiles from one turn of a loop to the
// next only if they are words all the way.
LlvmType Emitter::type_in_register(UOp place, LlvmType type) const {
  const bool is_tile = std::ranges::find(tiles_, place) != tiles_.end();
  return is_tile ? type.with(DType::Int32) : type;
}

LlvmValue Emitter::as_type(const LlvmValue& value, LlvmType type) {
  if (value.type == type) return value;
  return text_.define(type, "bitcast {} to {}", value.text(), type.text());
}

void Emitter::store(UOp u) {
  const UOp place = without_after(u.src(0));
  const LlvmValue value = value_of(u.src(1), access_lanes(u));
  if (place.is(Op::Index)) {
    LlvmPlace to = place_of(place, value.type.lanes);
    const UOp buffer = buffer_of(place);
    to.past_caches = buffer.is(Op::Param) && std::ranges::count(words_.streamed, buffer.slot()) > 0;
    llvm_store(text_, to, value);
  } else {
    text_.line("store {}, ptr{} {}", as_type(value, type_in_register(place, value.type)).text(),
               words_.space, name_of_register(place));
  }
}

// ---- loops: the test stands at the end, since few are empty -----------------------------------

void Emitter::open_loop(UOp range) {
  before_loop_ = text_.block();
  const bool may_be_empty = range.is_open() ? range.src(0).lo() < 1 : range.range_size() == 0;
  if (may_be_empty) {
    text_.line("%i{0}.any = icmp sgt {1}, 0", range.range_id(), end_of(range).text());
    text_.line("br i1 %i{0}.any, label %loop{0}, label %loop{0}.end", range.range_id());
  } else {
    text_.line("br label %loop{}", range.range_id());
  }
  text_.label(fmt::format("loop{}", range.range_id()));
}

// The empty assembler text hides from LLVM that the counter counts.  Else its strength reduction
// takes up to nine tenths of the compile time of a deep nest, quadratic in the accesses, to replace
// the index arithmetic that codegen has thought about by pointers of its own.
LlvmValue Emitter::counter(UOp range) {
  const LlvmType type{range.dtype(), 1};
  if (is_lane(range)) return llvm_zero(type);
  const std::int64_t id = range.range_id();
  text_.line("%i{0}{3} = phi {1} [ 0, %{2} ], [ %i{0}.next, % ]", id, type.text(), before_loop_,
             words_.hides_counters ? ".phi" : "");
  last_block_[id] = text_.body().size() - std::string_view(" ]\n").size();
  if (words_.hides_counters)
    text_.line("%i{0} = call {1} asm \"\", \"=r,0\"({1} %i{0}.phi)", id, type.text());
  return {fmt::format("%i{}", id), type};
}

// What the counter stays below.
LlvmValue Emitter::end_of(UOp range) {
  if (range.is_open()) return value_of(range.src(0), 1);
  return {fmt::format("{}", range.range_size()), {range.dtype(), 1}};
}

// The counter goes on in the last block of the body: in one of its own LLVM would compute there, in
// whatever order it comes to them, the sums that both the next turn and what follows the loop want.
void Emitter::close_loop(UOp range) {
  const std::int64_t id = range.range_id();
  const std::string type = LlvmType{range.dtype(), 1}.text();
  text_.insert(last_block_.at(id), text_.block());
  text_.line("%i{0}.next = add nuw nsw {1} %i{0}, 1", id, type);
  text_.line("%i{0}.more = icmp ult {1} %i{0}.next, {2}", id, type, end_of(range).name);
  text_.line("br i1 %i{0}.more, label %loop{0}, label %loop{0}.end{1}", id, turns_of(range));
  text_.label(fmt::format("loop{}.end", id));
}

// LLVM takes a loop of which it knows nothing for one that turns often, so of two nests the deeper
// one gets the registers, as if it always ran longer.  A loop of five turns or less it does not
// align.
std::string Emitter::turns_of(UOp range) {
  constexpr std::int64_t least = 8, most = INT32_MAX;
  if (!words_.hides_counters || range.is_open()) return {};
  const std::int64_t turns = std::clamp(range.range_size(), least, most);
  text_.declare(fmt::format("!{} = !{{!\"branch_weights\", i32 {}, i32 1}}\n", turns, turns - 1));
  return fmt::format(", !prof !{}", turns);
}

// ---- the whole --------------------------------------------------------------------------------

// Registers are allocas, which the compiler turns into machine registers; numbers follow them.
std::string Emitter::registers() const {
  std::string result;
  for (const Rendered& r : rendered_) {
    if (!r.node.is(Op::Register)) continue;
    const LlvmType type = type_in_register(r.node, {r.node.dtype(), r.form.lanes});
    result +=
        fmt::format("  {} = alloca {}{}\n", name_of_register(r.node), type.text(), words_.stack);
  }
  return result + text_.loads_of_numbers();
}

LlvmBody Emitter::run() {
  collect();
  for (Rendered& r : rendered_) emit(r);
  // What passes the caches is not in order with what tells another thread that it is there.
  if (!words_.streamed.empty()) text_.line("{}", text_.call("void", "x86.sse.sfence", {}));
  return {params_, variables_, registers(), text_.body(), text_.declarations()};
}

}  // namespace

std::string llvm_buffer_name(UOp buffer) {
  return fmt::format("{}{}", buffer.is(Op::Local) ? "%local" : "%buffer", buffer.arg().ints[0]);
}

LlvmBody llvm_body(const LlvmWords& words, const LinearProgram& program) {
  return Emitter(words, program).run();
}

}  // namespace croze
