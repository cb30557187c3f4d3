// writer.cpp -- statements from instructions.
#include "croze/render/c_family/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "croze/base/error.h"
#include "croze/base/flat_map.h"
#include "croze/render/c_family/body.h"
#include "croze/render/c_family/expressions.h"
#include "croze/render/c_family/segments.h"
#include "croze/render/c_family/wide_access.h"
#include "croze/render/scratch.h"

namespace croze::c_family {
namespace {

// The loops in which there is such an instruction.
FlatSet<const Node*> loops_around(Op op, std::span<const UOp> instructions) {
  FlatSet<const Node*> around;
  std::vector<const Node*> open;
  for (UOp u : instructions) {
    if (u.is(Op::Loop)) open.push_back(u.src(0).node());
    if (u.is(Op::EndLoop)) open.pop_back();
    if (!u.is(op)) continue;
    for (const Node* range : open) around.insert(range);
  }
  return around;
}

class Writer {
 public:
  Writer(const Dialect& dialect, const LinearProgram& program)
      : dialect_(dialect),
        program_(program),
        words_(dialect),
        body_(dialect, program),
        wide_(dialect, program),
        segments_(program, wide_),
        around_barriers_(loops_around(Op::Barrier, program.instructions)),
        around_units_(loops_around(Op::Contract, program.instructions)),
        units_read_(std::ranges::any_of(program.instructions, is_read_by_unit)),
        items_copy_(std::ranges::any_of(program.instructions,
                                        [](UOp u) { return u.is(Op::Store) && is_copy(u); })) {}

  KernelText run() {
    declare_all();
    if (!body_.is_empty()) body_.empty_line();
    for (std::size_t i = 0; i < program_.instructions.size();) {
      if (const auto copies = copies_from(i)) {
        write_copies(i, *copies);
        i = copies->end;
      } else {
        write(i++);
      }
    }
    close_lane_loop();
    return {words_.take_helpers(), body_.text()};
  }

 private:
  void write(std::size_t i) {
    const UOp u = program_.instructions[i];
    if (!Segments::is_statement(u)) return;
    move_to_segment(i);
    statement(u);
  }

  // ---- loops of copies ----

  // A loop that does nothing but to copy vectors of one buffer.
  struct Copies {
    std::size_t end;  // the instruction behind it
    UOp buffer;
  };

  // That which begins there.
  std::optional<Copies> copies_from(std::size_t begin) const {
    if (!program_.instructions[begin].is(Op::Loop)) return {};
    UOp buffer;
    for (std::size_t i = begin + 1; i < program_.instructions.size(); i++) {
      const UOp u = program_.instructions[i];
      if (u.is(Op::EndLoop) && buffer) return Copies{i + 1, buffer};
      if (u.is(Op::Loop) || u.is(Op::EndLoop)) return {};
      if (!u.is(Op::Store)) continue;
      if (!is_copy(u) || !segments_.lane_of(u.src(0).src(1))) return {};
      const UOp from = buffer_of(u.src(1));
      if (buffer && buffer != from) return {};
      buffer = from;
    }
    return {};
  }

  // Two loops, one of them of vectors alone: it is unrolled, which one with a choice is not.
  void write_copies(std::size_t begin, const Copies& copies) {
    const std::string whole = body_.name(copies.buffer) + "_whole";
    close_lane_loop();
    for (const bool is_whole : {true, false}) {
      body_.open_block(fmt::format("if ({}{})", is_whole ? "" : "!", whole));
      whole_ = is_whole ? "true" : "false";
      for (std::size_t i = begin; i < copies.end; i++) write(i);
      close_lane_loop();
      body_.close_block();
    }
    whole_ = {};
  }

  // ---- declarations ----

  void declare_all() {
    FlatSet<const Node*> declared;
    for (UOp u : program_.instructions) {
      body_.declare(u);
      if (!declared.insert(u.node())) continue;
      if (u.is(Op::Register)) {
        line("{};", declaration(u, body_.name(u), segments_.lane_of(u)));
      }
      if (u.is(Op::Param) && wide_.are_of(u)) {
        line("const bool {0}_whole = (unsigned long long){0} % {1} == 0;", body_.name(u),
             wide_bytes);
      }
    }
  }

  // A variable, or one for each lane.
  std::string declaration(UOp u, const std::string& name, UOp lane) const {
    return lane ? fmt::format("{}{} {}[{}]", dialect_.array, type(u), name, lane.range_size())
                : fmt::format("{} {}", type(u), name);
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
      if (segments_.escapes(u)) line("{};", declaration(u, ref(u), lane));
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
    const bool is_around_barriers = around_barriers_.contains(range.node());
    const std::string_view pragma = is_lane(range) || is_few_steps(range) ? dialect_.unroll
                                    : is_around_barriers                  ? dialect_.keep_loop
                                                                          : std::string_view();
    if (!pragma.empty()) line("{}", pragma);
    body_.open_loop(range, type(range), end);
  }

  // Whether units multiply in few turns, in which items do not meet: what the next one multiplies
  // is to be on its way in each.
  bool is_few_steps(UOp range) const {
    constexpr std::int64_t few = 8;
    return !range.is_open() && range.range_size() <= few && around_units_.contains(range.node()) &&
           !around_barriers_.contains(range.node());
  }

  // What the counter stays below.
  std::string end_of(UOp range) const {
    return range.is_open() ? ref(range.src(0)) : fmt::format("{}", range.range_size());
  }

  void close_loop() { body_.close_loop(); }

  // ---- operands ----

  // The value as an operand of the statement at hand: a lane of it inside a loop over lanes.
  std::string ref(UOp u) const {
    while (u.is(Op::After)) u = u.src(0);
    const bool is_array = segments_.escapes(u) || (u.is(Op::Register) && segments_.lane_of(u));
    return is_array && open_lane_ ? fmt::format("{}[{}]", body_.name(u), body_.name(open_lane_))
                                  : body_.name(u);
  }

  std::string_view type(DType t) const { return words_.type(t); }
  std::string_view type(UOp u) const { return type(u.dtype()); }

  // "b0[v3]"
  std::string element(UOp place) const {
    return fmt::format("{}[{}]", ref(buffer_of(place)), ref(place.src(1)));
  }

  // ---- statements ----

  void statement(UOp u) {
    if (u.is(Op::Store) && is_copy(u)) return begin_copy(u);
    if (wide_.contains(u)) return move_vector(u);
    switch (u.op()) {
      case Op::Loop: return open_loop(u.src(0), end_of(u.src(0)));
      case Op::EndLoop: return close_loop();
      case Op::Load: return load(u);
      case Op::Store: return store(u);
      case Op::Reduce: return reduce(u);
      case Op::Contract: return contract(u);
      case Op::Shuffle:
      case Op::Ballot: return define(u, words_.of_warp(u, ref(u.src(0))));
      case Op::LoadMatrix: return load_matrix(u);
      case Op::CopyBox: return copy_box(u);
      case Op::Barrier: return meet(u);
      case Op::AwaitProducts: return await_products(u);
      default: return define(u, elementwise_text(u));
    }
  }

  void meet(UOp barrier) {
    ensure(!dialect_.barrier.empty(), "the {} renderer has no barriers", dialect_.name);
    if (awaits_copies(barrier)) {
      const std::int64_t left = barrier.arg().value, boxes = batch_barriers(program_);
      if (items_copy_) line("{}", fmt::format(fmt::runtime(dialect_.await_copies), left));
      if (boxes > 0) {
        line("{}(batches, is_first, batches_begun, batches_awaited, {});",
             words_.use(dialect_.await_boxes(dialect_, boxes)), left);
      }
    }
    if (units_read_) line("{}", dialect_.show_to_units);
    line("{}", dialect_.barrier);
  }

  // No value is "const": clang looks for what a constant may refer to in its initializer, in those
  // of the constants there, and in both arms of each choice, which a chain of choices doubles at
  // every step; compilers of C++ look for constant expressions in the same way.
  void define(UOp u, const std::string& value) {
    if (segments_.escapes(u)) {
      line("{} = {};", ref(u), value);
    } else {
      line("{} {} = {};", type(u), ref(u), value);
    }
  }

  void load(UOp u) {
    const UOp place = u.src(0);
    const bool is_gated = place.num_src() > 2 && !buffer_of(place).is(Op::Register);
    if (!is_gated || !dialect_.hides_bytes || size_of(u.dtype()) > 1) {
      return define(u, load_text(place));
    }
    define(u, "0");
    line("if ({}) {} = {};", ref(place.src(2)), ref(u), element(place));
  }

  std::string load_text(UOp place) const {
    if (buffer_of(place).is(Op::Register)) return ref(buffer_of(place));
    if (place.num_src() < 3) return element(place);
    const DType t = place.dtype();
    const std::string zero = is_half(t) ? fmt::format("({})0", words_.type(t)) : "0";
    return fmt::format("{} ? {} : {}", ref(place.src(2)), element(place), zero);
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

  // A load or a store of all lanes at once.
  void move_vector(UOp u) {
    const UOp place = u.src(0), buffer = buffer_of(place), at = place.src(1);
    const bool is_load = u.is(Op::Load), is_gated = place.num_src() > 2;
    const UOp lane = segments_.lane_of(at);
    const std::string memory = address(place);
    const std::string whole = buffer.is(Op::Param) ? ref(buffer) + "_whole" : "true";
    const std::string gate = is_gated ? fmt::format("if ({}) ", ref(place.src(2))) : "";
    if (is_load) line("{}{};", declaration(u, ref(u), lane), is_gated ? " = {}" : "");
    const std::string& move = words_.use(move_helper(dialect_, buffer.dtype(), lane.range_size()));
    line("{}{}({}, {}, {});", gate, move, is_load ? ref(u) : memory,
         is_load ? memory : ref(u.src(1)), whole);
  }

  // "b1 + v3"; of a row its first element.
  std::string address(UOp place) const {
    const UOp at = place.src(1);
    if (is_lane(at)) return ref(buffer_of(place));
    return fmt::format("{} + {}{}", ref(buffer_of(place)), ref(at),
                       segments_.lane_of(at) ? "[0]" : "");
  }

  void begin_copy(UOp u) {
    ensure(dialect_.begin_copy != nullptr, "the {} renderer begins no copies", dialect_.name);
    const UOp to = u.src(0), from = u.src(1), lane = segments_.lane_of(to.src(1));
    const UOp gate = to.num_src() > 2 ? to.src(2) : UOp();
    const bool may_lack = from.num_src() > 2 && from.src(2) != gate;
    const std::string& function =
        words_.use(dialect_.begin_copy(dialect_, from.dtype(), lane ? lane.range_size() : 1));
    line("{}{}({}, {}, {}, {});", gate ? fmt::format("if ({}) ", ref(gate)) : "", function,
         address(to), address(from), whole_of(buffer_of(from), lane),
         may_lack ? ref(from.src(2)) : "true");
  }

  void copy_box(UOp u) {
    ensure(dialect_.copy_box != nullptr, "the {} renderer copies no boxes", dialect_.name);
    const std::vector<BoxedBuffer>& boxed = program_.info.boxed;
    const BoxedBuffer box = box_of(u);
    const UOp place = u.src(0);
    const auto number = std::ranges::find(boxed, box) - boxed.begin();
    std::string coordinates;
    for (int i = 2; i < u.first_closed(); i++) {
      coordinates += fmt::format(", (int)({})", ref(u.src(i)));
      if (i == 2) coordinates += fmt::format(" + (int)shift{}", number);
    }
    line("if (is_first{}) {}({}, &map{}, batches + batches_begun % {}{});",
         place.num_src() > 2 ? " && " + ref(place.src(2)) : "",
         words_.use(dialect_.copy_box(dialect_, box)), address(place), number,
         batch_barriers(program_), coordinates);
  }

  // Whether vectors of a buffer are whole, as far as it is known.
  std::string whole_of(UOp buffer, UOp lane) const {
    if (!lane) return "true";
    return whole_.empty() ? ref(buffer) + "_whole" : std::string(whole_);
  }

  // The sums are copied, so that the unit may add to them.
  void contract(UOp u) {
    ensure(dialect_.contract != nullptr, "the {} renderer has no matrix units", dialect_.name);
    const UOp lane = u.src(3);
    line("{};", declaration(u, ref(u), lane));
    open_loop(lane, end_of(lane));
    open_lane_ = lane;
    line("{} = {};", ref(u), ref(u.src(0)));
    close_lane_loop();
    const std::string& function =
        words_.use(dialect_.contract(dialect_, *find_matrix_unit(u.arg().as_text())));
    line("{}({}, {}, {});", function, ref(u), factor(u.src(1)), factor(u.src(2)));
  }

  // An array, or where it is that the unit reads.
  std::string factor(UOp u) const { return is_read_by_unit(u) ? address(u.src(0)) : ref(u); }

  void await_products(UOp u) {
    line("{}", fmt::format(fmt::runtime(dialect_.await_products), u.arg().value));
    for (UOp sum : u.sources()) {
      const UOp lane = segments_.lane_of(sum);
      open_loop(lane, end_of(lane));
      open_lane_ = lane;
      line("{}", fmt::format(fmt::runtime(dialect_.keep_sum), ref(sum),
                             is_float(sum.dtype()) ? 'f' : 'r'));
      close_lane_loop();
    }
  }

  void load_matrix(UOp u) {
    ensure(dialect_.load_matrix != nullptr, "the {} renderer loads no matrices", dialect_.name);
    if (is_read_by_unit(u)) return;
    const UOp place = u.src(0), lane = u.src(1);
    line("{};", declaration(u, ref(u), lane));
    const std::string& function = words_.use(
        dialect_.load_matrix(dialect_, u.dtype(), lane.range_size(), u.arg().value == 1));
    line("{}({}, {} + {});", function, ref(u), ref(buffer_of(place)), ref(place.src(1)));
  }

  // A tree, as the interpreter does it: the upper half of the lanes is combined with the lower half
  // until one is left.
  void reduce(UOp u) {
    const UOp lane = u.src(1);
    const std::string& name = body_.name(u);
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
      line("{} = {};", low, words_.op(u, u.reduce_op(), low, high));
    }
    close_lane_loop();
    line("{} {} = {}[0];", type(u), name, lanes);
  }

  // ---- expressions ----

  std::string elementwise_text(UOp u) {
    std::string operands[3];
    for (int i = 0; i < std::min(u.num_src(), 3); i++) operands[i] = ref(u.src(i));
    return words_.elementwise(u, operands);
  }

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    body_.line(format, std::forward<Args>(args)...);
  }

  const Dialect& dialect_;
  const LinearProgram& program_;
  Expressions words_;
  KernelBody body_;
  WideAccesses wide_;
  Segments segments_;
  FlatSet<const Node*> around_barriers_, around_units_;
  bool units_read_;         // group memory by themselves
  bool items_copy_;         // to group memory
  std::string_view whole_;  // whether the copies at hand are of whole vectors; empty: it is asked
  UOp open_lane_;           // the range of the loop over lanes at hand
  std::int32_t open_segment_ = -1;
};

}  // namespace

KernelText write_kernel(const Dialect& dialect, const LinearProgram& program) {
  return Writer(dialect, program).run();
}

std::string text_of(const Dialect& dialect, const KernelText& kernel) {
  std::string text(dialect.preamble);
  for (const Helper& helper : kernel.helpers) text += "\n" + helper.text;
  return text + "\n" + kernel.function;
}

std::string write_program(const Dialect& dialect, const LinearProgram& program) {
  return text_of(dialect, write_kernel(dialect, program));
}

}  // namespace croze::c_family
