// spirv.cpp -- the walk over a linear program: its values as results, its loops and gates as
// structured control flow.
//
// Zero.  Drivers multiply by a constant zero, or add it, as if floats were real numbers (Mesa's
// software driver does, whatever is asked of it).  So arithmetic gets a zero that comes with the
// launch.
#include "croze/render/spirv/spirv.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "croze/base/error.h"
#include "croze/base/flat_map.h"
#include "croze/base/small_vector.h"
#include "croze/render/lane_form.h"
#include "croze/render/spirv/arguments.h"
#include "croze/render/spirv/cast.h"
#include "croze/render/spirv/cooperative.h"
#include "croze/render/spirv/elementwise.h"
#include "croze/render/spirv/memory.h"
#include "croze/render/spirv/module.h"
#include "croze/render/spirv/subgroups.h"

namespace croze {
namespace {

using spirv::BuiltIn;
using spirv::Code;
using spirv::Elements;
using spirv::Id;
using spirv::StorageClass;

using Ids = SmallVector<Id, 2>;  // of a value, for each lane

StorageClass storage_of(UOp local) {
  const bool is_shared = is_group_tile(local);
  return is_shared ? StorageClass::Workgroup : StorageClass::Function;
}

class Writer {
 public:
  // `dtypes`: those that the device has, as bits.
  Writer(const LinearProgram& program, const SpirvTarget& target, std::uint32_t dtypes)
      : program_(program),
        target_(target),
        dtypes_(dtypes),
        arguments_(program.info),
        cooperative_(m_, program) {
    if (cooperative_.is_used()) forms_.emplace(program);
  }

  spirv::Words run() {
    m_.need(spirv::Capability::Shader);
    m_.need(spirv::Capability::PhysicalStorageBufferAddresses);
    set_group_size();
    set_float_controls();
    if (arguments_.folded) unfold_groups();
    cooperative_.begin();
    for (UOp u : program_.instructions) declare(u);
    for (UOp u : program_.instructions) hide_zeros(u);
    for (UOp u : program_.instructions) statement(u);
    ensure(loops_.empty(), "linear program: a loop has no end");
    return m_.take(SpirvRenderer::entry(program_.info.name));
  }

 private:
  static std::uint32_t word(std::int64_t value) { return static_cast<std::uint32_t>(value); }

  // Items that work together have one axis, so that they stand in subgroups in their order.  Those
  // of matrices do without: the first axis is a subgroup.
  void set_group_size() {
    const auto& items = program_.info.launch.items;
    is_flat_ = !cooperative_.is_used() && std::ranges::any_of(program_.instructions, [](UOp u) {
      return u.is(Op::Shuffle) || u.is(Op::Ballot);
    });
    const std::int64_t along_x = is_flat_ ? items[0] * items[1] * items[2] : items[0];
    m_.execution_mode(
        spirv::ExecutionMode::LocalSize,
        {word(along_x), is_flat_ ? 1 : word(items[1]), is_flat_ ? 1 : word(items[2])});
  }

  // The place of an item along an axis of the launch.
  Id item(std::uint32_t axis) {
    if (!is_flat_) return built_in_word(BuiltIn::LocalInvocationId, axis);
    const auto& items = program_.info.launch.items;
    const Id words = m_.type_int(32), number = built_in_word(BuiltIn::LocalInvocationId, 0);
    std::int64_t before = 1;
    for (std::uint32_t i = 0; i < axis; i++) before *= items[i];
    const Id above = m_.define(Code::UDiv, words, {number, m_.constant_word(word(before))});
    return m_.define(Code::UMod, words, {above, m_.constant_word(word(items[axis]))});
  }

  // ---- floats ----

  // Of the widths that the program computes in.
  void set_float_controls() {
    constexpr DType of_width[] = {DType::Float16, DType::Float32, DType::Float64};
    for (int i = 0; i < 3; i++) {
      const DType t = of_width[i];
      const bool is_used =
          std::ranges::any_of(program_.instructions, [=](UOp u) { return u.dtype() == t; });
      if (!is_used) continue;
      const FloatControls& controls = target_.float_controls[i];
      const std::uint32_t width = word(8 * size_of(t));
      using enum spirv::ExecutionMode;
      if (controls.keeps_subnormals) set(DenormPreserve, width);
      if (controls.keeps_special) set(SignedZeroInfNanPreserve, width);
      if (controls.rounds_to_even) set(RoundingModeRTE, width);
    }
  }

  void set(spirv::ExecutionMode mode, std::uint32_t width) {
    using spirv::ExecutionMode, spirv::Capability;
    m_.need(mode == ExecutionMode::DenormPreserve    ? Capability::DenormPreserve
            : mode == ExecutionMode::RoundingModeRTE ? Capability::RoundingModeRTE
                                                     : Capability::SignedZeroInfNanPreserve);
    m_.execution_mode(mode, {width});
  }

  // ---- what comes with the launch ----

  // An entry: two words.
  Id argument(int number) {
    constexpr std::uint32_t entry_bytes = 8;
    const Id entry = m_.type_words(2);
    if (!pushed_) {
      const int count = arguments_.are_pushed() ? arguments_.count() : 1;
      pushed_ =
          m_.variable(StorageClass::PushConstant, m_.block_of(entry, entry_bytes, word(count)));
    }
    if (arguments_.are_pushed()) return pushed_entry(number);
    constexpr StorageClass global = StorageClass::PhysicalStorageBuffer;
    if (!argument_memory_) {
      const Id block = m_.block_of(entry, entry_bytes, word(arguments_.count()));
      argument_memory_ = m_.define(Code::Bitcast, m_.pointer_to(global, block), {pushed_entry(0)});
    }
    const Id place =
        m_.define(Code::AccessChain, m_.pointer_to(global, entry),
                  {argument_memory_, m_.constant_word(0), m_.constant_word(word(number))});
    return m_.define(Code::Load, entry, {place, spirv::memory_aligned, entry_bytes});
  }

  Id pushed_entry(int number) {
    const Id entry = m_.type_words(2);
    const Id place = m_.define(Code::AccessChain, m_.pointer_to(StorageClass::PushConstant, entry),
                               {pushed_, m_.constant_word(0), m_.constant_word(word(number))});
    return m_.define(Code::Load, entry, {place});
  }

  Id word_of(Id vector, std::uint32_t i) {
    return m_.define(Code::CompositeExtract, m_.type_int(32), {vector, i});
  }

  Id built_in_word(BuiltIn b, std::uint32_t axis) {
    const Id vector = m_.define(Code::Load, m_.type_words(3), {m_.built_in(b)});
    return word_of(vector, axis);
  }

  static bool is_arithmetic(UOp u) { return u.is(Op::Add) || u.is(Op::Mul) || u.is(Op::Div); }

  static bool is_float_zero(UOp u) {
    return u.is_const() && is_float(u.dtype()) && std::bit_cast<double>(u.arg().value) == 0;
  }

  // Of the operands of arithmetic.
  void hide_zeros(UOp u) {
    if (!is_arithmetic(u)) return;
    for (UOp s : u.sources()) {
      if (is_float_zero(s) && !zeros_.find(s.node())) zeros_[s.node()] = zero_of(s);
    }
  }

  Id zero_of(UOp constant) {
    const Id entry = argument(arguments_.zero()), type = m_.type_of(constant.dtype());
    const bool is_wide = size_of(constant.dtype()) == 8;
    Id last = word_of(entry, is_wide ? 1 : 0);
    if (std::signbit(std::bit_cast<double>(constant.arg().value))) {
      last = m_.define(Code::BitwiseOr, m_.type_int(32), {last, m_.constant_word(1u << 31)});
    }
    if (!is_wide) return m_.define(Code::Bitcast, type, {last});
    const Id both =
        m_.define(Code::CompositeConstruct, m_.type_words(2), {word_of(entry, 0), last});
    return m_.define(Code::Bitcast, type, {both});
  }

  // The place of the group along the axes, from its number in the rows.
  void unfold_groups() {
    const Id words = m_.type_int(32);
    const Id first = argument(arguments_.groups()), second = argument(arguments_.groups() + 1);
    const Id x = word_of(first, 0), y = word_of(first, 1), z = word_of(second, 0);
    const Id row = built_in_word(BuiltIn::WorkgroupId, 1);
    const Id before = m_.define(Code::IMul, words, {built_in_word(BuiltIn::NumWorkgroups, 0), row});
    const Id number =
        m_.define(Code::IAdd, words, {built_in_word(BuiltIn::WorkgroupId, 0), before});
    const Id layer = m_.define(Code::IMul, words, {x, y});
    const Id total = m_.define(Code::IMul, words, {layer, z});
    leave_if(m_.define(Code::UGreaterThanEqual, m_.type_bool(), {number, total}));
    group_[0] = m_.define(Code::UMod, words, {number, x});
    group_[1] = m_.define(Code::UMod, words, {m_.define(Code::UDiv, words, {number, x}), y});
    group_[2] = m_.define(Code::UDiv, words, {number, layer});
  }

  void leave_if(Id condition) {
    const Id leaving = m_.fresh(), staying = m_.fresh();
    m_.line(Code::SelectionMerge, {staying, 0});
    m_.line(Code::BranchConditional, {condition, leaving, staying});
    m_.begin_block(leaving);
    m_.line(Code::Return, {});
    m_.begin_block(staying);
  }

  // ---- results ----

  // Only sums of matrix units are vectors, and what is made of them: a result for each lane.
  std::int64_t lanes_of(UOp u) const { return forms_ ? forms_->of(u).lanes : 1; }

  // In the lane that is written; a scalar is the same in all.
  Id ref(UOp u) const {
    while (u.is(Op::After)) u = u.src(0);
    const Ids* ids = ids_.find(u.node());
    ensure(ids != nullptr, "linear program: {} is used before it stands in the list",
           info(u.op()).name);
    return (*ids)[ids->size() == 1 ? 0 : lane_];
  }

  void set(UOp u, Id id) {
    Ids& ids = ids_[u.node()];
    if (lane_ == 0) ids = {};
    ids.push_back(id);
  }

  // ---- declarations ----

  void declare(UOp u) {
    ensure(!is_lane(u) || forms_, "the spirv renderer has no vectors");
    ensure(u.dtype() == DType::Void || dtypes_ >> static_cast<int>(u.dtype()) & 1,
           "the spirv renderer has no {} for this device", name_of(u.dtype()));
    if (ids_.find(u.node())) return;
    switch (u.op()) {
      case Op::Const: return set(u, m_.constant(u.arg().value, u.dtype()));
      case Op::Param: return declare_buffer(u);
      case Op::Variable: return set(u, variable(u));
      case Op::Special: return set(u, special(u));
      case Op::Local: return declare_array(u);
      case Op::Range: return declare_lanes(u);
      case Op::Register:
        for_each_lane(u,
                      [&] { set(u, m_.variable(StorageClass::Function, m_.type_of(u.dtype()))); });
        return;
      default: return;
    }
  }

  // The numbers of the lanes.
  void declare_lanes(UOp u) {
    if (!is_lane(u)) return;
    for_each_lane(u, [&] { set(u, m_.constant(lane_, u.dtype())); });
  }

  void declare_array(UOp u) {
    const auto elements = word(std::max<std::int64_t>(u.buffer_elements(), 1));
    set(u, m_.variable(storage_of(u), m_.array_of(type_in_array(u), elements)));
  }

  // Integers of 8 and 16 bits take 32, but where units read them.
  Id type_in_array(UOp local) {
    return cooperative_.has_factors(local) ? spirv::type_in_memory(m_, local.dtype())
                                           : m_.type_of(local.dtype());
  }

  // Params of one slot may differ in what they say of its size.
  void declare_buffer(UOp u) {
    set(u, 0);
    const DType t = u.dtype();
    const bool is_packed =
        (size_of(t) == 1 && !target_.bytes) || (size_of(t) == 2 && !target_.halfwords);
    const Id address = argument(arguments_.buffer(static_cast<int>(u.slot())));
    buffers_[u.node()] = spirv::elements_at(m_, address, t, is_packed);
  }

  Id variable(UOp u) {
    const Id entry = argument(arguments_.variable(static_cast<int>(u.arg().ints[0])));
    const DType t = u.dtype();
    if (size_of(t) == 8) return m_.define(Code::Bitcast, m_.type_of(t), {entry});
    return spirv::wrapped(m_, word_of(entry, 0), t);
  }

  Id special(UOp u) {
    ensure(u.loop_kind() != LoopKind::Thread, "the spirv renderer has no tasks");
    const auto axis = word(u.arg().ints[0]);
    const bool is_group = u.loop_kind() == LoopKind::Group;
    const Id place = !is_group           ? item(axis)
                     : arguments_.folded ? group_[axis]
                                         : built_in_word(BuiltIn::WorkgroupId, axis);
    return spirv::cast(m_, place, DType::UInt32, u.dtype());
  }

  // ---- statements ----

  template <typename Write>
  void for_each_lane(UOp u, Write write) {
    for (lane_ = 0; lane_ < lanes_of(u); lane_++) write();
    lane_ = 0;
  }

  void statement(UOp u) {
    if (is_declaration(u)) return;
    switch (u.op()) {
      case Op::Range: return;
      case Op::Loop: return open_loop(u.src(0));
      case Op::EndLoop: return close_loop();
      case Op::Barrier: return m_.meet(spirv::scope_workgroup);
      case Op::LoadMatrix: return load_matrix(u);
      case Op::Contract: return cooperative_.contract(u);
      case Op::AwaitProducts: return await(u);
      case Op::Load:
        if (cooperative_.is_for_unit(u)) return;
        return for_each_lane(u, [&] { load(u); });
      case Op::Store: return store_lanes(u);
      case Op::Shuffle:
      case Op::Ballot: return for_each_lane(u, [&] { set(u, of_subgroup(u)); });
      default: return for_each_lane(u, [&] { elementwise(u); });
    }
  }

  Id of_subgroup(UOp u) {
    const Id value = ref(u.src(0));
    return u.is(Op::Ballot) ? spirv::ballot(m_, u.dtype(), value)
                            : spirv::shuffled(m_, u.dtype(), value, word(u.arg().value));
  }

  void elementwise(UOp u) {
    SmallVector<Id, 3> operands;
    for (UOp s : u.sources()) operands.push_back(operand(u, s));
    set(u, spirv::elementwise(m_, u, std::span<const Id>(operands)));
  }

  Id operand(UOp u, UOp source) const {
    const Id* hidden = is_arithmetic(u) ? zeros_.find(source.node()) : nullptr;
    return hidden ? *hidden : ref(source);
  }

  struct OpenLoop {
    DType dtype;  // of the counter
    Id header, next, counter, following, end;
  };

  void open_loop(UOp range) {
    if (turns_at_most_once(range)) {
      open_branch(range);
    } else {
      open_counted_loop(range);
    }
  }

  void close_loop() {
    ensure(!loops_.empty(), "linear program: loops are not nested");
    const OpenLoop loop = loops_.back();
    loops_.pop_back();
    if (loop.header) {
      turn_again(loop);
    } else {
      m_.branch(loop.end);
    }
    m_.begin_block(loop.end);
  }

  void open_branch(UOp range) {
    const Id zero = m_.constant(0, range.dtype());
    const Id turns = m_.fresh(), inside = m_.fresh(), end = m_.fresh();
    is_less(turns, zero, ref(range.src(0)), range.dtype());
    m_.line(Code::SelectionMerge, {end, 0});
    m_.line(Code::BranchConditional, {turns, inside, end});
    m_.begin_block(inside);
    set(range, zero);
    loops_.push_back({.dtype = range.dtype(), .end = end});
  }

  // The header holds the counter and the test; the block that continues adds one.
  void open_counted_loop(UOp range) {
    const DType t = range.dtype();
    const Id before = m_.current_block();
    const OpenLoop loop{t, m_.fresh(), m_.fresh(), m_.fresh(), m_.fresh(), m_.fresh()};
    const Id size = range.is_open() ? ref(range.src(0)) : m_.constant(range.range_size(), t);
    const Id body = m_.fresh(), goes_on = m_.fresh();
    m_.branch(loop.header);
    m_.begin_block(loop.header);
    m_.line(Code::Phi,
            {m_.type_of(t), loop.counter, m_.constant(0, t), before, loop.following, loop.next});
    is_less(goes_on, loop.counter, size, t);
    m_.line(Code::LoopMerge, {loop.end, loop.next, 0});
    m_.line(Code::BranchConditional, {goes_on, body, loop.end});
    m_.begin_block(body);
    set(range, loop.counter);
    loops_.push_back(loop);
  }

  void turn_again(const OpenLoop& loop) {
    const Id one = m_.constant(1, loop.dtype);
    m_.branch(loop.next);
    m_.begin_block(loop.next);
    m_.line(Code::IAdd, {m_.type_of(loop.dtype), loop.following, loop.counter, one});
    m_.branch(loop.header);
  }

  void is_less(Id result, Id a, Id b, DType t) {
    m_.line(is_unsigned(t) ? Code::ULessThan : Code::SLessThan, {m_.type_bool(), result, a, b});
  }

  // ---- matrix units ----

  void load_matrix(UOp u) {
    const UOp place = u.src(0);
    cooperative_.load(u, ref(buffer_of(place)), as_word(place.src(1)));
  }

  Id as_word(UOp index) { return spirv::cast(m_, ref(index), index.dtype(), DType::UInt32); }

  // Each item gets its elements of the sums.
  void await(UOp u) {
    for (UOp sums : u.sources()) {
      const std::vector<Id> elements = cooperative_.elements(sums);
      for_each_lane(sums, [&] {
        const Id element = elements[static_cast<std::size_t>(lane_)];
        if (!sums.is(Op::Register)) return set(sums, element);
        m_.line(Code::Store, {ref(sums), element});
      });
    }
  }

  // ---- memory ----

  void load(UOp u) {
    const UOp place = u.src(0);
    const Id gate = gate_of(place);
    if (!gate) return set(u, element(place, u.dtype()));
    if (has_first_element(buffer_of(place))) return set(u, element_or_zero(place, gate, u.dtype()));
    const Id before = m_.current_block(), inside = m_.fresh(), after = m_.fresh();
    m_.line(Code::SelectionMerge, {after, 0});
    m_.line(Code::BranchConditional, {gate, inside, after});
    m_.begin_block(inside);
    const Id loaded = element(place, u.dtype());
    m_.branch(after);
    m_.begin_block(after);
    set(u, m_.define(Code::Phi, m_.type_of(u.dtype()),
                     {loaded, inside, m_.constant(0, u.dtype()), before}));
  }

  // Whether there is one that every item may load at any time.
  bool has_first_element(UOp buffer) const {
    return buffer.is(Op::Param) && buffer.least_elements() > 0 &&
           !program_.info.writes(static_cast<std::size_t>(buffer.slot()));
  }

  // Without a jump, whose two ways processors that run items as lanes go both: where the gate is
  // shut the first element is loaded and not used.
  Id element_or_zero(UOp place, Id gate, DType t) {
    const DType index_type = place.src(1).dtype();
    const Id index = m_.define(Code::Select, m_.type_of(index_type),
                               {gate, ref(place.src(1)), m_.constant(0, index_type)});
    const Id loaded = spirv::load(m_, *elements_of(buffer_of(place)), index, index_type);
    return m_.define(Code::Select, m_.type_of(t), {gate, loaded, m_.constant(0, t)});
  }

  void store_lanes(UOp u) {
    const UOp to = buffer_of(u.src(0));
    if (cooperative_.has_sums(to)) return cooperative_.store(to, u.src(1));
    const std::int64_t lanes = std::max(lanes_of(u.src(0)), lanes_of(u.src(1)));
    for (lane_ = 0; lane_ < lanes; lane_++) store(u);
    lane_ = 0;
  }

  void store(UOp u) {
    const UOp place = u.src(0);
    const Id gate = gate_of(place);
    if (!gate) return set_element(place, ref(u.src(1)));
    const Id inside = m_.fresh(), after = m_.fresh();
    m_.line(Code::SelectionMerge, {after, 0});
    m_.line(Code::BranchConditional, {gate, inside, after});
    m_.begin_block(inside);
    set_element(place, ref(u.src(1)));
    m_.branch(after);
    m_.begin_block(after);
  }

  Id gate_of(UOp place) const {
    const bool is_gated = place.num_src() > 2 && !buffer_of(place).is(Op::Register);
    return is_gated ? ref(place.src(2)) : 0;
  }

  const Elements* elements_of(UOp buffer) const { return buffers_.find(buffer.node()); }

  // A pointer to a register, or to an element of a Local.
  Id variable_pointer(UOp place) {
    const UOp buffer = buffer_of(place);
    if (buffer.is(Op::Register)) return ref(buffer);
    const Id type = m_.pointer_to(storage_of(buffer), type_in_array(buffer));
    return m_.define(Code::AccessChain, type, {ref(buffer), ref(place.src(1))});
  }

  Id element(UOp place, DType t) {
    if (const Elements* e = elements_of(buffer_of(place))) {
      return spirv::load(m_, *e, ref(place.src(1)), place.src(1).dtype());
    }
    return m_.load(m_.type_of(t), variable_pointer(place), is_group_tile(buffer_of(place)));
  }

  void set_element(UOp place, Id value) {
    if (const Elements* e = elements_of(buffer_of(place))) {
      return spirv::store(m_, *e, ref(place.src(1)), place.src(1).dtype(), value);
    }
    const UOp buffer = buffer_of(place);
    const bool is_short = !is_float(buffer.dtype()) && size_of(buffer.dtype()) < 4;
    if (is_short && cooperative_.has_factors(buffer))
      value = m_.define(Code::UConvert, type_in_array(buffer), {value});
    m_.store(variable_pointer(place), value, is_group_tile(buffer));
  }

  const LinearProgram& program_;
  const SpirvTarget& target_;
  std::uint32_t dtypes_;
  spirv::Arguments arguments_;
  spirv::Module m_;
  spirv::Cooperative cooperative_;
  std::optional<LaneForms> forms_;  // where there are vectors
  Id pushed_ = 0, argument_memory_ = 0;
  Id group_[3] = {};
  bool is_flat_ = false;  // items have one axis
  FlatMap<const Node*, Ids> ids_;
  std::int64_t lane_ = 0;           // that is written
  FlatMap<const Node*, Id> zeros_;  // of constants, as arithmetic gets them
  FlatMap<const Node*, Elements> buffers_;
  std::vector<OpenLoop> loops_;
};

}  // namespace

std::string SpirvRenderer::render(const LinearProgram& program) const {
  const spirv::Words words = Writer(program, target_, storage()).run();
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(words[0])};
}

std::string SpirvRenderer::text(const std::string& source) const {
  constexpr std::size_t bytes_of_line = 32;
  std::string text;
  for (std::size_t i = 0; i < source.size(); i++) {
    fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned char>(source[i]));
    const bool ends_line = i % bytes_of_line == bytes_of_line - 1 || i + 1 == source.size();
    if (ends_line) text += '\n';
  }
  return text;
}

std::string SpirvRenderer::entry(std::string_view kernel) {
  return fmt::format("croze_{}", kernel);
}

OpSet SpirvRenderer::ops() { return spirv::table_ops() | set_of({Op::Const}); }

std::uint32_t SpirvRenderer::dtypes() const {
  std::uint32_t dtypes = 0;
  for (int t = static_cast<int>(DType::Bool); t < num_dtypes; t++) {
    const auto dtype = static_cast<DType>(t);
    const bool is_wide = size_of(dtype) == 8;
    const bool is_there =
        is_float(dtype) ? dtype == DType::Float32 || (dtype == DType::Float64 && target_.float64)
                        : !is_wide || target_.int64;
    if (is_there) dtypes |= 1u << t;
  }
  return dtypes;
}

std::uint32_t SpirvRenderer::storage() const {
  const FloatControls& halves = target_.float_controls[0];
  const bool has_halves = target_.float16 && target_.halfwords && halves.keeps_subnormals &&
                          halves.keeps_special && halves.rounds_to_even;
  return dtypes() | (has_halves ? 1u << static_cast<int>(DType::Float16) : 0);
}

}  // namespace croze
