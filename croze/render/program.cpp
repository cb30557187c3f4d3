// program.cpp -- questions about the nodes of a linear program, and its text form.
#include "croze/render/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

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
    // Then come the ranges that it closes.
    const int operands = is_write(u) ? u.first_closed() : u.num_src();
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

  // " (64 of 1000, 128 of 70 by 1000)"
  static std::string box_text(const BoxedBuffer& b) {
    std::string text;
    for (std::size_t i = 0; i < b.box.size(); i++) {
      text += fmt::format("{}{} of {}", i ? ", " : " (", b.box[i], b.sizes[i]);
      if (i > 0) text += fmt::format(" by {}", b.strides[i]);
    }
    return text + ")";
  }

  static std::string argument(UOp u) {
    switch (u.op()) {
      case Op::Const: return " " + to_string(u);
      case Op::Reduce: return fmt::format(" ({})", info(u.reduce_op()).name);
      case Op::CopyBox: return box_text(box_of(u));
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

BoxedBuffer box_of(UOp copy) {
  BoxedBuffer b{.slot = copy.src(1).slot(), .dtype = copy.src(1).dtype()};
  const auto words = copy.arg().as_ints();
  for (std::size_t i = 0; i < words.size(); i += 3) {
    b.sizes.push_back(words[i]);
    b.strides.push_back(words[i + 1]);
    b.box.push_back(words[i + 2]);
  }
  return b;
}

std::int64_t bytes_of(const BoxedBuffer& b) {
  std::int64_t bytes = size_of(b.dtype);
  for (std::int64_t extent : b.box) bytes *= extent;
  return bytes;
}

std::vector<BoxedBuffer> boxed_buffers(std::span<const UOp> instructions) {
  std::vector<BoxedBuffer> boxed;
  for (UOp u : instructions) {
    if (!u.is(Op::CopyBox)) continue;
    BoxedBuffer b = box_of(u);
    if (std::ranges::find(boxed, b) == boxed.end()) boxed.push_back(std::move(b));
  }
  return boxed;
}

std::string print_program(const LinearProgram& program) {
  Listing listing;
  for (UOp u : program.instructions) listing.add(u);
  return listing.take();
}

}  // namespace croze
