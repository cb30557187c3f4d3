// compare.cpp -- what is different between two records of a graph.
#include "replay/compare.h"

#include <fmt/format.h>

#include <map>

#include "croze/base/error.h"

namespace croze::replay {
namespace {

using KernelId = std::pair<std::string, bool>;

std::map<KernelId, KernelRecord> by_id(const GraphRecord& record) {
  std::map<KernelId, KernelRecord> kernels;
  for (const KernelRecord& k : record.kernels) kernels.emplace(KernelId(k.key, k.in_blocks), k);
  return kernels;
}

// "200 -> 150 (-25.0%)"
std::string change(std::int64_t before, std::int64_t after) {
  const std::string text = fmt::format("{} -> {}", before, after);
  if (before == 0) return text;
  const double part = static_cast<double>(after - before) / static_cast<double>(before);
  return text + fmt::format(" ({:+.1f}%)", 100 * part);
}

std::string title_of(const KernelRecord& k) {
  return fmt::format("{} {}{}", k.name, k.key, k.in_blocks ? " in blocks" : "");
}

std::string line_of(char mark, const KernelRecord& k) {
  return fmt::format("  {} {}: {} nests, {} flops, {} bytes, {} cycles\n", mark, title_of(k),
                     k.nests, k.flops, k.bytes, k.cycles);
}

std::string line_of(const Difference::Kernel& k) {
  std::string text = fmt::format("  ~ {}:", title_of(k.after));
  const auto number = [&](const char* name, std::int64_t before, std::int64_t after) {
    if (before != after) text += fmt::format(" {} {},", name, change(before, after));
  };
  number("nests", k.before.nests, k.after.nests);
  number("flops", k.before.flops, k.after.flops);
  number("bytes", k.before.bytes, k.after.bytes);
  number("cycles", k.before.cycles, k.after.cycles);
  if (k.before.program != k.after.program) text += " another program,";
  text.back() = '\n';
  if (k.before.edits != k.after.edits) {
    text += fmt::format("      before: {}\n      after:  {}\n", k.before.edits, k.after.edits);
  }
  return text;
}

Json json_of(const std::vector<KernelRecord>& kernels) {
  Json list = Json::array();
  for (const KernelRecord& k : kernels) list.push_back(json_of(k));
  return list;
}

}  // namespace

bool Difference::any() const {
  return !is_recorded || before != after || !disappeared.empty() || !appeared.empty() ||
         !changed.empty();
}

Difference difference(const GraphRecord& before, const GraphRecord& after) {
  check(before.machine == after.machine,
        "the record of {} is of another machine ({}, now {}): record anew", before.name,
        before.machine, after.machine);
  Difference d{.graph = after.name, .before = before.totals, .after = after.totals};
  std::map<KernelId, KernelRecord> known = by_id(before);
  for (const KernelRecord& k : after.kernels) {
    const auto found = known.find({k.key, k.in_blocks});
    if (found == known.end()) {
      d.appeared.push_back(k);
      continue;
    }
    if (found->second != k) d.changed.push_back({found->second, k});
    known.erase(found);
  }
  for (const KernelRecord& k : before.kernels) {
    if (known.contains({k.key, k.in_blocks})) d.disappeared.push_back(k);
  }
  return d;
}

Difference new_graph(const GraphRecord& after) {
  return {
      .graph = after.name, .is_recorded = false, .after = after.totals, .appeared = after.kernels};
}

std::string to_text(const Totals& before, const Totals& after) {
  std::string text;
  for (const auto& [name, member] : total_members) {
    if (before.*member == after.*member) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name,
                        change(before.*member, after.*member));
  }
  return text.empty() ? "the same totals" : text;
}

std::string to_text(const Difference& d) {
  if (!d.is_recorded) return fmt::format("{}: not in the record\n", d.graph);
  std::string text = fmt::format("{}: {}\n", d.graph, to_text(d.before, d.after));
  for (const KernelRecord& k : d.disappeared) text += line_of('-', k);
  for (const KernelRecord& k : d.appeared) text += line_of('+', k);
  for (const Difference::Kernel& k : d.changed) text += line_of(k);
  return text;
}

Json json_of(const Difference& d) {
  Json changed = Json::array();
  for (const Difference::Kernel& k : d.changed) {
    changed.push_back({{"before", json_of(k.before)}, {"after", json_of(k.after)}});
  }
  return {{"graph", d.graph},
          {"before", d.is_recorded ? json_of(d.before) : Json()},
          {"after", json_of(d.after)},
          {"disappeared", json_of(d.disappeared)},
          {"appeared", json_of(d.appeared)},
          {"changed", std::move(changed)}};
}

void add(Totals& totals, const Totals& more) {
  for (const auto& [name, member] : total_members) totals.*member += more.*member;
}

}  // namespace croze::replay
