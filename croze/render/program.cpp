// program.cpp -- questions about the nodes of a linear program, and its text form.
#include "croze/render/program.h"

#include <fmt/format.h>

#include <unordered_map>

#include "croze/graph/text/print.h"

namespace croze {
namespace {

// Values are numbered in the order of the list.  Index and After are no instructions: they are
// written where they are used.
class Listing {
 public:
  void add(UOp u) {
    if (u.is(Op::EndLoop)) depth_--;
    std::string line(static_cast<std::size_t>(2 * depth_), ' ');
    if (!has_trait(u.op(), trait_effect)) {
      numbers_[u.node()] = next_;
      line += fmt::format("%{} = ", next_++);
    }
    line += info(u.op()).name;
    if (u.dtype() != DType::Void) line += fmt::format(" {}", name_of(u.dtype()));
    const int operands = u.is(Op::Store) ? 2 : u.num_src();  // then come the ranges that it closes
    for (int i = 0; i < operands; i++) line += " " + operand(u.src(i));
    text_ += line + argument(u) + "\n";
    if (u.is(Op::Loop)) depth_++;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string operand(UOp u) const {
    while (u.is(Op::After)) u = u.src(0);
    if (u.is(Op::Index)) {
      const std::string gate = u.num_src() > 2 ? " if " + operand(u.src(2)) : "";
      return fmt::format("{}[{}{}]", operand(u.src(0)), operand(u.src(1)), gate);
    }
    const auto it = numbers_.find(u.node());
    return it == numbers_.end() ? to_string(u) : fmt::format("%{}", it->second);
  }

  static std::string argument(UOp u) {
    switch (u.op()) {
      case Op::Const: return " " + to_string(u);
      case Op::Reduce: return fmt::format(" ({})", info(u.reduce_op()).name);
      case Op::Range: {
        const std::string_view most = u.is_open() ? "to " : "";
        return fmt::format(" [{}{} {}]", most, u.range_size(), name_of(u.loop_kind()));
      }
      default: return "";
    }
  }

  std::string text_;
  std::unordered_map<const Node*, int> numbers_;
  int next_ = 0;
  int depth_ = 0;
};

}  // namespace

bool turns_at_most_once(UOp range) { return range.is_open() && range.src(0).bounds().hi <= 1; }

bool is_declaration(UOp u) {
  switch (u.op()) {
    case Op::Const:
    case Op::Param:
    case Op::Variable:
    case Op::Special:
    case Op::Local:
    case Op::Register: return true;
    default: return false;
  }
}

UOp buffer_of(UOp place_or_buffer) {
  UOp u = place_or_buffer;
  while (u.is(Op::Index) || u.is(Op::After)) u = u.src(0);
  return u;
}

bool is_group_tile(UOp buffer) {
  return buffer.is(Op::Local) && static_cast<Space>(buffer.arg().ints[2]) == Space::Group;
}

std::string print_program(const LinearProgram& program) {
  Listing listing;
  for (UOp u : program.instructions) listing.add(u);
  return listing.take();
}

}  // namespace croze
