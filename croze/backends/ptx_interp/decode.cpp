// decode.cpp -- from the parsed text to steps and slots.
//
// The types of operands are checked as an assembler does: registers and instructions of bits go
// with everything of their width, integers with integers, floats only with themselves.  Loads,
// stores and conversions take registers wider than what they move.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "croze/backends/ptx_interp/arithmetic.h"
#include "croze/backends/ptx_interp/code.h"
#include "croze/backends/ptx_interp/convert.h"
#include "croze/backends/ptx_interp/item.h"
#include "croze/backends/ptx_interp/memory.h"
#include "croze/base/error.h"

namespace croze::ptx_interp {
namespace {

using Kind = Operand::Kind;

// Whether values of one type may stand in a register of the other; `wider`: the register may be.
bool fits(Type register_type, Type t, bool wider) {
  if (register_type == Type::Pred || t == Type::Pred) return register_type == t;
  const std::int64_t room = size_of(register_type), size = size_of(t);
  if (room != size && !(wider && room > size && !is_float(register_type))) return false;
  if (is_bits(register_type) || is_bits(t)) return true;
  return is_float(register_type) == is_float(t);
}

Type twice(Type t) {
  switch (t) {
    case Type::U16: return Type::U32;
    case Type::S16: return Type::S32;
    case Type::U32: return Type::U64;
    default: return Type::S64;
  }
}

void end(Item& item, const Step&) { item.stop(Stop::End); }
void meet(Item& item, const Step&) { item.stop(Stop::Barrier); }
void meet_warp(Item& item, const Step&) { item.stop(Stop::Warp); }
void go(Item& item, const Step& step) { item.branch(step.target); }
void meet_warpgroup(Item& item, const Step&) { item.stop(Stop::Warpgroup); }
void fence_registers(Item& item, const Step&) { item.fence_registers(); }
void show_writes(Item& item, const Step&) { item.show_writes(); }
void pass(Item&, const Step&) {}

std::vector<std::string_view> split(std::string_view name) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = name.find('.');
    parts.push_back(name.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    name.remove_prefix(dot + 1);
  }
}

class Decoder {
 public:
  explicit Decoder(const Module& module) : module_(module) {
    code_.entry = module.entry;
    std::ranges::copy(module.items, code_.items);
    code_.num_parameters = static_cast<std::int32_t>(module.parameters.size());
    code_.frame.resize(module.registers.size());
    for (const Array& a : module.arrays) add_array(a);
  }

  Code run() {
    for (const Instruction& i : module_.instructions) {
      at_ = &i;
      step_ = {};
      step_.line = i.line;
      step_.guard = i.guard;
      step_.negated = i.negated;
      instruction();
      code_.steps.push_back(step_);
    }
    const bool ends = !code_.steps.empty() && code_.steps.back().run == end;
    check(ends && code_.steps.back().guard < 0, "PTX: the entry does not end with ret");
    return std::move(code_);
  }

 private:
  void add_array(const Array& a) {
    (a.is_shared ? code_.shared : code_.local).push_back(a.bytes);
    if (!a.is_shared) return;
    const std::int64_t place = (code_.shared_bytes + a.alignment - 1) / a.alignment * a.alignment;
    code_.shared_places.push_back(place);
    code_.shared_bytes = place + a.bytes;
  }

  [[noreturn]] void refuse(std::string_view what) const {
    fail({}, "PTX, line {}: {}: {}", at_->line, at_->name, what);
  }

  void instruction() {
    const std::string& name = at_->name;
    if (name == "ret") return fixed(end, 0);
    if (name == "bra") return branch();
    if (name == "bar.sync") return barrier();
    if (name == "prefetch.global.L1") return fixed(pass, 1);
    if (name == "mov.b32" && at_->operands.back().kind == Kind::Vector) return halves();
    const std::vector<std::string_view> parts = split(name);
    if (parts[0] == "mma") return mma();
    if (parts[0] == "wgmma") return of_warpgroup(parts);
    if (name == "fence.proxy.async.shared::cta") return fixed(show_writes, 0);
    if (parts[0] == "cp") return parts.size() > 4 && parts[2] == "bulk" ? box() : copy(parts);
    if (parts[0] == "mbarrier") return phase();
    if (name == "fence.mbarrier_init.release.cluster") return fixed(show_inits, 0);
    if (name == "shfl.sync.bfly.b32") return shuffle();
    if (name == "vote.sync.ballot.b32") return ballot();
    if (parts[0] == "ldmatrix") return load_matrix();
    if (name == "cvt.rna.tf32.f32") return round_to_tf32();
    if (parts[0] == "cvt") return conversion(parts);
    if (parts[0] == "ld" && parts.size() > 1 && parts[1] == "param") return parameter(parts);
    if (parts[0] == "ld" || parts[0] == "st") return access(parts);
    arithmetic(parts);
  }

  void fixed(Handler handler, std::size_t operands) {
    step_.run = handler;
    count(operands);
  }

  void count(std::size_t operands) const {
    if (at_->operands.size() != operands) {
      refuse(fmt::format("takes {} operands, not {}", operands, at_->operands.size()));
    }
  }

  Type type_of(std::string_view name) const {
    const std::optional<Type> t = type_named(name);
    if (!t) refuse(fmt::format("there is no type '{}'", name));
    return *t;
  }

  // ---- control ----

  void branch() {
    fixed(go, 1);
    const auto label = std::ranges::find(module_.labels, at_->operands[0].name, &Label::name);
    if (label == module_.labels.end()) {
      refuse(fmt::format("there is no label {}", at_->operands[0].name));
    }
    step_.target = static_cast<std::int32_t>(label->position);
  }

  void barrier() {
    fixed(meet, 1);
    if (at_->operands[0].kind != Kind::Integer || at_->operands[0].value != 0) {
      refuse("only barrier 0 is known");
    }
    if (at_->guard >= 0) refuse("a barrier that some items may pass by");
    code_.has_barriers = true;
  }

  // ---- warps ----

  // Whose items do the instruction together.
  void of_warp(std::size_t operands) {
    fixed(meet_warp, operands);
    if (at_->guard >= 0) refuse("an instruction of a warp that some items may pass by");
    if (code_.items[0] * code_.items[1] * code_.items[2] % warp_items != 0)
      refuse("the group has a warp that is not whole");
    step_.target = static_cast<std::int32_t>(code_.warp_steps.size());
  }

  void shuffle() {
    of_warp(5);
    const auto is_number = [&](std::size_t k, std::int64_t value) {
      return at_->operands[k].kind == Kind::Integer && at_->operands[k].value == value;
    };
    const Operand& bit = at_->operands[2];
    if (bit.kind != Kind::Integer || bit.value < 0 || bit.value >= warp_items)
      refuse("only a constant number of an item is known");
    if (!is_number(3, warp_items - 1) || !is_number(4, -1)) refuse("is not of a whole warp");
    code_.warp_steps.push_back({.result = {target(at_->operands[0], Type::B32, false)},
                                .a = {source(at_->operands[1], Type::B32, false)},
                                .bit = bit.value});
  }

  void ballot() {
    of_warp(3);
    const Operand& items = at_->operands[2];
    if (items.kind != Kind::Integer || items.value != -1) refuse("is not of a whole warp");
    code_.warp_steps.push_back({.result = {target(at_->operands[0], Type::B32, false)},
                                .a = {source(at_->operands[1], Type::Pred, false)},
                                .is_ballot = true});
  }

  void load_matrix() {
    of_warp(2);
    const Operand& squares = at_->operands[0];
    if (squares.kind != Kind::Vector) refuse("the result is no vector");
    const std::int64_t count = std::ssize(squares.registers);
    const std::string known = fmt::format("ldmatrix.sync.aligned.m8n8.x{}", count);
    const bool transposed = at_->name == known + ".trans.shared.b16";
    if (count > 4 || count == 3 || (!transposed && at_->name != known + ".shared.b16"))
      refuse("there is no such instruction");
    place(at_->operands[1]);
    code_.warp_steps.push_back({.result = fragment(0, Type::B32, count), .transposed = transposed});
  }

  void mma() {
    of_warp(4);
    const std::optional<Mma> known = find_mma(at_->name);
    if (!known) refuse("there is no such instruction");
    const Type word = known->a == DType::Float64 ? Type::F64 : Type::B32;
    const Type sum = type_of_register(known->sums);
    code_.warp_steps.push_back({.result = fragment(0, sum, known->sum_registers()),
                                .a = fragment(1, word, known->a_registers()),
                                .b = fragment(2, word, known->b_registers()),
                                .sums = fragment(3, sum, known->sum_registers()),
                                .mma = known});
  }

  // ---- four warps ----

  void of_warpgroup(const std::vector<std::string_view>& parts) {
    if (at_->guard >= 0) refuse("an instruction of a warpgroup that some items may pass by");
    if (code_.items[0] * code_.items[1] * code_.items[2] % warpgroup_items != 0)
      refuse("the group has a warpgroup that is not whole");
    code_.has_warpgroups = true;
    if (at_->name == "wgmma.fence.sync.aligned") return fixed(fence_registers, 0);
    step_.run = meet_warpgroup;
    step_.target = static_cast<std::int32_t>(code_.warp_steps.size());
    if (parts[1] == "mma_async") return code_.warp_steps.push_back(product());
    WarpStep step;
    if (at_->name == "wgmma.wait_group.sync.aligned") {
      count(1);
      step.batches_left = static_cast<std::size_t>(number_of(at_->operands[0]));
    } else if (at_->name == "wgmma.commit_group.sync.aligned") {
      count(0);
    } else {
      refuse("there is no such instruction");
    }
    code_.warp_steps.push_back(std::move(step));
  }

  WarpStep product() {
    std::optional<Wgmma> known = find_wgmma(at_->name);
    if (!known) refuse("there is no such instruction");
    const int modifiers = known->modifiers();
    count(static_cast<std::size_t>(3 + modifiers));
    for (int k = 0; k < std::min(modifiers, 3); k++) {
      if (number_of(at_->operands[static_cast<std::size_t>(3 + k)]) != 1)
        refuse("only products that are added as they are are known");
    }
    if (modifiers == 5) {
      known->a_by_lines = number_of(at_->operands[6]) == 1;
      known->b_by_lines = number_of(at_->operands[7]) == 1;
    }
    return {.a = {source(at_->operands[1], Type::B64, false)},
            .b = {source(at_->operands[2], Type::B64, false)},
            .sums = fragment(0, type_of_register(known->sums), known->sum_registers()),
            .wgmma = known};
  }

  static Type type_of_register(DType t) {
    return t == DType::Float64 ? Type::F64 : t == DType::Float32 ? Type::F32 : Type::B32;
  }

  std::vector<std::int32_t> fragment(std::size_t operand, Type t, std::int64_t registers) const {
    const Operand& vector = at_->operands[operand];
    if (vector.kind != Kind::Vector || std::ssize(vector.registers) != registers)
      refuse(fmt::format("operand {} is no vector of {} registers", operand, registers));
    for (std::int32_t number : vector.registers) check_register(number, t, false);
    return vector.registers;
  }

  void round_to_tf32() {
    fixed(to_tf32, 2);
    step_.in[0] = source(at_->operands[1], Type::F32, false);
    step_.result = target(at_->operands[0], Type::B32, false);
  }

  void halves() {
    fixed(join_halves, 2);
    values(at_->operands[1], Type::B16, 2);
    step_.result = target(at_->operands[0], Type::B32, false);
  }

  // ---- values ----

  void arithmetic(const std::vector<std::string_view>& parts) {
    const std::size_t dot = at_->name.rfind('.');
    const Form* form = find_form(std::string_view(at_->name).substr(0, dot));
    if (!form || parts.size() < 2) refuse("unknown instruction");
    const Type t = type_of(parts.back());
    step_.run = form->make(t);
    if (!step_.run) refuse(fmt::format("there is none of type .{}", name_of(t)));
    count(form->operands.size());
    for (std::size_t k = 0; k < form->operands.size(); k++) {
      const Type wanted = operand_type(form->operands[k], t);
      if (k == 0) {
        step_.result = target(at_->operands[0], wanted, false);
      } else {
        step_.in[k - 1] = source(at_->operands[k], wanted, false);
      }
    }
  }

  static Type operand_type(char letter, Type t) {
    switch (letter) {
      case 'p': return Type::Pred;
      case 'u': return Type::U32;
      case 'w': return twice(t);
      default: return t;
    }
  }

  void conversion(const std::vector<std::string_view>& parts) {
    count(2);
    if (parts.size() < 3 || parts.size() > 4) refuse("needs two types and perhaps a rounding");
    const std::string_view rounding = parts.size() == 4 ? parts[1] : std::string_view();
    step_.rounding = rounding == "rn"    ? Rounding::Nearest
                     : rounding == "rz"  ? Rounding::Zero
                     : rounding == "rzi" ? Rounding::IntegerToZero
                                         : Rounding::None;
    step_.type = type_of(parts[parts.size() - 2]);
    step_.from = type_of(parts.back());
    const bool known = rounding.empty() == (step_.rounding == Rounding::None);
    if (!known || !is_conversion(step_.type, step_.from, step_.rounding)) {
      refuse("there is no such conversion");
    }
    step_.run = convert;
    step_.result = target(at_->operands[0], step_.type, true);
    step_.in[0] = source(at_->operands[1], step_.from, true);
  }

  void check_register(std::int32_t number, Type t, bool wider) const {
    const Type held = module_.registers[static_cast<std::size_t>(number)];
    if (!fits(held, t, wider)) {
      refuse(fmt::format("a register of .{} where .{} is wanted", name_of(held), name_of(t)));
    }
  }

  std::int32_t target(const Operand& operand, Type t, bool wider) const {
    if (operand.kind != Kind::Register) refuse("the result is no register");
    check_register(operand.number, t, wider);
    return operand.number;
  }

  std::int32_t source(const Operand& operand, Type t, bool wider) {
    switch (operand.kind) {
      case Kind::Register: check_register(operand.number, t, wider); return operand.number;
      case Kind::Integer: return constant(integer(operand.value, t));
      case Kind::Float32:
      case Kind::Float64:
        if (t != (operand.kind == Kind::Float32 ? Type::F32 : Type::F64)) {
          refuse("a constant of another type");
        }
        return constant(static_cast<std::uint64_t>(operand.value));
      case Kind::Name: return named(operand.name, t);
      default: refuse("an address or a vector where a value is wanted");
    }
  }

  std::uint64_t integer(std::int64_t value, Type t) const {
    if (is_float(t)) refuse("an integer where a float is wanted");
    const std::int64_t width = 8 * size_of(t);
    const bool is_inside = width == 0 || width == 64 ||
                           (value >= -(INT64_C(1) << (width - 1)) && value < INT64_C(1) << width);
    if (!is_inside) refuse(fmt::format("the constant {} does not fit", value));
    return width == 0 ? value != 0 : static_cast<std::uint64_t>(value);
  }

  std::int32_t new_slot(std::uint64_t bits) {
    code_.frame.push_back(bits);
    return static_cast<std::int32_t>(code_.frame.size()) - 1;
  }

  std::int32_t constant(std::uint64_t bits) {
    const auto [known, is_new] = constants_.emplace(bits, 0);
    if (is_new) known->second = new_slot(bits);
    return known->second;
  }

  // A special register, or the address of an array or a map.
  std::int32_t named(const std::string& name, Type t) {
    if (name.starts_with("%")) return special(name, t);
    const auto map = std::ranges::find(module_.parameters, name, &Parameter::name);
    if (map != module_.parameters.end() && map->is_map && size_of(t) == 8)
      return input(Input::Kind::Parameter,
                   static_cast<std::int32_t>(map - module_.parameters.begin()));
    std::size_t shared = 0;
    std::int64_t local = 0;
    for (const Array& a : module_.arrays) {
      if (a.name == name) {
        if (size_of(t) != 8) refuse("addresses have 64 bits");
        return constant(a.is_shared ? code_.address_of_shared(shared) : Window::address_of(local));
      }
      if (a.is_shared) {
        shared++;
      } else {
        local++;
      }
    }
    refuse(fmt::format("there is no {}", name));
  }

  std::int32_t special(const std::string& name, Type t) {
    constexpr std::string_view names[] = {"%tid", "%ctaid", "%ntid", "%nctaid"};
    constexpr Input::Kind kinds[] = {Input::Kind::Item, Input::Kind::Group, Input::Kind::GroupSize,
                                     Input::Kind::Groups};
    const std::size_t dot = name.find('.');
    const auto found = std::ranges::find(names, std::string_view(name).substr(0, dot));
    const std::string axes = "xyz";
    const std::size_t axis = dot + 2 == name.size() ? axes.find(name[dot + 1]) : std::string::npos;
    if (found == std::end(names) || axis == std::string::npos) {
      refuse(fmt::format("there is no register {}", name));
    }
    if (size_of(t) != 4 || is_float(t)) refuse("special registers have 32 bits");
    return input(kinds[found - std::begin(names)], static_cast<std::int32_t>(axis));
  }

  std::int32_t input(Input::Kind kind, std::int32_t number) {
    for (const Input& known : code_.inputs) {
      if (known.kind == kind && known.number == number) return known.slot;
    }
    code_.inputs.push_back({kind, number, new_slot(0)});
    return code_.inputs.back().slot;
  }

  // ---- memory ----

  // A parameter is a slot already.
  void parameter(const std::vector<std::string_view>& parts) {
    count(2);
    const Operand& place = at_->operands[1];
    const auto found = std::ranges::find(module_.parameters, place.name, &Parameter::name);
    if (place.kind != Kind::Address || place.value != 0 || found == module_.parameters.end()) {
      refuse("this is no parameter");
    }
    const Type t = type_of(parts.back());
    if (parts.size() != 3 || size_of(t) != size_of(found->type))
      refuse("the parameter is of another type");
    step_.run = find_form("mov")->make(t);
    step_.result = target(at_->operands[0], t, false);
    step_.in[0] = input(Input::Kind::Parameter,
                        static_cast<std::int32_t>(found - module_.parameters.begin()));
  }

  Space space_of(std::string_view name) const {
    if (name == "global") return Space::Global;
    if (name == "shared") return Space::Shared;
    if (name != "local") refuse(fmt::format("there is no memory '{}'", name));
    return Space::Local;
  }

  // ld.SPACE[.nc][.v2|.v4].TYPE
  void access(const std::vector<std::string_view>& parts) {
    count(2);
    const bool is_store = parts[0] == "st";
    std::size_t next = 1;
    const Space space = space_of(parts[next++ < parts.size() ? 1 : 0]);
    if (!is_store && space == Space::Global && next < parts.size() && parts[next] == "nc") next++;
    std::size_t width = 1;
    if (next < parts.size() && (parts[next] == "v2" || parts[next] == "v4")) {
      width = parts[next++] == "v2" ? 2 : 4;
    }
    if (next + 1 != parts.size()) refuse("unknown access");
    const Type t = type_of(parts[next]);
    step_.run = access_handler(space, is_store, t);
    if (!step_.run || size_of(t) * static_cast<std::int64_t>(width) > 16) refuse("no such access");
    values(at_->operands[is_store ? 1 : 0], t, width);
    place(at_->operands[is_store ? 0 : 1]);
  }

  void values(const Operand& operand, Type t, std::size_t width) {
    step_.count = static_cast<std::uint8_t>(width);
    if (width == 1) {
      // A store takes constants too.
      step_.registers[0] =
          at_->name.starts_with("st") ? source(operand, t, true) : target(operand, t, true);
      return;
    }
    if (operand.kind != Kind::Vector || operand.registers.size() != width) {
      refuse(fmt::format("needs a vector of {} registers", width));
    }
    for (std::size_t k = 0; k < width; k++) {
      check_register(operand.registers[k], t, true);
      step_.registers[k] = operand.registers[k];
    }
  }

  void place(const Operand& operand) {
    if (operand.kind != Kind::Address) refuse("needs an address");
    step_.offset = operand.value;
    if (operand.number < 0) {
      step_.in[0] = named(operand.name, Type::U64);
      return;
    }
    check_register(operand.number, Type::U64, false);
    step_.in[0] = operand.number;
  }

  // ---- copies ----

  void copy(const std::vector<std::string_view>& parts) {
    if (at_->name == "cp.async.commit_group") return fixed(commit_copies, 0);
    if (at_->name == "cp.async.wait_group") {
      fixed(await_copies, 1);
      step_.second = number_of(at_->operands[0]);
      return;
    }
    const bool is_known = parts.size() == 5 && parts[1] == "async" && parts[3] == "shared" &&
                          parts[4] == "global" && (parts[2] == "ca" || parts[2] == "cg");
    if (!is_known) refuse("unknown copy");
    step_.run = begin_copy;
    const std::size_t operands = at_->operands.size();
    if (operands != 3 && operands != 4) refuse("takes two places, a size and perhaps another");
    const std::int64_t bytes = number_of(at_->operands[2]);
    const bool has_size = bytes == 16 || (parts[2] == "ca" && (bytes == 4 || bytes == 8));
    if (!has_size) refuse(fmt::format("there is no such copy of {} bytes", bytes));
    step_.count = static_cast<std::uint8_t>(bytes);
    place(at_->operands[1]);
    step_.in[1] = step_.in[0];
    step_.second = step_.offset;
    place(at_->operands[0]);
    step_.in[2] = operands == 4 ? source(at_->operands[3], Type::U32, false)
                                : constant(static_cast<std::uint64_t>(bytes));
  }

  // ---- boxes ----

  void box() {
    constexpr std::size_t most_axes = 5;
    count(3);
    const Operand& map = at_->operands[1];
    const std::size_t axes = map.registers.size();
    const std::string known = fmt::format(
        "cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", axes);
    if (at_->name != known || axes == 0 || axes > most_axes) refuse("there is no such copy");
    code_.has_boxes = true;
    step_.run = begin_box;
    step_.count = static_cast<std::uint8_t>(axes);
    for (std::size_t k = 0; k < axes; k++) {
      check_register(map.registers[k], Type::S32, false);
      step_.registers[k] = map.registers[k];
    }
    for (std::size_t k : {2, 1, 0}) {  // that of the tile has an offset
      place(at_->operands[k]);
      if (k > 0 && step_.offset != 0) refuse("a map or a barrier at an offset");
      step_.in[k] = step_.in[0];
    }
  }

  void phase() {
    constexpr std::string_view space = ".shared::cta.b64";
    struct Form {
      std::string_view name;
      Handler run;
      std::size_t operands, place;
    };
    const Form forms[] = {{"init", init_barrier, 2, 0},
                          {"expect_tx.relaxed.cta", expect_bytes, 2, 0},
                          {"arrive", arrive, 2, 1},
                          {"try_wait.parity", await_phase, 3, 1}};
    const auto form = std::ranges::find_if(forms, [&](const Form& f) {
      return at_->name == fmt::format("mbarrier.{}{}", f.name, space);
    });
    if (form == std::end(forms)) refuse("there is no such instruction");
    fixed(form->run, form->operands);
    place(at_->operands[form->place]);
    if (form->place == 0) step_.second = number_of(at_->operands[1]);
    if (form->operands < 3) return;
    step_.result = target(at_->operands[0], Type::Pred, false);
    step_.in[1] = source(at_->operands[2], Type::U32, false);
  }

  std::int64_t number_of(const Operand& operand) const {
    if (operand.kind != Kind::Integer || operand.value < 0) refuse("a number is wanted");
    return operand.value;
  }

  const Module& module_;
  const Instruction* at_ = nullptr;
  Step step_;
  Code code_;
  std::map<std::uint64_t, std::int32_t> constants_;
};

}  // namespace

std::uint64_t Code::address_of_shared(std::size_t number) const {
  return Window::address_of(static_cast<std::int64_t>(number),
                            static_cast<std::uint64_t>(shared_places[number]));
}

Code decode(const Module& module) { return Decoder(module).run(); }

}  // namespace croze::ptx_interp
