#include "croze/render/c_family/body.h"

#include "croze/base/error.h"

namespace croze::c_family {
namespace {

std::string special_name(UOp u) {
  switch (u.loop_kind()) {
    case LoopKind::Thread: return "task";
    case LoopKind::Group: return fmt::format("group{}", u.arg().ints[0]);
    default: return fmt::format("item{}", u.arg().ints[0]);
  }
}

}  // namespace

KernelBody::KernelBody(const Dialect& dialect, const LinearProgram& program)
    : dialect_(dialect),
      program_(program),
      scratch_(scratch_layout(program)),
      group_(group_layout(program)) {
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
          if (turns_at_most_once(u)) return literal(0, u.dtype());
          return fmt::format("{}{}", u.loop_kind() == LoopKind::Lane ? "k" : "i", u.range_id());
        case Op::Register: return fmt::format("r{}", registers++);
        case Op::Local: return fmt::format("l{}", locals++);
        case Op::Const: return literal(u.arg().value, u.dtype());
        default: return fmt::format("v{}", values++);
      }
    }();
  }
}

const std::string& KernelBody::name(UOp u) const {
  while (u.is(Op::After)) u = u.src(0);
  const std::string* name = names_.find(u.node());
  ensure(name != nullptr, "linear program: {} is used before it stands in the list",
         info(u.op()).name);
  return *name;
}

void KernelBody::declare(UOp u) {
  if (!declared_.insert(u.node())) return;
  switch (u.op()) {
    case Op::Param: {
      if (program_.info.reads_image(u.slot())) break;  // it is no memory
      // Nothing where the kernel's head has declared it.
      const std::string text = dialect_.declare_param(dialect_, u, name(u), is_written(program_, u),
                                                      is_alone(program_, u));
      if (!text.empty()) line(text);
      break;
    }
    case Op::Variable: line(dialect_.declare_variable(dialect_, u, name(u))); break;
    case Op::Special: line(dialect_.declare_special(dialect_, program_, u, name(u))); break;
    case Op::Local: {
      const bool shared = is_group_tile(u);
      line(dialect_.declare_local(dialect_, u, name(u),
                                  shared ? group_.offset_of(u) : scratch_.offset_of(u)));
      break;
    }
    default: break;
  }
}

void KernelBody::open_loop(UOp range, std::string_view type, const std::string& end) {
  // As a loop it takes GCC 12 time that doubles with each multiplication of a power of integers.
  if (turns_at_most_once(range)) return open_block(fmt::format("if ({} > 0)", end));
  open_block(fmt::format("for ({0} {1} = 0; {1} < {2}; {1}++)", type, name(range), end));
}

void KernelBody::open_block(const std::string& head) {
  line("{} {{", head);
  depth_++;
}

void KernelBody::close_block() {
  depth_--;
  line("}");
}

std::string KernelBody::text() const { return dialect_.signature(program_) + "\n" + body_ + "}\n"; }

}  // namespace croze::c_family
