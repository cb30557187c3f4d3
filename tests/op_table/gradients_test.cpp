// Gradients of every function of the op table against differences, in Float64 and through the
// compiled path; second gradients where the table promises them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "croze/base/error.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/op_table.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {
namespace {

constexpr std::uint64_t seed = 11;
constexpr double step = 1e-5;
constexpr double tolerance = 1e-6;          // of a difference; times (1 + |gradient|)
constexpr std::int64_t elements_tried = 4;  // per tensor

std::uint64_t mixed(std::uint64_t i) { return (i * 2654435761 + 12345) >> 7; }

// A number from many: each element times a weight of its own, so that none can stand for another.
Tensor total_of(const std::vector<Tensor>& tensors) {
  Tensor total = Tensor::zeros({}, {.dtype = DType::Float64});
  for (const Tensor& t : tensors) {
    if (!is_float(t.dtype())) continue;
    std::vector<double> weights(static_cast<std::size_t>(t.numel()));
    for (std::size_t i = 0; i < weights.size(); i++) {
      weights[i] = static_cast<double>(mixed(i) % 64) / 32 - 1;
    }
    total = total + sum(t * Tensor::from_data(weights, t.shape()));
  }
  return total;
}

// The Float64 tensors among the arguments, in order, and their replacement by others.
void collect(const Value& value, std::vector<Tensor>& tensors) {
  if (const Tensor* t = value.get<Tensor>()) {
    if (t->dtype() == DType::Float64 && t->numel() > 0) tensors.push_back(*t);
  } else if (const Values* list = value.get<Values>()) {
    for (const Value& v : *list) collect(v, tensors);
  }
}

void replace(Value& value, const Tensor*& next) {
  if (const Tensor* t = value.get<Tensor>()) {
    if (t->dtype() == DType::Float64 && t->numel() > 0) value = *next++;
  } else if (const Values* list = value.get<Values>()) {
    Values copy = *list;
    for (Value& v : copy) replace(v, next);
    value = std::move(copy);
  }
}

// A sample of an op as a function of its Float64 tensors.
struct Function {
  const OpEntry& op;
  Values arguments;

  std::vector<Tensor> targets() const {
    std::vector<Tensor> tensors;
    for (const Value& v : arguments) collect(v, tensors);
    return tensors;
  }

  Tensor operator()(const std::vector<Tensor>& tensors) const {
    Values values = arguments;
    const Tensor* next = tensors.data();
    for (Value& v : values) replace(v, next);
    return total_of(call_op(op, values));
  }
};

// f at the tensors with one element of one of them moved by `step`.
template <typename F>
double moved(const F& f, const std::vector<Tensor>& tensors, std::size_t which, std::size_t element,
             double by) {
  std::vector<Tensor> copy = tensors;
  std::vector<double> numbers = tensors[which].to_vector<double>();
  numbers[element] += by;
  copy[which] = Tensor::from_data(numbers, tensors[which].shape()).realize();
  return f(copy).template item<double>();
}

// The gradients of f against differences of it.
template <typename F>
void expect_gradients(const F& f, const std::vector<Tensor>& targets, const std::string& what) {
  const std::vector<Tensor> gradients = f(targets).gradient(targets);
  for (std::size_t k = 0; k < targets.size(); k++) {
    ASSERT_EQ(gradients[k].shape(), targets[k].shape()) << what;
    const std::vector<double> got = gradients[k].to_vector<double>();
    const std::int64_t tried = std::min(elements_tried, targets[k].numel());
    for (std::int64_t n = 0; n < tried; n++) {
      const auto i = static_cast<std::size_t>(n * targets[k].numel() / tried);
      const double difference =
          (moved(f, targets, k, i, step) - moved(f, targets, k, i, -step)) / (2 * step);
      EXPECT_NEAR(got[i], difference, tolerance * (1 + std::abs(difference)))
          << what << ", tensor " << k << ", element " << i;
    }
  }
}

void check_sample(const OpEntry& op, std::size_t number, Values arguments) {
  const Function f{op, std::move(arguments)};
  std::vector<Tensor> targets = f.targets();
  if (targets.empty()) return;
  realize(targets);
  const std::string what = fmt::format("{}, sample {}", op.name, number);
  expect_gradients(f, targets, what);
  if (op.gradients < 2) return;
  const auto gradient = [&](const std::vector<Tensor>& tensors) {
    return total_of(f(tensors).gradient(tensors));
  };
  expect_gradients(gradient, targets, what + ", second gradient");
}

// Functions of a symmetric matrix read one triangle of it and give the gradient to both, as
// PyTorch's do: moving one element alone says nothing of it.
bool reads_one_triangle(const OpEntry& op) {
  return op.name == "linalg.eigh" || op.name == "linalg.eigvalsh";
}

class OpGradients : public testing::TestWithParam<const OpFamily*> {};

TEST_P(OpGradients, AreThoseOfDifferences) {
  for (const OpEntry& op : GetParam()->ops) {
    if (op.gradients == 0 || reads_one_triangle(op)) continue;
    std::size_t number = 0;
    for (Values& arguments : sample_arguments(op, DType::Float64, seed)) {
      try {
        check_sample(op, number++, std::move(arguments));
      } catch (const std::exception& e) {
        ADD_FAILURE() << op.name << ": " << e.what();
      }
    }
  }
}

std::vector<const OpFamily*> families() {
  std::vector<const OpFamily*> result;
  for (const OpFamily& family : op_families()) result.push_back(&family);
  return result;
}
std::string family_name(const testing::TestParamInfo<const OpFamily*>& info) {
  std::string name;
  for (char c : info.param->name) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) name += c;
  }
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, OpGradients, testing::ValuesIn(families()), family_name);

}  // namespace
}  // namespace croze
