// size_text.cpp -- from steps in postfix order to text.
#include "croze/export/size_text.h"

#include <fmt/format.h>

#include <iterator>
#include <sstream>
#include <utility>

namespace croze::exporting {
namespace {

std::string variable(const OpenSize& size) {
  return size.multiple == 1 ? size.name : fmt::format("({} / {})", size.name, size.multiple);
}

// A size is a multiple, so what was divided by that and is multiplied again is the size.
std::string product(const std::string& a, const std::string& b,
                    std::span<const OpenSize> parameters) {
  for (const OpenSize& size : parameters) {
    if (a == variable(size) && b == std::to_string(size.multiple)) return size.name;
  }
  return fmt::format("({} * {})", a, b);
}

}  // namespace

std::vector<std::string> words_of(const LaunchSize& size) {
  std::istringstream text(size.text());
  return {std::istream_iterator<std::string>(text), {}};
}

// Words stand behind what they work on; a stack of texts puts them between.
std::string size_text(const LaunchSize& size, std::span<const OpenSize> parameters,
                      const SizeFunctions& functions) {
  std::vector<std::string> stack;
  for (const std::string& word : words_of(size)) {
    if (word[0] == 'v') {
      stack.push_back(variable(parameters[static_cast<std::size_t>(std::stoi(word.substr(1)))]));
      continue;
    }
    if (word.size() > 1 || (word[0] >= '0' && word[0] <= '9')) {
      stack.push_back(word);
      continue;
    }
    const std::string b = std::move(stack.back());
    stack.pop_back();
    std::string& a = stack.back();
    switch (word[0]) {
      case '*': a = product(a, b, parameters); break;
      case '/': a = fmt::format("{}({}, {})", functions.divide, a, b); break;
      case '%': a = fmt::format("{}({}, {})", functions.remainder, a, b); break;
      case '>': a = fmt::format("{}({}, {})", functions.greater, a, b); break;
      case '<': a = fmt::format("{}({}, {})", functions.lesser, a, b); break;
      default: a = fmt::format("({} {} {})", a, word, b); break;
    }
  }
  return stack.back();
}

}  // namespace croze::exporting
