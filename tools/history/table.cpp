// table.cpp -- the last measurement of each machine, in the terminal.
#include <croze/base/printable.h>
#include <fmt/format.h>

#include <map>

#include "history/history.h"

namespace croze {
namespace {

std::string peers_text(const Json& peers) {
  std::string text;
  for (const std::string& name : peers.names()) {
    text += fmt::format("{}{} {:.4g}", text.empty() ? "" : ", ", name, peers[name].get<double>());
  }
  return text;
}

// Whether the figure got worse beyond the noise.
bool print_row(const Json& figure) {
  const auto& points = figure["points"].elements();
  const Json& last = points.back();
  const auto value = last["value"].get<double>();
  std::string before, change;
  if (points.size() > 1) {
    const auto old = points[points.size() - 2]["value"].get<double>();
    before = fmt::format("{:.4g}", old);
    if (old != 0) change = fmt::format("{:+.1f} %", (value / old - 1) * 100);
  }
  const bool is_worse = last.contains("regression") && last["regression"].get<bool>();
  fmt::print("{:<40} {:>10.4g} {:<8} {:>10.4g} {:>10.4g} {:>10} {:>9}  {}{}\n",
             printable(figure["name"].get<std::string>()), value,
             printable(figure["unit"].get<std::string>()), last["least"].get<double>(),
             last["most"].get<double>(), before, change, is_worse ? "REGRESSION  " : "",
             printable(peers_text(figure["peers"])));
  return is_worse;
}

}  // namespace

int print_last(const Json& history) {
  std::map<std::string, std::int64_t> last_commit;  // by machine
  const auto& commits = history["commits"].elements();
  for (std::size_t i = 0; i < commits.size(); i++) {
    last_commit[commits[i]["machine"].get<std::string>()] = static_cast<std::int64_t>(i);
  }
  int regressions = 0;
  for (const auto& [machine, number] : last_commit) {
    const Json& commit = commits[static_cast<std::size_t>(number)];
    fmt::print("{}\n{}{}  {}\n", printable(machine),
               printable(commit["commit"].get<std::string>().substr(0, 12)),
               commit["changed"].get<bool>() ? " and changes" : "",
               printable(commit["subject"].get<std::string>()));
    fmt::print("{:<40} {:>10} {:<8} {:>10} {:>10} {:>10} {:>9}  {}\n", "", "median", "", "least",
               "most", "before", "change", "peers");
    for (const Json& figure : history["figures"].elements()) {
      if (figure["machine"].get<std::string>() != machine) continue;
      if (figure["points"].elements().back()["commit"].get<std::int64_t>() != number) continue;
      regressions += print_row(figure);
    }
  }
  return regressions;
}

}  // namespace croze
