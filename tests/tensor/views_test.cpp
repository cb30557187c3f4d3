// Views share memory, as in PyTorch: by hand, and random programs of views and assignments against
// a direct evaluator with storages, offsets and strides.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;
using Numbers = std::vector<double>;

Tensor counting(const Shape& shape) {
  return Tensor::arange(static_cast<double>(shape.numel())).reshape(shape).contiguous().realize();
}

TEST(Views, AssignmentsShowOnBothSides) {
  Tensor x = counting({2, 3});
  Tensor row = x[1], column = x.select(1, 0);
  row.fill_(9);
  expect_numbers(x, {0, 1, 2, 9, 9, 9});
  expect_numbers(column, {0, 9});
  column += 1;
  expect_numbers(x, {1, 1, 2, 10, 9, 9});
  expect_numbers(row, {10, 9, 9});
  x.zero_();
  expect_numbers(row, {0, 0, 0});
}

TEST(Views, ChainsOfViewsReachTheRoot) {
  Tensor x = counting({4, 4});
  x.narrow(0, 1, 2).transpose().slice(0, {0, std::nullopt, 2}).reshape({2, 1, 2}).assign(-1);
  expect_numbers(x, {0, 1, 2, 3, -1, 5, -1, 7, -1, 9, -1, 11, 12, 13, 14, 15});
  x.unsqueeze(0).permute({0, 2, 1})[0][3] *= 2;
  expect_numbers(x.select(1, 3), {6, 14, 22, 30});
}

TEST(Views, OfWhatIsNotComputedYet) {
  Tensor x = counting({4}) * 2;
  Tensor half = x.narrow(0, 0, 2);
  half.assign(7);
  expect_numbers(x, {7, 7, 4, 6});
  const Tensor y = x + 1;
  half.zero_();
  expect_numbers(y, {8, 8, 5, 7});
  expect_numbers(x, {0, 0, 4, 6});
}

TEST(Views, WhatPyTorchCopiesIsNoView) {
  Tensor x = counting({2, 3});
  Tensor copied = x.transpose().reshape({6});
  copied.zero_();
  Tensor flipped = x.flip(0);
  flipped.zero_();
  Tensor whole = x.contiguous();
  whole.zero_();
  expect_numbers(x, {0, 1, 2, 3, 4, 5});
  Tensor wide = counting({1, 3}).expand({2, 3});
  EXPECT_NE(error_of([&] { wide.zero_(); }).find("assign"), std::string::npos);
}

TEST(Views, AViewKeepsItsRoot) {
  Tensor part;
  {
    const Tensor x = counting({4});
    part = x.narrow(0, 1, 2);
  }
  part += 1;
  expect_numbers(part, {2, 3});
}

TEST(Views, GradientsFlowThroughAssignments) {
  const Tensor x = Tensor::from_data({1., 2., 3.}, {3});
  Tensor y = x * 2;
  y.narrow(0, 0, 1).assign(x.narrow(0, 2, 1) * 10);
  expect_numbers(y.sum().gradient({x})[0], {0, 2, 12});
}

// ---- random programs --------------------------------------------------------------------------

// A tensor of the evaluator: a place in a storage.
struct Model {
  std::shared_ptr<Numbers> storage;
  Shape shape, strides;
  std::int64_t offset = 0;

  static Model of(const Numbers& values, const Shape& shape) {
    Model m{std::make_shared<Numbers>(values), shape, shape};
    std::int64_t stride = 1;
    for (int i = shape.size(); i-- > 0; stride *= shape[i]) m.strides[i] = stride;
    return m;
  }
  std::vector<std::int64_t> addresses() const {
    std::vector<std::int64_t> result;
    for (std::int64_t i = 0; i < shape.numel(); i++) {
      std::int64_t at = offset, rest = i;
      for (int axis = shape.size(); axis-- > 0; rest /= shape[axis]) {
        at += rest % shape[axis] * strides[axis];
      }
      result.push_back(at);
    }
    return result;
  }
  Numbers values() const {
    Numbers result;
    for (std::int64_t a : addresses()) result.push_back((*storage)[static_cast<std::size_t>(a)]);
    return result;
  }
  void assign(const Numbers& values) {
    const std::vector<std::int64_t> to = addresses();
    for (std::size_t i = 0; i < to.size(); i++)
      (*storage)[static_cast<std::size_t>(to[i])] = values[i];
  }
  // The view of another shape, if strides for it exist: they follow from the addresses.
  std::optional<Model> reshaped(const Shape& to) const {
    const std::vector<std::int64_t> a = addresses();
    Model m{storage, to, to, offset};
    std::int64_t step = 1;
    for (int axis = to.size(); axis-- > 0; step *= to[axis]) {
      m.strides[axis] = to[axis] > 1 ? a[static_cast<std::size_t>(step)] - a[0] : 1;
    }
    if (m.addresses() != a) return std::nullopt;
    return m;
  }
};

class Program {
 public:
  explicit Program(std::uint32_t seed) : random_(seed) {}

  void run(int steps) {
    add_data({below(3) + 1, below(3) + 1, below(3) + 1});
    for (int i = 0; i < steps; i++) step();
    for (std::size_t i = 0; i < tensors_.size(); i++) {
      SCOPED_TRACE("tensor " + std::to_string(i) + " of " + log_);
      expect_numbers(tensors_[i], models_[i].values(), 0);
    }
  }

 private:
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint32_t>(n));
  }
  std::size_t pick() {
    return static_cast<std::size_t>(below(static_cast<std::int64_t>(tensors_.size())));
  }

  void add(const Tensor& t, const Model& m, const std::string& what) {
    tensors_.push_back(t);
    models_.push_back(m);
    log_ += what + "; ";
  }

  void add_data(const Shape& shape) {
    Numbers v;
    for (std::int64_t i = 0; i < shape.numel(); i++) v.push_back(static_cast<double>(below(50)));
    add(Tensor::from_data(v, shape), Model::of(v, shape), "data");
  }

  void step() {
    const std::size_t i = pick();
    switch (below(13)) {
      case 0: return narrowed(i);
      case 1: return selected(i);
      case 2: return strided(i);
      case 3: return permuted(i);
      case 4: return unsqueezed(i);
      case 5: return reshaped(i);
      case 6: return computed(i);
      case 7: return filled(i);
      case 8: return assigned(i);
      case 9: return increased(i);
      case 10: return indexed(i);
      case 11: tensors_[i].realize(); return;
      default: return add_data({below(4) + 1, below(3) + 1});
    }
  }

  std::int64_t axis_of(std::size_t i) { return below(models_[i].shape.size()); }

  void narrowed(std::size_t i) {
    Model m = models_[i];
    if (m.shape.empty()) return;
    const std::int64_t a = axis_of(i), begin = below(m.shape[a]),
                       length = below(m.shape[a] - begin) + 1;
    m.offset += begin * m.strides[a];
    m.shape[a] = length;
    add(tensors_[i].narrow(a, begin, length), m, "narrow " + std::to_string(i));
  }
  void selected(std::size_t i) {
    Model m = models_[i];
    if (m.shape.empty()) return;
    const std::int64_t a = axis_of(i), at = below(m.shape[a]);
    m.offset += at * m.strides[a];
    m.shape.erase(a);
    m.strides.erase(a);
    add(tensors_[i].select(a, at), m, "select " + std::to_string(i));
  }
  void strided(std::size_t i) {
    Model m = models_[i];
    if (m.shape.empty()) return;
    const std::int64_t a = axis_of(i);
    m.shape[a] = (m.shape[a] + 1) / 2;
    m.strides[a] *= 2;
    add(tensors_[i].slice(a, {std::nullopt, std::nullopt, 2}), m, "slice " + std::to_string(i));
  }
  void permuted(std::size_t i) {
    Model m = models_[i];
    if (m.shape.size() < 2) return;
    const std::int64_t a = axis_of(i), b = axis_of(i);
    std::swap(m.shape[a], m.shape[b]);
    std::swap(m.strides[a], m.strides[b]);
    add(tensors_[i].transpose(a, b), m, "transpose " + std::to_string(i));
  }
  void unsqueezed(std::size_t i) {
    Model m = models_[i];
    if (m.shape.size() > 4) return;
    const std::int64_t a = below(m.shape.size() + 1);
    m.shape.insert(a, 1);
    m.strides.insert(a, 1);
    add(tensors_[i].unsqueeze(a), m, "unsqueeze " + std::to_string(i));
  }
  void reshaped(std::size_t i) {
    const Model& m = models_[i];
    const std::int64_t n = m.shape.numel();
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 1; d <= n; d++) {
      if (n % d == 0) divisors.push_back(d);
    }
    const std::int64_t d =
        divisors[static_cast<std::size_t>(below(static_cast<std::int64_t>(divisors.size())))];
    const Shape shape{d, n / d};
    add(tensors_[i].reshape(shape), m.reshaped(shape).value_or(Model::of(m.values(), shape)),
        "reshape " + std::to_string(i));
  }
  void computed(std::size_t i) {
    Numbers v = models_[i].values();
    for (double& d : v) d = d * 2 + 1;
    add(tensors_[i] * 2 + 1, Model::of(v, models_[i].shape), "compute " + std::to_string(i));
  }
  void filled(std::size_t i) {
    const double value = static_cast<double>(below(100));
    tensors_[i].fill_(value);
    models_[i].assign(Numbers(models_[i].values().size(), value));
    log_ += "fill " + std::to_string(i) + "; ";
  }
  void assigned(std::size_t i) {
    const std::size_t j = pick();
    if (models_[j].shape != models_[i].shape) return;
    tensors_[i].assign(tensors_[j]);
    models_[i].assign(models_[j].values());
    log_ += "assign " + std::to_string(i) + " = " + std::to_string(j) + "; ";
  }
  void increased(std::size_t i) {
    tensors_[i] += 3;
    Numbers v = models_[i].values();
    for (double& d : v) d += 3;
    models_[i].assign(v);
    log_ += "increase " + std::to_string(i) + "; ";
  }
  // The last of equal positions stays.
  void indexed(std::size_t i) {
    Model m = models_[i];
    if (m.shape.empty()) return;
    std::vector<std::int64_t> rows;
    for (int k = 0; k < 2; k++) rows.push_back(below(m.shape[0]));
    tensors_[i].index_put_({Tensor::from_data(rows, {2})}, 77);
    for (std::int64_t row : rows) {
      Model part = m;
      part.offset += row * part.strides[0];
      part.shape[0] = 1;
      part.assign(Numbers(part.values().size(), 77));
    }
    log_ += "put " + std::to_string(i) + "; ";
  }

  std::mt19937 random_;
  std::vector<Tensor> tensors_;
  std::vector<Model> models_;
  std::string log_;
};

// CROZE_VIEW_PROGRAMS says how many; a failing one is run again by its seed.
TEST(Views, RandomProgramsAgreeWithADirectEvaluator) {
  const char* count = std::getenv("CROZE_VIEW_PROGRAMS");
  const int programs = count ? std::atoi(count) : 60;
  for (int seed = 1; seed <= programs; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Program(static_cast<std::uint32_t>(seed)).run(4 + seed % 12);
    if (::testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace croze
