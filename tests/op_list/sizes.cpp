// sizes.cpp -- sizes are digits between the parentheses of t(2,3), b(2,3) and i(4)<5.
#include "op_list/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace croze::test {
namespace {

std::int64_t as_they_are(std::int64_t size, int) { return size; }

// Some hundred elements or more, whatever the rank.
std::int64_t odd(std::int64_t size, int rank) {
  constexpr std::int64_t factors[] = {128, 128, 8, 2};
  return size <= 1 ? size : factors[std::min(rank, 3)] * size + 3;
}

// Of most samples some tensors keep elements.
std::int64_t none(std::int64_t size, int) { return size == 2 ? 0 : size; }

constexpr Sizes variants[] = {{"as they are", as_they_are}, {"odd", odd}, {"none", none}};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Where the sizes of the next tensor begin, behind its parenthesis; npos if there is none.
std::size_t next_tensor(std::string_view text, std::size_t from) {
  for (std::size_t i = from; i + 1 < text.size(); i++) {
    const bool is_kind = text[i] == 't' || text[i] == 'b' || text[i] == 'i';
    if (is_kind && text[i + 1] == '(' && (i == 0 || !is_letter(text[i - 1]))) return i + 2;
  }
  return std::string_view::npos;
}

int greatest_rank(std::string_view call) {
  int greatest = 0;
  for (std::size_t at = 0; (at = next_tensor(call, at)) != std::string_view::npos;) {
    const std::string_view sizes = call.substr(at, call.find(')', at) - at);
    greatest = std::max(greatest, static_cast<int>(std::ranges::count(sizes, ',')) + 1);
  }
  return greatest;
}

// "2,3" with other sizes.
std::string resized_list(std::string_view sizes, const Sizes& by, int rank) {
  std::string text;
  for (std::size_t i = 0; i < sizes.size();) {
    std::int64_t size = 0;
    const std::size_t begin = i;
    for (; i < sizes.size() && is_digit(sizes[i]); i++) size = size * 10 + sizes[i] - '0';
    text += i > begin ? fmt::format("{}", by.of(size, rank)) : std::string(1, sizes[i++]);
  }
  return text;
}

}  // namespace

std::span<const Sizes> size_variants() { return variants; }

std::vector<std::string> calls_of(std::string_view samples) {
  std::vector<std::string> calls;
  for (std::size_t begin = 0; begin <= samples.size();) {
    const std::size_t end = std::min(samples.find('|', begin), samples.size());
    calls.emplace_back(samples.substr(begin, end - begin));
    begin = end + 1;
  }
  return calls;
}

std::string resized(std::string_view call, const Sizes& sizes, int least_rank) {
  // Indices below 2 may be into an axis that becomes empty.
  if (sizes.of(2, 1) == 0 && call.find(")<2") != std::string_view::npos) return {};
  const int rank = std::max(least_rank, greatest_rank(call));
  std::string text;
  std::size_t done = 0;
  for (std::size_t at = 0; (at = next_tensor(call, at)) != std::string_view::npos;) {
    const std::size_t end = call.find(')', at);
    text += call.substr(done, at - done);
    text += resized_list(call.substr(at, end - at), sizes, rank);
    done = end;
  }
  text += call.substr(done);
  return text == call && &sizes != variants ? std::string() : text;
}

}  // namespace croze::test
