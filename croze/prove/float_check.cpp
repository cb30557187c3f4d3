// float_check.cpp -- edge values and random bits.
#include "croze/prove/float_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/text/print.h"
#include "croze/prove/evaluation.h"
#include "croze/prove/meaning.h"
#include "croze/prove/reading.h"

namespace croze {
namespace {

using i64 = std::int64_t;

constexpr i64 points_per_instance = 40;
constexpr i64 most_draws_in_vain = 5000;

class RandomValues : public LeafSource {
 public:
  explicit RandomValues(std::uint64_t seed) : random_(seed) {}

  i64 pick(i64 n) { return std::uniform_int_distribution<i64>(0, n - 1)(random_); }

  i64 value(DType t) {
    if (is_float(t)) return pick(2) ? edge(t) : random_float(t);
    if (t == DType::Index) return pick(4000) - 2000;  // far from where an Index ends
    if (pick(2)) return bits_of(pick(12) - 3, t);
    if (pick(4) == 0) return bits_of(pick(2) ? max_value(t) : min_value(t), t);
    return bits_of(static_cast<i64>(random_()), t);
  }

  // Of a leaf; a counter keeps to its bounds.
  i64 value_of(UOp leaf) {
    const bool counts = leaf.is(Op::Range) || leaf.is(Op::Variable) || leaf.is(Op::Special);
    return counts ? leaf.lo() + pick(leaf.hi() - leaf.lo() + 1) : value(leaf.dtype());
  }

  // Constants are drawn, so that a function can look at them; the rest is opaque.
  UOp leaf(Graph& graph, const Token& capture, DType t) override {
    const bool is_constant = capture.kind == Token::Const || capture.kind == Token::Int;
    if (!is_constant) return OpaqueLeaves().leaf(graph, capture, t);
    return graph.constant_bits(t, is_float(t) && pick(2) ? power_of_two(t) : value(t));
  }

 private:
  i64 edge(DType t) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double edges[] = {0.0,        infinity,    std::numeric_limits<double>::quiet_NaN(),
                                1.0,        2.0,         0.5,
                                3.0,        0x1p-1074,   0x1p-1022,
                                0x1p-149,   0x1p-126,    0x1p-24,
                                0x1p-14,    0x1p-133,    0x1p-16,
                                0x1p-9,     448.0,       240.0,
                                57344.0,    65504.0,     65520.0,
                                3.3895e38,  3.4028e38,   1.7976931348623157e308,
                                16777216.0, 16777217.0,  0x1p63,
                                0x1p64,     0x1.fffep-15};
    const double v = edges[pick(std::size(edges))];
    return bits_of(pick(2) ? v : -v, t);
  }
  i64 random_float(DType t) {
    const std::uint64_t bits = random_();
    if (pick(2)) return load_bits(&bits, t);
    return bits_of(
        std::ldexp(static_cast<double>(pick(4001) - 2000), static_cast<int>(pick(41)) - 20), t);
  }
  i64 power_of_two(DType t) {
    const double v = std::ldexp(1.0, static_cast<int>(pick(300)) - 150);
    return bits_of(pick(2) ? v : -v, t);
  }

  std::mt19937_64 random_;
};

// Compares two expressions of one graph.
class Comparison {
 public:
  Comparison(UOp left, UOp right) : type_(left.dtype()), evaluation_(roots_of(left, right)) {}

  // The first point where they differ, or nothing.
  std::string compare(RandomValues& random, i64 points) {
    const std::vector<UOp>& leaves = evaluation_.leaves();
    std::vector<i64> values(leaves.size());
    for (i64 n = 0; n < points; n++) {
      for (std::size_t i = 0; i < leaves.size(); i++) values[i] = random.value_of(leaves[i]);
      evaluation_.run(values);
      const auto result = [&](std::size_t i) { return evaluation_.result(i); };
      if (looks_into_nan()) continue;
      if (!result(0) || (result(1) && same_value(type_, result(2), result(3)))) continue;
      std::string where;
      for (std::size_t i = 0; i < leaves.size(); i++) {
        where +=
            fmt::format(" {} = {}", to_string(leaves[i]), text_of(leaves[i].dtype(), values[i]));
      }
      return fmt::format("{} and {} at{}", text_of(type_, result(2)), text_of(type_, result(3)),
                         where);
    }
    return {};
  }

 private:
  std::vector<UOp> roots_of(UOp left, UOp right) {
    Graph& graph = left.graph();
    if (left.is(Op::Index)) {
      left = graph.load(left);
      right = graph.load(right);
    }
    Meanings meanings(graph);
    const Meaning a = meanings.of(left), b = meanings.of(right);
    std::vector<UOp> roots{a.defined, b.defined, a.value, b.value};
    for (UOp u : toposort(a.value)) {
      if (u.is(Op::Bitcast) && is_float(u.src(0).dtype())) roots.push_back(u.src(0));
    }
    num_roots_ = roots.size();
    return roots;
  }

  // Which NaN a float is does not count, so neither do the bits of one.
  bool looks_into_nan() const {
    for (std::size_t i = 4; i < num_roots_; i++) {
      if (std::isnan(std::bit_cast<double>(evaluation_.result(i)))) return true;
    }
    return false;
  }

  static std::string text_of(DType t, i64 bits) {
    return is_float(t) ? fmt::format("{:g}", std::bit_cast<double>(bits)) : fmt::format("{}", bits);
  }

  DType type_;
  std::size_t num_roots_ = 0;
  Evaluation evaluation_;
};

class Checker {
 public:
  Checker(const FloatOptions& options, FloatCheck* check)
      : options_(options), random_(options.seed), check_(check) {}

  void check_data(const Reading& reading) {
    Graph graph;
    OpaqueLeaves leaves;
    const Instance instance = instantiate(reading, graph, leaves);
    compare(instance.left, instance.right, options_.points, reading.text());
  }

  void check_function(const Rule& rule, Numbers numbers, const std::vector<Reading>& readings) {
    const RuleSet alone("one rule", {RuleList{"one rule", numbers, std::span(&rule, 1)}});
    Graph graph;
    for (i64 vain = 0; check_->instances < options_.instances && vain < most_draws_in_vain;
         vain++) {
      const auto i = static_cast<std::size_t>(random_.pick(static_cast<i64>(readings.size())));
      const UOp before = instantiate(readings[i], graph, random_).left;
      const UOp after = alone.apply(before);
      if (!after) continue;
      compare(before, after, points_per_instance, to_string(before));
      vain = 0;
    }
  }

 private:
  void compare(UOp left, UOp right, i64 points, const std::string& what) {
    check_->instances++;
    check_->points += points;
    const std::string difference = Comparison(left, right).compare(random_, points);
    if (difference.empty()) return;
    check_->failed++;
    if (check_->detail.empty()) check_->detail = fmt::format("{}: {}", what, difference);
  }

  const FloatOptions& options_;
  RandomValues random_;
  FloatCheck* check_;
};

}  // namespace

std::string difference_on_floats(UOp left, UOp right, i64 points, std::uint64_t seed) {
  RandomValues random(seed);
  return Comparison(left, right).compare(random, points);
}

FloatCheck check_on_floats(const Rule& rule, Numbers numbers, const FloatOptions& options) {
  FloatCheck check{to_string(rule)};
  std::vector<Reading> readings = readings_of(rule, numbers, any_type);
  std::erase_if(readings, [](const Reading& r) { return r.is_integral(); });
  check.readings = static_cast<i64>(readings.size());
  if (readings.empty()) return check;
  Checker checker(options, &check);
  if (rule.rewrite) {
    checker.check_function(rule, numbers, readings);
    if (check.instances == 0) check.readings = 0;  // it declines all of them
  } else {
    for (const Reading& reading : readings) checker.check_data(reading);
  }
  return check;
}

}  // namespace croze
