// mutator.h -- files that are almost right: good ones with a few random changes of the kinds that
// readers of lengths, offsets and numbers are known to stumble over.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace croze::test {

class Mutator {
 public:
  // The same seed gives the same files.
  Mutator(std::vector<std::string> good_files, std::uint64_t seed);

  // A good file after a change or a few; at most `max_bytes` long.
  std::string next();

 private:
  static constexpr std::size_t max_bytes = 1 << 16;

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  std::size_t place_in(const std::string& bytes) { return below(bytes.size() + 1); }
  const std::string& any_file() { return good_files_[below(good_files_.size())]; }
  void change(std::string& bytes);
  void overwrite_number(std::string& bytes);
  void overwrite_digits(std::string& bytes);

  std::vector<std::string> good_files_;
  std::mt19937_64 random_;
};

}  // namespace croze::test
