// inplace.cpp -- running programs of views and assignments, and making failing ones small.
#include "fuzz/inplace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "croze/base/error.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "fuzz/inplace_steps.h"

namespace croze::fuzz {
namespace {

// The values that are left are exact in Float32: no step more than doubles the greatest.
constexpr int most_steps = 18;

const StepKind& kind_of(const InplaceStep& step) {
  return inplace_steps()[static_cast<std::size_t>(step.kind)];
}

// The places of the tensors that the steps made, by step.
class Places {
 public:
  // Does the step in the evaluator; false if it does nothing.
  bool take(const InplaceStep& step) {
    places_.emplace_back();
    if (step.kind < 0) return false;
    const StepKind& kind = kind_of(step);
    if ((kind.operands > 0 && !has(step.x)) || (kind.operands > 1 && !has(step.y))) return false;
    // Copies: the step may change what they stand for.
    const Place x = kind.operands > 0 ? at(step.x) : Place{};
    const Place y = kind.operands > 1 ? at(step.y) : Place{};
    const std::optional<Place> result = kind.model(x, y, step.arg);
    if (!result) return false;
    (kind.makes ? places_.back() : places_[static_cast<std::size_t>(step.x)]) = *result;
    return true;
  }
  void take_back() { places_.pop_back(); }

  bool has(int i) const { return i >= 0 && i < std::ssize(places_) && at(i).storage != nullptr; }
  const Place& at(int i) const { return places_[static_cast<std::size_t>(i)]; }
  std::vector<int> present() const {
    std::vector<int> result;
    for (int i = 0; i < std::ssize(places_); i++) {
      if (has(i)) result.push_back(i);
    }
    return result;
  }

 private:
  std::vector<Place> places_;
};

// ---- comparing --------------------------------------------------------------------------------

template <typename T>
Numbers numbers_in(std::span<const std::byte> bytes) {
  Numbers result;
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, &bytes[i], sizeof(T));
    result.push_back(static_cast<std::int64_t>(value));
  }
  return result;
}

std::string difference(const Tensor& got, const Place& expected) {
  if (got.dtype() != expected.dtype) return "another dtype";
  if (got.shape() != expected.shape) {
    return fmt::format("shape {} instead of {}", to_text(got.shape()), to_text(expected.shape));
  }
  const std::vector<std::byte> bytes = got.to_bytes();
  const Numbers numbers =
      expected.dtype == DType::Float32 ? numbers_in<float>(bytes) : numbers_in<std::int32_t>(bytes);
  const Numbers values = expected.values();
  if (numbers == values) return {};
  return fmt::format("{} instead of {}", fmt::join(numbers, " "), fmt::join(values, " "));
}

// All of them are computed together.
std::string compared(const std::vector<Tensor>& tensors, const Places& places) {
  const std::vector<int> present = places.present();
  std::vector<Tensor> copies;
  for (int i : present) copies.push_back(tensors[static_cast<std::size_t>(i)].contiguous());
  realize(copies);
  for (std::size_t k = 0; k < present.size(); k++) {
    const std::string text = difference(copies[k], places.at(present[k]));
    if (!text.empty()) return fmt::format("t{}: {}", present[k], text);
  }
  return {};
}

// Losses that are computed from tensors of a program and a leaf beside it, some at once and some at
// the end.  However late and whatever has been assigned since, their gradients by the leaf are
// right, or refused because of an assignment.
class Losses {
 public:
  void add(const Tensor& x, const Place& place, bool at_once) {
    const Tensor sum = x.cast(DType::Float64).sum();
    losses_.push_back({(square(leaf_) * sum).sum(), 0, false});
    for (std::int64_t v : place.values()) losses_.back().sum += static_cast<double>(v);
    if (at_once) losses_.back().tensor.realize();
  }
  void assigned() {
    for (Loss& l : losses_) l.may_be_refused = true;
  }

  std::string wrong() const {
    for (std::size_t i = 0; i < losses_.size(); i++) {
      const Loss& l = losses_[i];
      try {
        const auto gradient = l.tensor.gradient({leaf_})[0].to_vector<double>();
        const std::vector<double> expected{2 * l.sum, 6 * l.sum};
        if (gradient == expected) continue;
        return fmt::format("gradient of loss {}: {} instead of {}", i, fmt::join(gradient, " "),
                           fmt::join(expected, " "));
      } catch (const Error& e) {
        if (l.may_be_refused && e.message().find("assigned to") != std::string::npos) continue;
        throw;
      }
    }
    return {};
  }

 private:
  struct Loss {
    Tensor tensor;
    double sum;
    bool may_be_refused;
  };

  Tensor leaf_ = Tensor::from_data({1., 3.}, {2}, {.dtype = std::nullopt, .device = "INTERP"});
  std::vector<Loss> losses_;
};

std::string run(const InplaceProgram& program) {
  Places places;
  Losses losses;
  std::vector<Tensor> tensors(program.size());
  Tensor none;
  const auto operand = [&](int i) -> Tensor& {
    return i < 0 ? none : tensors[static_cast<std::size_t>(i)];
  };
  for (std::size_t i = 0; i < program.size(); i++) {
    const InplaceStep& step = program[i];
    if (!places.take(step)) continue;
    const Tensor result = kind_of(step).call(operand(step.x), operand(step.y), step.arg);
    if (kind_of(step).makes) tensors[i] = result;
    losses.assigned();
    const int made = static_cast<int>(i);
    if (i % 4 == 0 && places.has(made)) losses.add(result, places.at(made), i % 8 == 0);
  }
  const std::string wrong = compared(tensors, places);
  return wrong.empty() ? losses.wrong() : wrong;
}

}  // namespace

std::string check_inplace(const InplaceProgram& program) {
  try {
    return run(program);
  } catch (const std::exception& e) {
    return fmt::format("exception: {}", e.what());
  }
}

// ---- making programs --------------------------------------------------------------------------

InplaceProgram random_inplace_program(std::uint64_t seed) {
  Chance chance(seed);
  InplaceProgram program;
  Places places;
  const std::int64_t count = chance.between(4, most_steps);
  const std::int64_t kinds = std::ssize(inplace_steps());
  while (std::ssize(program) < count) {
    const std::vector<int> present = places.present();
    InplaceStep step{.kind = static_cast<int>(chance.below(kinds))};
    const StepKind& kind = kind_of(step);
    if (kind.operands > 0 && present.empty()) continue;
    if (kind.operands > 0) step.x = chance.one_of(present);
    if (kind.operands > 1) step.y = chance.one_of(present);
    step.arg = kind.draw(chance, step.x < 0 ? Place{} : places.at(step.x));
    if (places.take(step)) {
      program.push_back(std::move(step));
    } else {
      places.take_back();
    }
  }
  return program;
}

namespace {

// The program with what step i made being what it was made from.
InplaceProgram redirected(InplaceProgram program, std::size_t i) {
  const int from = static_cast<int>(i), to = program[i].x;
  program[i].kind = -1;
  for (InplaceStep& step : program) {
    if (step.x == from) step.x = to;
    if (step.y == from) step.y = to;
  }
  return program;
}

}  // namespace

InplaceProgram minimised(InplaceProgram program,
                         const std::function<std::string(const InplaceProgram&)>& run) {
  const auto keep_if_failing = [&](InplaceProgram candidate) {
    if (run(candidate).empty()) return false;
    program = std::move(candidate);
    return true;
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t i = program.size(); i-- > 0;) {
      if (program[i].kind < 0) continue;
      InplaceProgram candidate = program;
      candidate[i].kind = -1;
      if (keep_if_failing(std::move(candidate)) || keep_if_failing(redirected(program, i))) {
        smaller = true;
      }
    }
  }
  return program;
}

// ---- text -------------------------------------------------------------------------------------

namespace {

std::string code_of(const InplaceStep& step) {
  std::string text;
  std::size_t named = 0;  // arguments
  const std::string_view code = kind_of(step).code;
  const auto count = [&](char c) {  // the highest argument that is named alone
    if (c >= '0' && c <= '9') named = std::max(named, static_cast<std::size_t>(c - '0') + 1);
  };
  for (std::size_t i = 0; i + 1 < code.size(); i++) {
    if (code[i] == '$') count(code[i + 1]);
  }
  const std::span<const std::int64_t> rest = std::span(step.arg).subspan(named);
  for (std::size_t i = 0; i < code.size(); i++) {
    if (code[i] != '$') {
      text += code[i];
      continue;
    }
    switch (const char c = code[++i]) {
      case 'x': text += fmt::format("t{}", step.x); break;
      case 'y': text += fmt::format("t{}", step.y); break;
      case '*': text += fmt::format("{}", fmt::join(rest, ", ")); break;
      case '#': text += fmt::format("{}", rest.size()); break;
      default: text += fmt::format("{}", step.arg[static_cast<std::size_t>(c - '0')]);
    }
  }
  return text;
}

}  // namespace

std::string cpp_of(const InplaceProgram& program) {
  std::string text;
  Places places;
  for (std::size_t i = 0; i < program.size(); i++) {
    if (!places.take(program[i])) continue;
    if (kind_of(program[i]).makes) text += fmt::format("Tensor t{} = ", i);
    text += code_of(program[i]) + ";\n";
  }
  for (int i : places.present()) {
    text +=
        fmt::format("expect_numbers(t{}, {{{}}}, 0);\n", i, fmt::join(places.at(i).values(), ", "));
  }
  return text;
}

std::optional<Mismatch> inplace_case(std::uint64_t seed, Counts& counts) {
  const InplaceProgram program = random_inplace_program(seed);
  counts["steps"] += std::ssize(program);
  if (check_inplace(program).empty()) return {};
  const InplaceProgram small = minimised(program, check_inplace);
  return Mismatch{seed, check_inplace(small), cpp_of(small)};
}

}  // namespace croze::fuzz
