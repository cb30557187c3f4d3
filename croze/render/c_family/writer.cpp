// writer.cpp -- statements from instructions.
#include "croze/render/c_family/writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/base/error.h"
#include "croze/base/flat_map.h"
#include "croze/render/c_family/segments.h"
#include "croze/render/scratch.h"

namespace croze::c_family {
namespace {

// The unsigned type in which an integer type wraps; narrower ones would be promoted to int.
DType wrapping_type(DType t) {
  return t == DType::Index || size_of(t) == 8 ? DType::UInt64 : DType::UInt32;
}

// Whether the exact result stays inside the type (see Bounds).
bool cannot_wrap(UOp u) {
  if (u.dtype() == DType::UInt64 || u.dtype() == DType::Bool) return false;
  return u.lo() > min_value(u.dtype()) || u.hi() < max_value(u.dtype());
}

// The dtype that the op works on: of its last value.
DType operand_type(UOp u) { return u.src(u.is(Op::Reduce) ? 0 : u.num_src() - 1).dtype(); }

OperandKind kind_of(UOp u) {
  const DType t = operand_type(u);
  if (is_float(t)) return OperandKind::Float;
  if (t == DType::Bool) return OperandKind::Bool;
  return is_integer(u.dtype()) && cannot_wrap(u) ? OperandKind::Exact : OperandKind::Integer;
}

class Writer {
 public:
  Writer(const Dialect& dialect, const LinearProgram& program)
      : dialect_(dialect), program_(program), segments_(program) {}

  KernelText run() {
    name_all();
    declare_all();
    if (!body_.empty()) body_ += '\n';
    for (std::size_t i = 0; i < program_.instructions.size(); i++) {
      const UOp u = program_.instructions[i];
      if (!Segments::is_statement(u)) continue;
      move_to_segment(i);
      statement(u);
    }
    close_lane_loop();
    return {std::move(helpers_), dialect_.signature(program_) + "\n" + body_ + "}\n"};
  }

 private:
  // ---- names and declarations ----

  void name_all() {
    std::int64_t values = 0, registers = 0, locals = 0;
    for (UOp u : program_.instructions) {
      if (u.dtype() == DType::Void || names_.find(u.node())) continue;
      names_[u.node()] = [&]() -> std::string {
        switch (u.op()) {
          case Op::Param:
            return fmt::format("b{}{}", u.slot(), is_alone(program_, u) ? "" : name_of(u.dtype()));
          case Op::Variable: return fmt::format("n{}", u.arg().ints[0]);
          case Op::Special: return special_name(u);
          case Op::Range:
            return fmt::format("{}{}", u.loop_kind() == LoopKind::Lane ? "k" : "i", u.range_id());
          case Op::Register: return fmt::format("r{}", registers++);
          case Op::Local: return fmt::format("l{}", locals++);
          case Op::Const: return literal(u.arg().value, u.dtype());
          default: return fmt::format("v{}", values++);
        }
      }();
    }
  }

  static std::string special_name(UOp u) {
    switch (u.loop_kind()) {
      case LoopKind::Thread: return "task";
      case LoopKind::Group: return fmt::format("group{}", u.arg().ints[0]);
      default: return fmt::format("item{}", u.arg().ints[0]);
    }
  }

  void declare_all() {
    const ScratchLayout scratch = scratch_layout(program_);
    FlatSet<const Node*> declared;
    for (UOp u : program_.instructions) {
      if (Segments::is_statement(u) || !declared.insert(u.node())) continue;
      const std::string& name = *names_.find(u.node());
      switch (u.op()) {
        case Op::Param: declare_param(u, name); break;
        case Op::Variable: line(dialect_.declare_variable(dialect_, u, name)); break;
        case Op::Special: line(dialect_.declare_special(dialect_, u, name)); break;
        case Op::Local: {
          const bool shared = static_cast<Space>(u.arg().ints[2]) == Space::Group;
          line(dialect_.declare_local(dialect_, u, name, shared ? 0 : scratch.offset_of(u)));
          break;
        }
        case Op::Register: line("{} {};", type(u), with_size(name, segments_.lane_of(u))); break;
        default: break;
      }
    }
  }

  // Nothing where the kernel's head has declared it.
  void declare_param(UOp param, const std::string& name) {
    const std::string text = dialect_.declare_param(
        dialect_, param, name, is_written(program_, param), is_alone(program_, param));
    if (!text.empty()) line(text);
  }

  static std::string with_size(const std::string& name, UOp lane) {
    return lane ? fmt::format("{}[{}]", name, lane.range_size()) : name;
  }

  // ---- lanes ----

  // Ends the loop over lanes that is open, and opens the one that instruction `i` belongs to,
  // unless they are the same.
  void move_to_segment(std::size_t i) {
    if (open_lane_ && segments_.number(i) == open_segment_) return;
    close_lane_loop();
    const UOp lane = segments_.lane(i);
    if (!lane) return;
    for (std::size_t k = i; k < program_.instructions.size(); k++) {
      if (segments_.number(k) != segments_.number(i)) break;
      const UOp u = program_.instructions[k];
      if (segments_.escapes(u)) line("{} {};", type(u), with_size(ref(u), lane));
    }
    open_loop(lane, end_of(lane));
    open_lane_ = lane;
    open_segment_ = segments_.number(i);
  }

  void close_lane_loop() {
    if (open_lane_) close_loop();
    open_lane_ = {};
  }

  void open_loop(UOp range, const std::string& end) {
    const std::string& name = *names_.find(range.node());
    line("for ({} {} = 0; {} < {}; {}++) {{", type(range), name, name, end, name);
    depth_++;
  }

  // What the counter stays below.
  std::string end_of(UOp range) const {
    return range.is_open() ? ref(range.src(0)) : fmt::format("{}", range.range_size());
  }

  void close_loop() {
    depth_--;
    line("}");
  }

  // ---- operands ----

  // The value as an operand of the statement at hand: a lane of it inside a loop over lanes.
  std::string ref(UOp u) const {
    while (u.is(Op::After)) u = u.src(0);
    const std::string* name = names_.find(u.node());
    ensure(name != nullptr, "linear program: {} is used before it stands in the list",
           info(u.op()).name);
    const bool is_array = segments_.escapes(u) || (u.is(Op::Register) && segments_.lane_of(u));
    return is_array && open_lane_ ? fmt::format("{}[{}]", *name, *names_.find(open_lane_.node()))
                                  : *name;
  }

  std::string_view type(DType t) const {
    const std::string_view text = dialect_.type(t);
    ensure(!text.empty(), "the {} renderer has no {}", dialect_.name, name_of(t));
    return text;
  }
  std::string_view type(UOp u) const { return type(u.dtype()); }

  // "b0[v3]"
  std::string element(UOp place) const {
    return fmt::format("{}[{}]", ref(buffer_of(place)), ref(place.src(1)));
  }

  // ---- statements ----

  void statement(UOp u) {
    switch (u.op()) {
      case Op::Loop: return open_loop(u.src(0), end_of(u.src(0)));
      case Op::EndLoop: return close_loop();
      case Op::Load: return define(u, load_text(u.src(0)));
      case Op::Store: return store(u);
      case Op::Reduce: return reduce(u);
      case Op::Barrier:
        ensure(!dialect_.barrier.empty(), "the {} renderer has no barriers", dialect_.name);
        return line("{}", dialect_.barrier);
      default: return define(u, elementwise_text(u));
    }
  }

  void define(UOp u, const std::string& value) {
    if (segments_.escapes(u)) {
      line("{} = {};", ref(u), value);
    } else {
      line("const {} {} = {};", type(u), ref(u), value);
    }
  }

  std::string load_text(UOp place) const {
    if (buffer_of(place).is(Op::Register)) return ref(buffer_of(place));
    if (place.num_src() < 3) return element(place);
    return fmt::format("{} ? {} : 0", ref(place.src(2)), element(place));
  }

  void store(UOp u) {
    const UOp place = u.src(0);
    if (buffer_of(place).is(Op::Register)) {
      line("{} = {};", ref(buffer_of(place)), ref(u.src(1)));
    } else if (place.num_src() < 3) {
      line("{} = {};", element(place), ref(u.src(1)));
    } else {
      line("if ({}) {} = {};", ref(place.src(2)), element(place), ref(u.src(1)));
    }
  }

  // A tree, as the interpreter does it: the upper half of the lanes is combined with the lower half
  // until one is left.
  void reduce(UOp u) {
    const UOp lane = u.src(1);
    const std::string& name = *names_.find(u.node());
    const std::string lanes = name + "_lanes";
    line("{} {}[{}];", type(u), lanes, lane.range_size());
    open_loop(lane, end_of(lane));
    open_lane_ = lane;
    line("{}[{}] = {};", lanes, ref(lane), ref(u.src(0)));
    for (std::int64_t n = lane.range_size(); n > 1; n = (n + 1) / 2) {
      const std::int64_t half = (n + 1) / 2;
      close_loop();
      open_loop(lane, fmt::format("{}", n - half));
      const std::string low = fmt::format("{}[{}]", lanes, ref(lane));
      const std::string high = fmt::format("{}[{} + {}]", lanes, ref(lane), half);
      line("{} = {};", low, op_text(u, u.reduce_op(), low, high));
    }
    close_lane_loop();
    line("const {} {} = {}[0];", type(u), name, lanes);
  }

  // ---- expressions ----

  std::string elementwise_text(UOp u) {
    ensure(is_elementwise(u.op()) && u.num_src() > 0, "linear program: {} cannot stand in it",
           info(u.op()).name);
    std::string operands[3];
    for (int i = 0; i < std::min(u.num_src(), 3); i++) operands[i] = ref(u.src(i));
    if (u.is(Op::Cast)) return cast_text(u, operands[0]);
    if (u.is(Op::Bitcast)) return expand(dialect_.bitcast, u, operands);
    return op_text(u, u.op(), operands[0], operands[1], operands[2]);
  }

  std::string cast_text(UOp u, const std::string& x) {
    const DType from = u.src(0).dtype(), to = u.dtype();
    if (to == DType::Bool) return fmt::format("{} != 0", x);
    if (!is_float(from) || is_float(to)) return fmt::format("({}){}", type(to), x);
    return fmt::format("{}({})", use(cast_helper(dialect_, from, to)), x);
  }

  std::string op_text(UOp u, Op op, const std::string& a, const std::string& b,
                      const std::string& c = {}) {
    OperandKind kind = kind_of(u);
    // The bounds of a Reduce are those of the whole, not of each of its steps.
    if (u.is(Op::Reduce) && kind == OperandKind::Exact) kind = OperandKind::Integer;
    const std::string_view text = c_family::op_text(op, kind);
    ensure(!text.empty(), "the {} renderer has no {} of {}", dialect_.name, info(op).name,
           name_of(u.dtype()));
    if (kind == OperandKind::Float && (op == Op::Max || op == Op::Min)) {
      use(extremum_helper(dialect_, op, u.dtype()));
    }
    const std::string operands[] = {a, b, c};
    return expand(text, u, operands);
  }

  // Replaces the names in braces (see OpText); other braces are text.
  std::string expand(std::string_view text, UOp u, std::span<const std::string> operands) const {
    std::string result;
    const DType from = operand_type(u);
    for (std::size_t i = 0; i < text.size(); i++) {
      if (text[i] != '{' || i + 2 >= text.size() || text[i + 2] != '}') {
        result += text[i];
        continue;
      }
      const char name = text[i + 1];
      i += 2;  // to the closing brace
      switch (name) {
        case 'T': result += type(u); break;
        case 'U': result += type(wrapping_type(u.dtype())); break;
        case 'S': result += type(from); break;
        case 'D': result += name_of(from); break;
        case 'f': result += from == DType::Float32 ? dialect_.float32_suffix : ""; break;
        default: result += operands[static_cast<std::size_t>(name - '0')];
      }
    }
    return result;
  }

  const std::string& use(Helper helper) {
    auto known = std::ranges::find(helpers_, helper.name, &Helper::name);
    if (known == helpers_.end()) known = helpers_.insert(known, std::move(helper));
    return known->name;
  }

  // ---- text ----

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    body_.append(static_cast<std::size_t>(2 * depth_), ' ');
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
    body_ += '\n';
  }
  void line(const std::string& text) { line("{}", text); }

  const Dialect& dialect_;
  const LinearProgram& program_;
  Segments segments_;
  FlatMap<const Node*, std::string> names_;
  std::vector<Helper> helpers_;
  std::string body_;
  int depth_ = 1;
  UOp open_lane_;  // the range of the loop over lanes at hand
  std::int32_t open_segment_ = -1;
};

}  // namespace

KernelText write_kernel(const Dialect& dialect, const LinearProgram& program) {
  return Writer(dialect, program).run();
}

std::string write_program(const Dialect& dialect, const LinearProgram& program) {
  const KernelText kernel = write_kernel(dialect, program);
  std::string text(dialect.preamble);
  for (const Helper& helper : kernel.helpers) text += "\n" + helper.text;
  return text + "\n" + kernel.function;
}

}  // namespace croze::c_family
