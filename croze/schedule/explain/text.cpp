// text.cpp -- an explanation as tables.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>

#include "croze/schedule/explain/explanation.h"

namespace croze {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

std::string in_bytes(std::int64_t bytes) {
  const auto count = static_cast<double>(bytes);
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", count * 1e-3);
  return fmt::format("{:.1f} MB", count * 1e-6);
}

std::string in_cycles(double cycles) {
  return cycles < 1e6 ? fmt::format("{:.1f} k", cycles * 1e-3)
                      : fmt::format("{:.1f} M", cycles * 1e-6);
}

std::string shape_text(const ExplainedBuffer& b) {
  return fmt::format("{} ({})", name_of(b.dtype), fmt::join(b.shape, ", "));
}

// "3 5 7", "3 5 7 and 12 more".
std::string list(const std::vector<int>& numbers) {
  constexpr std::size_t most = 6;
  const auto shown = std::min(numbers.size(), most);
  std::string text = fmt::format(
      "{}", fmt::join(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(shown), " "));
  if (shown < numbers.size()) text += fmt::format(" and {} more", numbers.size() - shown);
  return text;
}

std::string nests_text(const ExplainedLaunch& launch) {
  if (launch.nests.empty()) return "copy";
  const std::size_t others = launch.nests.size() - 1;
  return others == 0 ? launch.nests[0] : fmt::format("{} +{}", launch.nests[0], others);
}

std::string kind_text(const ExplainedBuffer& b) {
  switch (b.kind) {
    case ExplainedBuffer::Kind::Input: return "input";
    case ExplainedBuffer::Kind::Result: return "result";
    case ExplainedBuffer::Kind::Temporary: return "temporary";
    case ExplainedBuffer::Kind::Block: return "of a block";
  }
  return "";
}

std::string lifetime_text(const ExplainedBuffer& b) {
  if (b.first < 0) return "unused";
  return b.first == b.last ? fmt::format("{}", b.first) : fmt::format("{}..{}", b.first, b.last);
}

void append_totals(std::string& text, const Explanation& e) {
  std::size_t nests = 0;
  std::int64_t bytes = 0;
  double cycles = 0;
  for (const ExplainedLaunch& l : e.launches) {
    nests += l.nests.size();
    bytes += l.bytes;
    cycles += l.cycles;
  }
  text += fmt::format("{} launches of {} loop nests: {} read and written, {} cycles estimated\n",
                      e.launches.size(), nests, in_bytes(bytes), in_cycles(cycles));
  text += fmt::format("memory: inputs {}, results {}", in_bytes(e.input_bytes),
                      in_bytes(e.result_bytes));
  for (const ExplainedPeak& p : e.peaks) {
    text += fmt::format(", temporaries of {} {}, of which {} alive at once", p.device,
                        in_bytes(p.arena_bytes), in_bytes(p.bytes));
  }
  text += "\n";
}

void append_launches(std::string& text, const Explanation& e) {
  text += fmt::format("\n{:>6}  {:>9}  {:>9}  {:>9}  {}\n", "launch", "bytes", "cycles", "alive",
                      "kernel: buffers read -> written");
  for (std::size_t i = 0; i < e.launches.size(); i++) {
    const ExplainedLaunch& l = e.launches[i];
    text += fmt::format("{:>6}  {:>9}  {:>9}  {:>9}  {}: {} -> {}\n", i, in_bytes(l.bytes),
                        in_cycles(l.cycles), in_bytes(l.alive_bytes), nests_text(l), list(l.reads),
                        list(l.writes));
  }
}

std::string row_of(const Explanation& e, int number) {
  const ExplainedBuffer& b = e.buffers[index(number)];
  return fmt::format("{:>6}  {:>9}  {:>9}  {:>10}  {}{}{}\n", number, in_bytes(b.bytes),
                     lifetime_text(b), kind_text(b), shape_text(b),
                     b.call.empty() ? "" : ", " + b.call, b.why.empty() ? "" : ": " + b.why);
}

void append_heading(std::string& text) {
  text += fmt::format("{:>6}  {:>9}  {:>9}  {:>10}  {}\n", "buffer", "bytes", "launches", "kind",
                      "what it holds, and why it is there");
}

// What came in needs no reason, and what no launch uses has vanished into nests.
void append_buffers(std::string& text, const Explanation& e) {
  std::vector<int> made;
  for (std::size_t i = 0; i < e.buffers.size(); i++) {
    const ExplainedBuffer& b = e.buffers[i];
    if (b.kind != ExplainedBuffer::Kind::Input && b.first >= 0) made.push_back(static_cast<int>(i));
  }
  std::ranges::stable_sort(made, {}, [&](int b) { return e.buffers[index(b)].first; });
  text += "\n";
  append_heading(text);
  for (int b : made) text += row_of(e, b);
}

void append_peak(std::string& text, const Explanation& e, const ExplainedPeak& p) {
  text += fmt::format("\npeak of {}: {} at launch {} ({}), in an arena of {}\n", p.device,
                      in_bytes(p.bytes), p.launch, nests_text(e.launches[index(p.launch)]),
                      in_bytes(p.arena_bytes));
  append_heading(text);
  for (int b : p.buffers) text += row_of(e, b);
}

}  // namespace

std::string to_text(const Explanation& explanation) {
  std::string text;
  append_totals(text, explanation);
  append_launches(text, explanation);
  append_buffers(text, explanation);
  for (const ExplainedPeak& p : explanation.peaks) append_peak(text, explanation, p);
  return text;
}

}  // namespace croze
