// inplace.cpp -- running programs of views and assignments, and making failing ones small.
#include "fuzz/inplace.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "croze/base/error.h"
#include "fuzz/inplace_gradients.h"
#include "fuzz/places.h"

namespace croze::fuzz {
namespace {

// The values that are left are exact in Float32: no step more than doubles the greatest.
constexpr int most_steps = 18;

// ---- comparing --------------------------------------------------------------------------------

template <typename T>
std::vector<T> numbers_in(std::span<const std::byte> bytes) {
  std::vector<T> result(bytes.size() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

// Equal to the last bit, but for what NaNs are made of.
bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<int>(a) == std::bit_cast<int>(b);
}
bool same(std::int32_t a, std::int32_t b) { return a == b; }

template <typename T>
std::string difference(const std::vector<T>& got, const std::vector<T>& expected) {
  if (std::ranges::equal(got, expected, [](T a, T b) { return same(a, b); })) return {};
  return fmt::format("{} instead of {}", fmt::join(got, " "), fmt::join(expected, " "));
}

std::string difference(const Tensor& got, const Place& expected) {
  if (got.dtype() != expected.dtype) return "another dtype";
  if (got.shape() != expected.shape) {
    return fmt::format("shape {} instead of {}", to_text(got.shape()), to_text(expected.shape));
  }
  const std::vector<std::byte> bytes = got.to_bytes();
  if (expected.dtype == DType::Float32) {
    return difference(numbers_in<float>(bytes), expected.floats());
  }
  const Numbers values = expected.values();
  return difference(numbers_in<std::int32_t>(bytes),
                    std::vector<std::int32_t>(values.begin(), values.end()));
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

std::string run(const InplaceProgram& program) {
  Places places;
  Gradients gradients(program);
  std::vector<Tensor> tensors(program.size());
  Tensor none;
  const auto operand = [&](int i) -> Tensor& {
    return i < 0 ? none : tensors[static_cast<std::size_t>(i)];
  };
  for (std::size_t i = 0; i < program.size(); i++) {
    const InplaceStep& step = program[i];
    if (!places.take(step)) continue;
    const Tensor result = kind_of(step).call(operand(step.x), operand(step.y), step.arg);
    if (kind_of(step).makes()) tensors[i] = result;
    gradients.follow(static_cast<int>(i), result, places);
  }
  // Asked for when all has been computed, or while assignments are still to be performed.
  const bool is_before = program.size() % 2 == 0;
  std::string wrong;
  if (is_before) wrong = gradients.wrong(tensors, places);
  if (wrong.empty()) wrong = compared(tensors, places);
  if (wrong.empty() && !is_before) wrong = gradients.wrong(tensors, places);
  return wrong;
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

// The program with what step `from` made being what step `to` made.
InplaceProgram redirected(InplaceProgram program, int from, int to) {
  program[static_cast<std::size_t>(from)].kind = -1;
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
      bool is_smaller = keep_if_failing(std::move(candidate));
      // In its place what it was made from, and that from which this was made, and so on.
      for (int to = program[i].x; to >= 0 && !is_smaller;
           to = program[static_cast<std::size_t>(to)].x) {
        is_smaller = keep_if_failing(redirected(program, static_cast<int>(i), to));
      }
      smaller = smaller || is_smaller;
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
    if (kind_of(program[i]).makes()) text += fmt::format("Tensor t{} = ", i);
    text += code_of(program[i]) + ";\n";
  }
  for (int i : places.present()) {
    const Place& p = places.at(i);
    const std::string numbers = p.dtype == DType::Float32
                                    ? fmt::format("{}", fmt::join(p.floats(), ", "))
                                    : fmt::format("{}", fmt::join(p.values(), ", "));
    text += fmt::format("expect_numbers(t{}, {{{}}}, 0);\n", i, numbers);
  }
  return text;
}

std::optional<Mismatch> inplace_case(std::uint64_t seed, Counts& counts) {
  const InplaceProgram program = random_inplace_program(seed);
  counts["steps"] += std::ssize(program);
  const std::string first = check_inplace(program);
  if (first.empty()) return {};
  // When histories are dropped depends on the memory that all threads use together; what they alone
  // could bring back is then refused (tensor/past.cpp).
  const bool is_refused = first.find("before it was assigned to") != std::string::npos;
  if (is_refused && check_inplace(program).empty()) {
    counts["gradients refused for want of memory"]++;
    return {};
  }
  const InplaceProgram small = minimised(program, check_inplace);
  const std::string message = check_inplace(small);
  // With several threads a failure need not come again.
  return Mismatch{seed, message.empty() ? "once: " + first : message, cpp_of(small)};
}

}  // namespace croze::fuzz
