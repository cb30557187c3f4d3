// dependencies.cpp -- what was noted, memory by memory.
#include "croze/backends/opencl/dependencies.h"

#include <algorithm>

namespace croze::opencl {
namespace {

bool overlap(const Access& a, const Access& b) { return a.begin < b.end && b.begin < a.end; }

}  // namespace

std::vector<std::size_t> Dependencies::of(std::span<const Access> accesses) const {
  std::vector<std::size_t> commands;
  for (const Access& a : accesses) {
    const auto found = noted_.find(a.memory);
    if (found == noted_.end()) continue;
    for (const Noted& n : found->second) {
      if ((a.writes || n.access.writes) && overlap(a, n.access)) commands.push_back(n.command);
    }
  }
  std::ranges::sort(commands);
  commands.erase(std::ranges::unique(commands).begin(), commands.end());
  return commands;
}

// Who comes after a write of the same bytes waits for it, and so for all that it waited for.
void Dependencies::note(std::size_t command, std::span<const Access> accesses) {
  for (const Access& a : accesses) {
    std::vector<Noted>& noted = noted_[a.memory];
    if (a.writes) {
      std::erase_if(noted, [&](const Noted& n) {
        return n.command != command && a.begin <= n.access.begin && n.access.end <= a.end;
      });
    }
    noted.push_back({a, command});
  }
}

}  // namespace croze::opencl
