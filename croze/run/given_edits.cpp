// given_edits.cpp -- "KERNEL: edits, KERNEL: edits".
#include "croze/run/given_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "croze/base/error.h"
#include "croze/base/hash.h"
#include "croze/base/options.h"
#include "croze/codegen/edits/edit.h"
#include "croze/codegen/estimate.h"

namespace croze {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\n"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t\n") + 1);
}

}  // namespace

std::string kernel_name(const Kernel& kernel) { return estimate(kernel.sink).name; }

std::string kernel_key(const Kernel& kernel) {
  return fmt::format("{:016x}", hash_bytes(kernel.key));
}

std::optional<std::string> given_edits(const Kernel& kernel) {
  const std::string all = Options::text(Option::Edits);
  std::string_view rest = all;
  while (!trimmed(rest).empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view entry = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t colon = entry.find(':');
    check(colon != entry.npos, "CROZE_EDITS names no kernel in '{}'", trimmed(entry));
    const std::string_view kernel_named = trimmed(entry.substr(0, colon));
    if (kernel_named != kernel_name(kernel) && kernel_named != kernel_key(kernel)) continue;
    return to_text(parse_edits(entry.substr(colon + 1)));
  }
  return {};
}

}  // namespace croze
