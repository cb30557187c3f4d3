// mutator.h -- files that are almost right: good ones with a few random changes of the kinds that
// readers of lengths, offsets and numbers are known to stumble over.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "croze/base/function_ref.h"

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

// The contents of the files in a folder, or of those with this extension; in an order that does not
// depend on the file system.
std::vector<std::string> good_files(const std::filesystem::path& folder,
                                    std::optional<std::string_view> extension = {});

struct MutantCounts {
  std::uint64_t seed = 0, files = 0, read = 0;
};

// Gives `read` files that are almost right, until an expectation fails: FUZZ_CASES of them, else
// 500, from seed FUZZ_SEED on, else 1.  It returns whether it took them.  Expects that some are
// taken, and some are not.
MutantCounts for_each_mutant(std::vector<std::string> good_files,
                             function_ref<bool(const std::string& bytes)> read);

}  // namespace croze::test
