// Muon against the formula of torch.optim.Muon, computed in double by plain loops.
#include <cmath>

#include "nn/models.h"

namespace croze {
namespace {

using test::expect_near;

struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<double> elements = std::vector<double>(rows * columns);

  double& at(std::size_t i, std::size_t j) { return elements[i * columns + j]; }
  double at(std::size_t i, std::size_t j) const { return elements[i * columns + j]; }
};

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{a.rows, b.columns};
  for (std::size_t i = 0; i < a.rows; i++) {
    for (std::size_t j = 0; j < b.columns; j++) {
      for (std::size_t k = 0; k < a.columns; k++) c.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return c;
}

Matrix transposed(const Matrix& a) {
  Matrix t{a.columns, a.rows};
  for (std::size_t i = 0; i < a.rows; i++) {
    for (std::size_t j = 0; j < a.columns; j++) t.at(j, i) = a.at(i, j);
  }
  return t;
}

// x * a + y * b
Matrix mixed(double x, const Matrix& a, double y, const Matrix& b) {
  Matrix c = a;
  for (std::size_t i = 0; i < c.elements.size(); i++) {
    c.elements[i] = x * a.elements[i] + y * b.elements[i];
  }
  return c;
}

Matrix zeropower(const Matrix& m) {
  const bool is_tall = m.rows > m.columns;
  Matrix x = is_tall ? transposed(m) : m;
  double sum = 0;
  for (double e : x.elements) sum += e * e;
  for (double& e : x.elements) e /= std::max(std::sqrt(sum), 1e-7);
  for (int i = 0; i < 5; i++) {
    const Matrix gram = product(x, transposed(x));
    const Matrix update = mixed(-4.7750, gram, 2.0315, product(gram, gram));
    x = mixed(3.4445, x, 1, product(update, x));
  }
  return is_tall ? transposed(x) : x;
}

Matrix some_matrix(std::size_t rows, std::size_t columns, double phase) {
  Matrix m{rows, columns};
  for (std::size_t i = 0; i < m.elements.size(); i++) {
    m.elements[i] = std::sin(1.7 * static_cast<double>(i) + phase) + 0.2;
  }
  return m;
}

Tensor tensor_of(const Matrix& m) {
  const Shape shape{static_cast<std::int64_t>(m.rows), static_cast<std::int64_t>(m.columns)};
  return Tensor::from_data(m.elements, shape, {.dtype = DType::Float32}).realize();
}

void expect_muon(std::size_t rows, std::size_t columns, const optim::MuonOptions& options) {
  Matrix p = some_matrix(rows, columns, 0), velocity{rows, columns};
  optim::Muon muon({tensor_of(p)}, options);
  const auto r = static_cast<double>(rows), c = static_cast<double>(columns);
  const double scale =
      options.matches_adam ? 0.2 * std::sqrt(std::max(r, c)) : std::sqrt(std::max(1., r / c));
  const double mu = options.momentum, rate = options.learning_rate;
  for (int step = 1; step <= 4; step++) {
    const Matrix g = some_matrix(rows, columns, step);
    velocity = mixed(mu, velocity, 1 - mu, g);
    const Matrix d = options.nesterov ? mixed(1 - mu, g, mu, velocity) : velocity;
    p = mixed(1 - rate * options.weight_decay, p, -rate * scale, zeropower(d));
    muon.step({tensor_of(g)});
    expect_near(muon.parameters[0], p.elements, 2e-5);
  }
}

TEST(Muon, AgreesWithItsFormula) { expect_muon(4, 6, {.learning_rate = 0.1}); }
TEST(Muon, TurnsTallMatrices) { expect_muon(7, 3, {.learning_rate = 0.1}); }
TEST(Muon, LeavesNesterovOutWhenAsked) {
  expect_muon(4, 6, {.learning_rate = 0.1, .momentum = 0.8, .nesterov = false});
}
TEST(Muon, TakesStepsOfTheSizeOfAdams) {
  expect_muon(7, 3, {.learning_rate = 0.1, .weight_decay = 0, .matches_adam = true});
}

// Singular values between 0.5 and 1.5, so that all directions are learned about equally.
TEST(Muon, MakesStepsNearlyOrthogonal) {
  manual_seed(3);
  const Tensor x = optim::orthogonalized(Tensor::randn({24, 40}));
  const Tensor values = svdvals(x);
  EXPECT_GT(values.min().item<double>(), 0.5);
  EXPECT_LT(values.max().item<double>(), 1.5);
}

TEST(Muon, IsPartOfACapturedStep) {
  const auto train = [](bool captured) {
    manual_seed(5);
    nn::Linear layer(6, 4, {.bias = false});
    const Tensor x = Tensor::randn({16, 6}).realize();
    optim::Muon muon(nn::parameters(layer), {.learning_rate = 0.05});
    const auto make_step = [&] {
      const Tensor loss = layer(x).square().mean();
      muon.step(loss.gradient(muon.parameters));
      return loss;
    };
    auto step = capture(make_step);
    float loss = 0;
    for (int i = 0; i < 5; i++) loss = (captured ? step() : make_step()).item<float>();
    return loss;
  };
  EXPECT_FLOAT_EQ(train(true), train(false));
}

}  // namespace
}  // namespace croze
