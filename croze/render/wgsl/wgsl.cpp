// wgsl.cpp -- a module of WGSL from a linear program.
//
// Groups.  A dispatch has 65,535 groups along an axis at most, so the launch lays all groups of a
// kernel in rows, and the kernel finds its place along each axis from its number; groups beyond the
// last one leave at once, which is the same for all items of a group, as barriers ask for.
#include "croze/render/wgsl/wgsl.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "croze/base/error.h"
#include "croze/base/flat_map.h"
#include "croze/render/wgsl/expressions.h"
#include "croze/render/wgsl/memory_head.h"

namespace croze {
namespace {

using wgsl::Slot;

class Writer {
 public:
  explicit Writer(const LinearProgram& program) : program_(program) { name_all(); }

  std::string run() {
    for (UOp u : program_.instructions) declare(u);
    for (UOp u : program_.instructions) statement(u);
    return wgsl::module_text(slots_, numbers_text() + std::string(wgsl::helpers()) + globals_ +
                                         head_text() + body_ + "}\n");
  }

 private:
  // ---- names and declarations ----

  void name_all() {
    int values = 0, registers = 0, locals = 0, params = 0, constants = 0;
    for (UOp u : program_.instructions) {
      ensure(!is_lane(u), "the wgsl renderer has no vectors");
      if (u.dtype() == DType::Void || names_.find(u.node())) continue;
      names_[u.node()] = [&]() -> std::string {
        switch (u.op()) {
          case Op::Param: return fmt::format("p{}", params++);
          case Op::Variable: return fmt::format("n{}", u.arg().ints[0]);
          case Op::Special: return special_name(u);
          case Op::Range:
            if (turns_at_most_once(u)) return wgsl::literal(0, u.dtype());
            return fmt::format("t{}", u.range_id());  // i32 is a type
          case Op::Register: return fmt::format("r{}", registers++);
          case Op::Local: return fmt::format("l{}", locals++);
          case Op::Const:
            if (is_float(u.dtype()) && u.arg().value != 0) return fmt::format("c{}", constants++);
            return wgsl::literal(u.arg().value, u.dtype());
          default: return fmt::format("v{}", values++);
        }
      }();
    }
  }

  static std::string special_name(UOp u) {
    ensure(u.loop_kind() != LoopKind::Thread, "the wgsl renderer has no tasks");
    return fmt::format("{}{}", u.loop_kind() == LoopKind::Group ? "group" : "item",
                       u.arg().ints[0]);
  }

  const std::string& ref(UOp u) const {
    while (u.is(Op::After)) u = u.src(0);
    const std::string* name = names_.find(u.node());
    ensure(name != nullptr, "linear program: {} is used before it stands in the list",
           info(u.op()).name);
    return *name;
  }

  void declare(UOp u) {
    if (!declared_.insert(u.node())) return;
    switch (u.op()) {
      case Op::Param:
        // The first element, counted from the start of what is bound.
        return line("let {} = number({}) / {}i;", ref(u), wgsl::first_offset + u.slot(),
                    size_of(u.dtype()));
      case Op::Variable:
        return line("let {}: {} = {};", ref(u), type(u),
                    variable_text(wgsl::first_offset + program_.info.num_buffers +
                                      static_cast<int>(u.arg().ints[0]),
                                  u.dtype()));
      case Op::Const:
        if (!is_float(u.dtype()) || u.arg().value == 0) return;
        return line("let {} = {};", ref(u), wgsl::literal(u.arg().value, u.dtype()));
      case Op::Special: return declare_special(u);
      case Op::Local: return declare_local(u);
      case Op::Register: return line("var {}: {};", ref(u), type(u));
      default: return;
    }
  }

  static std::string variable_text(int number, DType t) {
    return wgsl::from_word(fmt::format("bitcast<u32>(number({}))", number), t);
  }

  void declare_special(UOp u) {
    const std::int64_t axis = u.arg().ints[0];
    const std::string_view t = type(u);
    if (u.loop_kind() == LoopKind::Group) return line("let {} = {}(place[{}]);", ref(u), t, axis);
    line("let {} = {}(item[{}]);", ref(u), t, axis);
  }

  void declare_local(UOp u) {
    const std::string array = fmt::format("array<{}, {}>", type(u), u.buffer_elements());
    if (!is_group_tile(u)) return line("var {}: {};", ref(u), array);
    globals_ += fmt::format("var<workgroup> {}: {};\n", ref(u), array);
  }

  std::string numbers_text() const {
    const ProgramInfo& info = program_.info;
    return fmt::format(
        "@group(0) @binding(0) var<uniform> numbers: array<vec4<i32>, {}>;\n"
        "fn number(i: u32) -> i32 {{ return numbers[i / 4u][i % 4u]; }}\n",
        wgsl::count_numbers(info.num_buffers, info.num_variables) / 4);
  }

  std::string head_text() const {
    const auto& items = program_.info.launch.items;
    return fmt::format(
        "\n@compute @workgroup_size({}, {}, {})\n"
        "fn {}(@builtin(local_invocation_id) item: vec3<u32>,\n"
        "    @builtin(workgroup_id) row: vec3<u32>,\n"
        "    @builtin(num_workgroups) rows: vec3<u32>) {{\n"
        "  let groups = vec3<u32>(u32(number(0)), u32(number(1)), u32(number(2)));\n"
        "  let group = row.x + rows.x * row.y;\n"
        "  if (group >= groups.x * groups.y * groups.z) {{ return; }}\n"
        "  let place = vec3<u32>(group % groups.x, group / groups.x % groups.y,\n"
        "      group / (groups.x * groups.y));\n",
        items[0], items[1], items[2], WgslRenderer::entry(program_.info.name));
  }

  // ---- statements ----

  void statement(UOp u) {
    switch (u.op()) {
      case Op::Param:
      case Op::Variable:
      case Op::Special:
      case Op::Local:
      case Op::Register:
      case Op::Const:
      case Op::Range: return;
      case Op::Loop: return open_loop(u.src(0));
      case Op::EndLoop: depth_--; return line("}}");
      case Op::Load: return load(u);
      case Op::Store: return store(u);
      case Op::Barrier: return line("workgroupBarrier();");
      default: return line("let {}: {} = {};", ref(u), type(u), elementwise_text(u));
    }
  }

  void open_loop(UOp range) {
    const std::string end =
        range.is_open() ? ref(range.src(0)) : wgsl::literal(range.range_size(), range.dtype());
    if (turns_at_most_once(range)) {
      line("if ({} > 0) {{", end);
    } else {
      line("for (var {0}: {1} = {1}(0); {0} < {2}; {0}++) {{", ref(range), type(range), end);
    }
    depth_++;
  }

  void load(UOp u) {
    const UOp place = u.src(0), buffer = buffer_of(place);
    if (place.num_src() < 3 || buffer.is(Op::Register)) {
      return line("let {}: {} = {};", ref(u), type(u), element(place, u.dtype()));
    }
    const std::string zero = wgsl::literal(0, u.dtype());
    if (buffer.is(Op::Param) && !program_.info.writes(static_cast<std::size_t>(buffer.slot()))) {
      // What is loaded where the gate is shut is some element of the buffer, and not used.
      return line("let {}: {} = select({}, {}, {});", ref(u), type(u), zero,
                  element(place, u.dtype()), ref(place.src(2)));
    }
    line("var {}: {} = {};", ref(u), type(u), zero);
    line("if ({}) {{ {} = {}; }}", ref(place.src(2)), ref(u), element(place, u.dtype()));
  }

  void store(UOp u) {
    const UOp place = u.src(0);
    const std::string text = stored(place, ref(u.src(1)));
    if (place.num_src() < 3 || buffer_of(place).is(Op::Register)) return line("{}", text);
    line("if ({}) {{ {} }}", ref(place.src(2)), text);
  }

  std::string element(UOp place, DType t) {
    const UOp buffer = buffer_of(place);
    if (buffer.is(Op::Register)) return ref(buffer);
    const std::string& i = ref(place.src(1));
    if (buffer.is(Op::Local)) return fmt::format("{}[{}]", ref(buffer), i);
    use(buffer, false);
    return wgsl::from_word(
        fmt::format("get{}{}({} + {})", buffer.slot(), part_of(t), ref(buffer), i), t);
  }

  std::string stored(UOp place, const std::string& value) {
    const UOp buffer = buffer_of(place);
    if (buffer.is(Op::Register)) return fmt::format("{} = {};", ref(buffer), value);
    const std::string& i = ref(place.src(1));
    if (buffer.is(Op::Local)) return fmt::format("{}[{}] = {};", ref(buffer), i, value);
    use(buffer, true);
    const DType t = buffer.dtype();
    return fmt::format("set{}{}({} + {}, {});", buffer.slot(), part_of(t), ref(buffer), i,
                       wgsl::to_word(value, t));
  }

  static std::string_view part_of(DType t) {
    return size_of(t) == 1 ? "_8" : (size_of(t) == 2 ? "_16" : "");
  }

  // Remembers that the kernel touches the buffer.
  void use(UOp param, bool is_store) {
    auto slot = std::ranges::find(slots_, param.slot(), &Slot::number);
    if (slot == slots_.end()) {
      Slot unknown;
      unknown.number = static_cast<int>(param.slot());
      slot = slots_.insert(slot, unknown);
    }
    slot->is_packed |= size_of(param.dtype()) < 4;
    slot->stores_packed |= is_store && size_of(param.dtype()) < 4;
  }

  std::string elementwise_text(UOp u) const {
    std::string operands[3];
    for (int i = 0; i < std::min(u.num_src(), 3); i++) operands[i] = ref(u.src(i));
    return wgsl::elementwise(u, operands);
  }

  static std::string_view type(UOp u) { return wgsl::type(u.dtype()); }

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    body_.append(static_cast<std::size_t>(2 * depth_), ' ');
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
    body_ += '\n';
  }

  const LinearProgram& program_;
  FlatMap<const Node*, std::string> names_;
  FlatSet<const Node*> declared_;
  std::vector<Slot> slots_;
  std::string globals_;  // arrays that a group shares
  std::string body_;
  int depth_ = 1;
};

}  // namespace

std::string WgslRenderer::render(const LinearProgram& program) const {
  return Writer(program).run();
}

std::string WgslRenderer::entry(std::string_view kernel) { return fmt::format("croze_{}", kernel); }

OpSet WgslRenderer::ops() { return wgsl::table_ops() | set_of({Op::Const, Op::Cast, Op::Bitcast}); }

std::uint32_t WgslRenderer::dtypes() {
  std::uint32_t dtypes = 0;
  for (int t = static_cast<int>(DType::Bool); t < num_dtypes; t++) {
    if (wgsl::has_type(static_cast<DType>(t))) dtypes |= 1u << t;
  }
  return dtypes;
}

}  // namespace croze
