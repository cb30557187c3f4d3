// termination.cpp -- polynomials in the weights of captures.
#include "croze/prove/termination.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "croze/graph/analysis/measure.h"
#include "croze/prove/reading.h"

namespace croze {
namespace {

// A polynomial with integer coefficients in variables named by letters.
class Polynomial {
 public:
  using Exponents = std::array<std::uint8_t, Match::num_slots>;

  explicit Polynomial(std::int64_t constant = 0) { add({}, constant); }
  static Polynomial variable(std::uint8_t slot) {
    Exponents e{};
    e[slot] = 1;
    Polynomial p;
    p.add(e, 1);
    return p;
  }

  friend Polynomial operator+(const Polynomial& a, const Polynomial& b) {
    Polynomial sum = a;
    for (const auto& [e, c] : b.terms_) sum.add(e, c);
    return sum;
  }
  friend Polynomial operator-(const Polynomial& a, const Polynomial& b) {
    Polynomial sum = a;
    for (const auto& [e, c] : b.terms_) sum.add(e, -c);
    return sum;
  }
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b) {
    Polynomial product;
    for (const auto& [e, c] : a.terms_) {
      for (const auto& [f, d] : b.terms_) {
        Exponents sum = e;
        for (std::size_t i = 0; i < sum.size(); i++)
          sum[i] = static_cast<std::uint8_t>(e[i] + f[i]);
        product.add(sum, c * d);
      }
    }
    return product;
  }

  bool is_zero() const { return terms_.empty(); }
  // More than zero for all values of the variables that are not negative.
  bool is_positive() const {
    const auto constant = terms_.find(Exponents{});
    return constant != terms_.end() && constant->second > 0 &&
           std::ranges::all_of(terms_, [](const auto& t) { return t.second > 0; });
  }

  std::string text() const {
    std::string text;
    for (const auto& [e, c] : terms_) {
      text += fmt::format("{}{}", text.empty() ? "" : " + ", c);
      for (std::size_t i = 0; i < e.size(); i++) {
        for (int n = 0; n < e[i]; n++) text += fmt::format("*{}", static_cast<char>('a' + i));
      }
    }
    return text.empty() ? "0" : text;
  }

 private:
  void add(const Exponents& e, std::int64_t c) {
    if (c == 0) return;
    std::int64_t& own = terms_[e];
    own += c;
    if (own == 0) terms_.erase(e);
  }

  std::map<Exponents, std::int64_t> terms_;
};

// What is built of constants only is one when it is made.
bool is_constant(const Reading& r, int place) {
  const RulePart& p = r.parts[static_cast<std::size_t>(place)];
  const Token::Kind kind = p.token->kind;
  if (kind == Token::Literal || kind == Token::Real || kind == Token::Int || kind == Token::Const) {
    return true;
  }
  return p.token->is_call() && is_elementwise(p.op) && !p.operands.empty() &&
         std::ranges::all_of(p.operands, [&](int o) { return is_constant(r, o); });
}

bool is_invalid(const Reading& r, int place) {
  const RulePart& p = r.parts[static_cast<std::size_t>(place)];
  return p.token->is_call() && p.op == Op::Invalid;
}

struct Size {
  Polynomial padding, weight;
};

Size size_of_part(const Reading& r, int place) {
  if (is_invalid(r, place)) return {Polynomial(1), Polynomial(1)};
  if (is_constant(r, place)) return {Polynomial(0), Polynomial(1)};
  const RulePart& p = r.parts[static_cast<std::size_t>(place)];
  if (p.token->is_capture()) {
    const int named = r.place_of(p.token->id);
    if (r.parts[static_cast<std::size_t>(named)].token->is_call()) return size_of_part(r, named);
    return {Polynomial(0), Polynomial(least_leaf_weight) + Polynomial::variable(p.token->id)};
  }
  std::vector<Polynomial> padding, weight;
  for (int o : p.operands) {
    Size size = size_of_part(r, o);
    padding.push_back(std::move(size.padding));
    weight.push_back(std::move(size.weight));
  }
  const bool pads = p.op == Op::Where && is_invalid(r, p.operands[2]);
  return {padding_of<Polynomial>(p.op, pads, padding), weight_of<Polynomial>(p.op, false, weight)};
}

// Sums of Index are canonical: a rule on them builds the sum that it met, and does not fire.
bool is_about_sums_of_index(const Reading& r) {
  return std::ranges::any_of(r.parts, [](const RulePart& p) {
    return p.token->is_call() && p.dtype == DType::Index && (p.op == Op::Add || p.op == Op::Mul);
  });
}

}  // namespace

std::string why_not_smaller(const Rule& rule, Numbers numbers) {
  if (rule.rewrite) return {};
  for (const Reading& r : readings_of(rule, numbers, any_type)) {
    if (is_about_sums_of_index(r)) continue;
    const Size before = size_of_part(r, r.pattern), after = size_of_part(r, r.replacement);
    const Polynomial padding = before.padding - after.padding;
    const Polynomial weight = before.weight - after.weight;
    if (padding.is_positive() || (padding.is_zero() && weight.is_positive())) continue;
    return fmt::format("{} of {}: smaller by {} and {}", to_string(rule), r.text(), padding.text(),
                       weight.text());
  }
  return {};
}

}  // namespace croze
