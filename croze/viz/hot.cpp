#include "croze/viz/hot.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace croze {
namespace {

using Counts = std::map<std::int64_t, std::int64_t>;  // by offset

// Gives the text of each offset of the disassembly, whose lines are "  1f:\tvmulps\t...".
template <typename F>
void each_instruction(std::string_view disassembly, F instruction) {
  while (!disassembly.empty()) {
    const std::string_view line = disassembly.substr(0, disassembly.find('\n'));
    disassembly.remove_prefix(std::min(line.size() + 1, disassembly.size()));
    const std::size_t first = line.find_first_not_of(' ');
    if (first == line.npos) continue;
    std::int64_t offset = 0;
    const char* const end = line.data() + line.size();
    const auto [after, error] = std::from_chars(line.data() + first, end, offset, 16);
    if (error != std::errc() || end - after < 2 || *after != ':') continue;
    instruction(offset, std::string_view(after + 2, end));
  }
}

HotKernel hot_kernel(const traces::Trace& trace, const traces::Kernel& kernel,
                     const Counts& counts) {
  HotKernel hot{.name = traces::short_name(trace.text(kernel.name)), .instructions = {}};
  std::map<std::int64_t, std::string_view> texts;
  each_instruction(trace.text(kernel.assembly), [&](std::int64_t offset, std::string_view text) {
    if (counts.contains(offset)) texts[offset] = text;
  });
  for (const auto& [offset, samples] : counts) {
    hot.samples += samples;
    hot.instructions.push_back({offset, samples, traces::short_name(texts[offset])});
  }
  std::ranges::stable_sort(hot.instructions, std::ranges::greater(), &HotInstruction::samples);
  return hot;
}

}  // namespace

std::vector<HotKernel> hot_kernels(const traces::Trace& trace) {
  std::map<traces::Number, Counts> seen;  // by kernel
  for (const traces::Samples& s : trace.samples) {
    for (const traces::Sample& place : s.places) seen[s.kernel][place.offset] += place.count;
  }
  std::vector<HotKernel> kernels;
  for (const auto& [kernel, counts] : seen) {
    kernels.push_back(hot_kernel(trace, trace.kernels[kernel], counts));
  }
  std::ranges::stable_sort(kernels, std::ranges::greater(), &HotKernel::samples);
  return kernels;
}

}  // namespace croze
