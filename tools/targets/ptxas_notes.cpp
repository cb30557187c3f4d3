#include "targets/ptxas_notes.h"

#include <algorithm>
#include <charconv>

namespace croze::targets {
namespace {

// The number that ends before `words`, or 0.
int number_before(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos) return 0;
  std::size_t first = at;
  while (first > 0 && line[first - 1] >= '0' && line[first - 1] <= '9') first--;
  int number = 0;
  std::from_chars(line.data() + first, line.data() + at, number);
  return number;
}

// What stands between the first two quotes behind `words`; empty if there are none.
std::string_view quoted_after(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos) return {};
  const std::size_t open = line.find('\'', at);
  if (open == std::string_view::npos) return {};
  return line.substr(open + 1, line.find('\'', open + 1) - open - 1);
}

}  // namespace

std::vector<KernelUse> kernel_uses(std::string_view notes) {
  std::vector<KernelUse> uses;
  while (!notes.empty()) {
    const std::string_view line = notes.substr(0, notes.find('\n'));
    notes.remove_prefix(std::min(line.size() + 1, notes.size()));
    if (const std::string_view name = quoted_after(line, "Compiling entry function");
        !name.empty()) {
      uses.push_back({.name = std::string(name)});
    }
    if (uses.empty()) continue;
    KernelUse& use = uses.back();
    use.stack_bytes += number_before(line, " bytes stack frame");
    use.spill_stores += number_before(line, " bytes spill stores");
    use.spill_loads += number_before(line, " bytes spill loads");
    use.registers += number_before(line, " registers,");
  }
  return uses;
}

}  // namespace croze::targets
