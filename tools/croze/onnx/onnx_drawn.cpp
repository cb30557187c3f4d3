// onnx_drawn.cpp -- the drawn tests, and counting how often what came.
#include "onnx_drawn.h"

#include <croze/base/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace croze::tool {
namespace {

struct DrawnTest {
  std::string_view name;
  DrawnLaw law;
};

// The expanded tests compare their draws with the input the other way round, in all versions.
constexpr DrawnTest tests[] = {
    {"test_bernoulli", DrawnLaw::Ones},
    {"test_bernoulli_double", DrawnLaw::Ones},
    {"test_bernoulli_double_expanded", DrawnLaw::Zeros},
    {"test_bernoulli_expanded", DrawnLaw::Zeros},
    {"test_bernoulli_seed", DrawnLaw::Ones},
    {"test_bernoulli_seed_expanded", DrawnLaw::Zeros},
    {"test_training_dropout", DrawnLaw::Dropout},
    {"test_training_dropout_default", DrawnLaw::Dropout},
    {"test_training_dropout_default_mask", DrawnLaw::Dropout},
    {"test_training_dropout_mask", DrawnLaw::Dropout},
};

// How often something came, and how often it was to come.
class Frequency {
 public:
  void add(bool came, double probability) {
    num_came_ += came;
    expected_ += probability;
    variance_ += probability * (1 - probability);
  }

  std::string difference(std::string_view what) const {
    if (std::abs(num_came_ - expected_) <= 5 * std::sqrt(variance_)) return {};
    return fmt::format("{} came {} times, where {:.1f} were to be expected", what, num_came_,
                       expected_);
  }

 private:
  double num_came_ = 0, expected_ = 0, variance_ = 0;
};

std::vector<double> numbers_of(const onnx::Value& value) {
  return value.tensor().to_vector<double>();
}

std::string difference_from_bernoulli(bool ones, const Values& inputs,
                                      const std::vector<Values>& draws) {
  const std::vector<double> probabilities = numbers_of(inputs.at(0));
  Frequency frequency;
  for (const Values& outputs : draws) {
    const std::vector<double> drawn = numbers_of(outputs.at(0));
    for (std::size_t i = 0; i < drawn.size(); i++) {
      if (drawn[i] != 0 && drawn[i] != 1) return fmt::format("{} is neither 0 nor 1", drawn[i]);
      frequency.add(drawn[i] == (ones ? 1 : 0), probabilities[i]);
    }
  }
  return frequency.difference(ones ? "1" : "0");
}

std::string difference_from_dropout(const Values& inputs, const std::vector<Values>& draws) {
  constexpr double tolerance = 1e-6;
  const std::vector<double> x = numbers_of(inputs.at(0));
  const double ratio = numbers_of(inputs.at(1)).at(0);
  Frequency frequency;
  for (const Values& outputs : draws) {
    const std::vector<double> y = numbers_of(outputs.at(0));
    const std::vector<double> mask =
        outputs.size() > 1 ? numbers_of(outputs[1]) : std::vector<double>();
    for (std::size_t i = 0; i < y.size(); i++) {
      const bool is_kept = y[i] != 0;
      const double wanted = is_kept ? x[i] / (1 - ratio) : 0;
      if (std::abs(y[i] - wanted) > tolerance * std::abs(wanted)) {
        return fmt::format("{} became {}, neither 0 nor {}", x[i], y[i], wanted);
      }
      if (!mask.empty() && (mask[i] != 0) != is_kept) return "the mask tells of another draw";
      frequency.add(!is_kept, ratio);
    }
  }
  return frequency.difference("0");
}

}  // namespace

int num_drawn_tests() { return std::size(tests); }

DrawnLaw drawn_law(std::string_view group, std::string_view test) {
  const auto* row = std::ranges::find(tests, test, &DrawnTest::name);
  return group == "node" && row != std::end(tests) ? row->law : DrawnLaw::None;
}

std::string difference_from_law(DrawnLaw law, const Values& inputs,
                                const std::vector<Values>& draws) {
  switch (law) {
    case DrawnLaw::None: return {};
    case DrawnLaw::Ones: return difference_from_bernoulli(true, inputs, draws);
    case DrawnLaw::Zeros: return difference_from_bernoulli(false, inputs, draws);
    case DrawnLaw::Dropout: return difference_from_dropout(inputs, draws);
  }
  return {};
}

}  // namespace croze::tool
