// mutator.cpp -- the changes that are made to good files.
#include "support/mutator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "support/files.h"

namespace croze::test {

Mutator::Mutator(std::vector<std::string> good_files, std::uint64_t seed)
    : good_files_(std::move(good_files)), random_(seed) {}

std::string Mutator::next() {
  std::string bytes = any_file();
  do {
    change(bytes);
  } while (below(2) == 0);
  bytes.resize(std::min(bytes.size(), max_bytes));
  return bytes;
}

void Mutator::change(std::string& bytes) {
  const std::size_t at = place_in(bytes);
  const std::size_t count = std::min<std::size_t>(1 + below(32), bytes.size() - at);
  switch (below(8)) {
    case 0:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
      break;
    case 1: bytes.resize(at); break;
    case 2: bytes.erase(at, count); break;
    case 3: bytes.insert(at, bytes.substr(at, count)); break;
    case 4: bytes.insert(at, std::string(1 + below(32), static_cast<char>(below(256)))); break;
    case 5: overwrite_number(bytes); break;
    case 6: overwrite_digits(bytes); break;
    default: {  // what stands in another file
      const std::string& other = any_file();
      bytes.replace(at, count, other.substr(place_in(other), count));
    }
  }
}

// A number of one to eight bytes in either byte order, at the edges of what fits.
void Mutator::overwrite_number(std::string& bytes) {
  const std::uint64_t edges[] = {0,          1,          0x7f,        0xff,       0xffff,
                                 0x7fffffff, 0x80000000, 0xffffffff,  1ull << 40, ~0ull >> 1,
                                 1ull << 63, ~0ull,      bytes.size()};
  const std::uint64_t value = edges[below(std::size(edges))] + below(3) - 1;
  const std::size_t width = std::size_t{1} << below(4);
  const bool big_endian = below(2) == 0;
  if (bytes.size() < width) return;
  const std::size_t at = below(bytes.size() - width + 1);
  for (std::size_t i = 0; i < width; i++) {
    bytes[at + (big_endian ? width - 1 - i : i)] = static_cast<char>(value >> (8 * i));
  }
}

// A number in a text.
void Mutator::overwrite_digits(std::string& bytes) {
  const char* numbers[] = {"0",
                           "-1",
                           "1e9",
                           "2147483648",
                           "4294967296",
                           "9223372036854775807",
                           "18446744073709551615",
                           "99999999999999999999999"};
  constexpr std::string_view digits = "0123456789";
  const std::size_t begin = bytes.find_first_of(digits, place_in(bytes));
  if (begin == bytes.npos) return;
  const std::size_t end = std::min(bytes.find_first_not_of(digits, begin), bytes.size());
  bytes.replace(begin, end - begin, numbers[below(std::size(numbers))]);
}

std::vector<std::string> good_files(const std::filesystem::path& folder,
                                    std::optional<std::string_view> extension) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (extension && entry.path().extension() != *extension) continue;
    files.push_back(content_of(entry.path()));
  }
  std::ranges::sort(files);
  return files;
}

namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

MutantCounts for_each_mutant(std::vector<std::string> good_files,
                             function_ref<bool(const std::string& bytes)> read) {
  MutantCounts counts{.seed = number_from("FUZZ_SEED", 1)};
  const std::uint64_t cases = number_from("FUZZ_CASES", 500);
  EXPECT_FALSE(good_files.empty());
  Mutator mutator(std::move(good_files), counts.seed);
  while (counts.files < cases && !testing::Test::HasFailure()) {
    SCOPED_TRACE("seed " + std::to_string(counts.seed) + ", file " + std::to_string(counts.files));
    counts.files++;
    counts.read += read(mutator.next());
  }
  EXPECT_GT(counts.read, 0u);
  EXPECT_LT(counts.read, cases);
  return counts;
}

}  // namespace croze::test
