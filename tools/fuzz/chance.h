// chance.h -- seeded random choices, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace croze::fuzz {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}

  std::uint64_t bits() { return random_(); }
  // 0 <= result < n; 0 if there is no such number.
  std::int64_t below(std::int64_t n) {
    return n <= 1 ? 0 : static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool percent(int chance) { return below(100) < chance; }

  template <typename T, std::size_t N>
  T one_of(const T (&choices)[N]) {
    return choices[below(N)];
  }
  template <typename T>
  T one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(below(std::ssize(choices)))];
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace croze::fuzz
