// graphs.cpp -- making programs on Tensors, running them, and making failing ones small.
#include "fuzz/graphs/graphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "croze/base/error.h"
#include "croze/run/statistics.h"
#include "fuzz/graphs/check.h"
#include "fuzz/graphs/draft.h"
#include "fuzz/graphs/steps.h"
#include "fuzz/spelling.h"

namespace croze::fuzz {
namespace {

using Result = GraphStepKind::Result;

constexpr int most_attempts = 6;  // for a step
constexpr int most_checks = 250;  // while a program is made small

const GraphStepKind& row(const GraphStep& step) {
  return graph_steps()[static_cast<std::size_t>(step.kind)];
}

bool is_leaf(const GraphStep& step) { return step.kind >= 0 && step.src.empty(); }

// ---- making programs --------------------------------------------------------------------------

int any_of(Chance& chance, std::size_t first, std::size_t count) {
  return static_cast<int>(first) + static_cast<int>(chance.below(static_cast<std::int64_t>(count)));
}

// Which row next: families in proportion, and gradients more often than their number says.
int next_kind(Chance& chance) {
  const std::size_t begin = other_graph_steps().size();
  const std::size_t reducing = begin + elementwise_graph_steps().size();
  const std::size_t moving = reducing + reducing_graph_steps().size();
  const std::size_t layers = moving + moving_graph_steps().size();
  const std::int64_t family = chance.below(100);
  if (family < 10) return any_of(chance, whole_step + 1, begin - whole_step - 1);
  if (family < 38) return any_of(chance, begin, elementwise_graph_steps().size());
  if (family < 60) return any_of(chance, reducing, reducing_graph_steps().size());
  if (family < 78) return any_of(chance, moving, moving_graph_steps().size());
  return any_of(chance, layers, layer_graph_steps().size());
}

void append_any(GraphDraft& draft, bool assigns) {
  for (int attempt = 0; attempt < most_attempts; attempt++) {
    const int kind = next_kind(draft.chance);
    const GraphStepKind& drawn_kind = graph_steps()[static_cast<std::size_t>(kind)];
    if ((drawn_kind.result == Result::Assigns) != assigns) continue;
    draft.want_exact(drawn_kind.result == Result::Jumps && draft.chance.percent(85));
    try {
      std::optional<DrawnStep> drawn = drawn_kind.draw(draft);
      draft.want_exact(false);
      if (drawn && draft.append(kind, std::move(*drawn))) return;
    } catch (const Error&) {  // no room for an operand
      draft.want_exact(false);
    }
  }
}

void append_leaves(GraphDraft& draft) {
  Chance& chance = draft.chance;
  const auto shape = [&] { return draft.any_shape(static_cast<int>(chance.between(1, 4))); };
  for (std::int64_t i = chance.between(1, 3); i > 0; i--) draft.real(shape(), draft.any_float());
  if (chance.percent(60)) draft.whole(shape(), draft.any_float(), -9, 9);
  if (chance.percent(30)) draft.whole(shape(), DType::Int32, -20, 20);
  if (chance.percent(20)) draft.whole(shape(), DType::Bool, 0, 1);
}

}  // namespace

GraphProgram random_graph(std::uint64_t seed) {
  GraphDraft draft(seed);
  append_leaves(draft);
  const std::int64_t count =
      draft.chance.percent(15) ? draft.chance.between(20, 36) : draft.chance.between(2, 18);
  for (std::int64_t i = 0; i < count; i++) append_any(draft, false);
  if (draft.chance.percent(20)) {
    for (int i = 0; i < 8; i++) append_any(draft, true);
  }
  return draft.finished();
}

// ---- running ----------------------------------------------------------------------------------

namespace {

// What each step makes; undefined for one that makes nothing.
std::vector<Tensor> recorded(const GraphProgram& program, GraphTrial& in) {
  std::vector<Tensor> made(program.steps.size());
  for (std::size_t i = 0; i < made.size(); i++) {
    const GraphStep& step = program.steps[i];
    if (step.kind < 0) continue;
    Tensor operands[4];
    bool are_there = true;
    for (std::size_t k = 0; k < step.src.size(); k++) {
      operands[k] = made[static_cast<std::size_t>(step.src[k])];
      are_there = are_there && operands[k].defined();
    }
    if (!are_there) continue;
    try {
      made[i] = row(step).call({in, operands[0], operands[1], operands[2], operands[3], step.arg});
      if (step.is_rounded && row(step).result != Result::Assigns) made[i] = in(made[i]);
    } catch (const Error&) {
      made[i] = Tensor();
    }
  }
  return made;
}

// Where the sizes of a leaf begin among its numbers.
std::ptrdiff_t first_size(const GraphStep& leaf) { return leaf.kind == whole_step ? 4 : 2; }

// Of the leaves.
std::set<std::int64_t> sizes_in(const GraphProgram& program) {
  std::set<std::int64_t> sizes;
  for (const GraphStep& step : program.steps) {
    if (is_leaf(step)) sizes.insert(step.arg.begin() + first_size(step), step.arg.end());
  }
  return sizes;
}

// With another size in the place of one, wherever a shape is written.
GraphProgram with_size(GraphProgram program, std::int64_t size, std::int64_t other) {
  for (GraphStep& step : program.steps) {
    if (step.kind < 0) continue;
    const bool sized = std::string_view(row(step).code).find("shape_in") != std::string::npos;
    const std::ptrdiff_t first = is_leaf(step) ? first_size(step) : 0;
    if (sized) std::replace(step.arg.begin() + first, step.arg.end(), size, other);
  }
  return program;
}

// Larger, and none that stands in a program.
constexpr std::int64_t other_size_beside = 37;
constexpr std::size_t most_open_sizes = 3;

std::string check_program(const GraphProgram& program, Counts& counts) {
  std::vector<GraphProgram> programs;
  std::vector<OtherSize> others;
  programs.reserve(most_open_sizes);
  for (std::int64_t size : sizes_in(program)) {
    if (size < 2 || programs.size() == most_open_sizes) continue;
    const std::int64_t other = size + other_size_beside;
    programs.push_back(with_size(program, size, other));
    others.push_back({function_of(programs.back()), size, other});
  }
  return check_graph(function_of(program), others, counts);
}

}  // namespace

GraphFunction function_of(const GraphProgram& program) {
  return [&program](GraphTrial& in) {
    const std::vector<Tensor> made = recorded(program, in);
    std::vector<Tensor> roots;
    for (int root : program.roots) {
      const Tensor& t = made[static_cast<std::size_t>(root)];
      if (t.defined()) roots.push_back(t);
    }
    return roots;
  };
}

// ---- making small -----------------------------------------------------------------------------

namespace {

class Minimiser {
 public:
  Minimiser(GraphProgram program, const std::function<std::string(const GraphProgram&)>& run)
      : program_(std::move(program)), run_(run) {}

  GraphProgram minimised() {
    leave_out_roots();
    for (bool smaller = true; smaller && checks_ < most_checks;) {
      smaller = false;
      for (std::size_t i = program_.steps.size(); i-- > 0;) smaller = leave_out(i) || smaller;
      smaller = shrink() || smaller;
    }
    drop_unused();
    return std::move(program_);
  }

 private:
  bool keep_if_failing(GraphProgram candidate) {
    if (checks_++ >= most_checks || run_(candidate).empty()) return false;
    program_ = std::move(candidate);
    return true;
  }

  void leave_out_roots() {
    for (int root : std::vector(program_.roots)) {
      GraphProgram candidate = program_;
      candidate.roots = {root};
      if (keep_if_failing(std::move(candidate))) return;
    }
    for (std::size_t r = program_.roots.size(); r-- > 0 && program_.roots.size() > 1;) {
      GraphProgram candidate = program_;
      candidate.roots.erase(candidate.roots.begin() + static_cast<std::ptrdiff_t>(r));
      keep_if_failing(std::move(candidate));
    }
  }

  bool leave_out(std::size_t i) {
    drop_unused();
    if (program_.steps[i].kind < 0 || is_leaf(program_.steps[i])) return false;
    for (int src : std::vector(program_.steps[i].src)) {
      if (keep_if_failing(redirected(static_cast<int>(i), src))) return true;
    }
    return keep_if_failing(with_leaf(i));
  }

  // With what step `from` made being what step `to` made.
  GraphProgram redirected(int from, int to) const {
    GraphProgram result = program_;
    result.steps[static_cast<std::size_t>(from)].kind = -1;
    for (GraphStep& step : result.steps) std::ranges::replace(step.src, from, to);
    std::ranges::replace(result.roots, from, to);
    return result;
  }

  // With numbers in memory in the place of the step.
  GraphProgram with_leaf(std::size_t i) const {
    GraphProgram result = program_;
    GraphTrial in("INTERP");
    const Tensor made = recorded(program_, in)[i];
    GraphStep& step = result.steps[i];
    step = {};
    if (!made.defined()) return result;
    const DType dtype = made.dtype();
    step.kind = is_float(dtype) ? real_step : whole_step;
    step.arg = {static_cast<std::int64_t>(dtype)};
    if (!is_float(dtype)) step.arg.insert(step.arg.end(), {0, dtype == DType::Bool ? 1 : 2});
    step.arg.push_back(static_cast<std::int64_t>(i));
    const Shape shape = made.shape();
    step.arg.insert(step.arg.end(), shape.begin(), shape.end());
    step.is_rounded = false;
    return result;
  }

  void drop_unused() {
    std::vector<bool> used(program_.steps.size());
    for (int root : program_.roots) used[static_cast<std::size_t>(root)] = true;
    for (std::size_t i = used.size(); i-- > 0;) {
      GraphStep& step = program_.steps[i];
      if (step.kind >= 0 && row(step).result == Result::Assigns) used[i] = true;
      if (!used[i]) step = {};
      for (int s : step.src) used[static_cast<std::size_t>(s)] = true;
    }
  }

  // Every axis of some size becomes shorter.
  bool shrink() {
    bool smaller = false;
    for (std::int64_t size : sizes_in(program_)) {
      for (std::int64_t less : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, size / 2}) {
        if (less >= size || less == 0) continue;
        if (!keep_if_failing(with_size(program_, size, less))) continue;
        smaller = true;
        break;
      }
    }
    return smaller;
  }

  GraphProgram program_;
  const std::function<std::string(const GraphProgram&)>& run_;
  int checks_ = 0;
};

}  // namespace

GraphProgram minimised(GraphProgram program,
                       const std::function<std::string(const GraphProgram&)>& run) {
  return Minimiser(std::move(program), run).minimised();
}

// ---- text -------------------------------------------------------------------------------------

namespace {

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The step's code with the operands' names and the numbers in place of x, y, z, w and n.
std::string code_of(const GraphStep& step) {
  constexpr std::string_view operands = "xyzw";
  std::string text = row(step).code;
  for (std::size_t i = 0; i < text.size(); i++) {
    const bool alone = (i == 0 || (!is_letter(text[i - 1]) && text[i - 1] != '.')) &&
                       (i + 1 == text.size() || !is_letter(text[i + 1]));
    if (!alone) continue;
    if (const auto k = operands.find(text[i]); k < step.src.size()) {
      const std::string name = fmt::format("t{}", step.src[k]);
      text.replace(i, 1, name);
      i += name.size() - 1;
    } else if (text.compare(i, 2, "n[") == 0) {
      const std::string number =
          fmt::format("{}", step.arg[static_cast<std::size_t>(text[i + 2] - '0')]);
      text.replace(i, 4, number);
      i += number.size() - 1;
    }
  }
  return text;
}

void replace_calls(std::string& text, std::string_view function,
                   const std::function<std::string(std::string_view)>& spelled_as) {
  for (std::size_t at; (at = text.find(function)) != std::string::npos;) {
    const std::size_t begin = at + function.size(), end = text.find(')', begin);
    text.replace(at, end + 1 - at, spelled_as(std::string_view(text).substr(begin, end - begin)));
  }
}

std::string statement_of(const GraphStep& step) {
  std::string text = code_of(step);
  const auto list = [&](std::string_view argument) {
    const auto first = static_cast<std::ptrdiff_t>(argument.back() - '0');
    return fmt::format("{{{}}}", fmt::join(step.arg.begin() + first, step.arg.end(), ", "));
  };
  replace_calls(text, "shape_in(", [&](auto a) { return "Shape(" + list(a) + ")"; });
  replace_calls(text, "axes_in(", [&](auto a) { return "Axes(" + list(a) + ")"; });
  replace_calls(text, "dtype_in(", [](auto a) {
    return "DType::" + std::string(spelled(dtype_in(std::stoll(std::string(a)))));
  });
  return step.is_rounded && row(step).result != Result::Assigns ? "in(" + text + ")" : text;
}

}  // namespace

std::string cpp_of(const GraphProgram& program) {
  std::string text = "EXPECT_EQ(check_graph([](GraphTrial& in) {\n";
  for (std::size_t i = 0; i < program.steps.size(); i++) {
    if (program.steps[i].kind < 0) continue;
    text += fmt::format("  const Tensor t{} = {};\n", i, statement_of(program.steps[i]));
  }
  text += "  return std::vector<Tensor>{";
  for (std::size_t r = 0; r < program.roots.size(); r++) {
    text += fmt::format("{}t{}", r == 0 ? "" : ", ", program.roots[r]);
  }
  return text + "};\n}), \"\");\n";
}

std::optional<Mismatch> graphs_case(std::uint64_t seed, Counts& counts) {
  const GraphProgram program = random_graph(seed);
  counts["steps"] +=
      std::ranges::count_if(program.steps, [](const GraphStep& s) { return s.kind >= 0; });
  const std::string wrong = check_program(program, counts);
  clear_run_caches();  // no case finds what it needs in those of another
  if (wrong.empty()) return {};
  const auto run = [](const GraphProgram& candidate) {
    Counts none;
    return check_program(candidate, none);
  };
  const GraphProgram small = minimised(program, run);
  return Mismatch{seed, run(small), cpp_of(small)};
}

}  // namespace croze::fuzz
