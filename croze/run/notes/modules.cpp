#include "croze/run/notes/modules.h"

#include <algorithm>
#include <utility>

namespace croze {

std::string common_module(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return std::string(a.empty() ? b : a);
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t same = 0;  // whole components
  for (std::size_t i = 0; i <= most; i++) {
    const bool ends_a = i == a.size() || a[i] == '.', ends_b = i == b.size() || b[i] == '.';
    if (ends_a && ends_b) same = i;
    if (i == most || a[i] != b[i]) break;
  }
  return same == 0 ? std::string(whole_model) : std::string(a.substr(0, same));
}

std::string module_of(std::string_view name) {
  if (name.empty()) return {};
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? std::string(whole_model)
                                                   : std::string(name.substr(0, dot));
}

const std::string& Modules::of(UOp node) const {
  static const std::string none;
  const std::size_t* place = places_.find(node.node());
  return place ? entries_[*place].module : none;
}

void Modules::add_buffer(UOp buffer, const std::string& name) {
  places_.insert(buffer.node(), entries_.size());
  entries_.push_back({module_of(name), !name.empty(), true});
}

// Parameters among the sources decide; constants do not count.
void Modules::add(UOp node) {
  Entry entry{.module = {}, .is_parameter = true};
  bool with_parameter = false;
  for (UOp s : node.sources()) {
    const std::size_t* place = places_.find(s.node());
    if (!place || !entries_[*place].depends) continue;
    const Entry& source = entries_[*place];
    entry.depends = true;
    entry.is_parameter = entry.is_parameter && source.is_parameter;
    if (source.is_parameter && !std::exchange(with_parameter, true)) entry.module.clear();
    if (source.is_parameter == with_parameter) {
      entry.module = common_module(entry.module, source.module);
    }
  }
  entry.is_parameter = entry.is_parameter && entry.depends;
  places_.insert(node.node(), entries_.size());
  entries_.push_back(std::move(entry));
}

}  // namespace croze
