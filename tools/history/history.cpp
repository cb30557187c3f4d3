#include "history/history.h"

#include <croze/base/error.h>
#include <croze/base/file.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

namespace croze {
namespace {

namespace fs = std::filesystem;

// Members of a file from outside.
const Json& member(const Json& json, const char* name, bool (Json::*is)() const,
                   const std::string& path) {
  check(json.contains(name) && (json[name].*is)(), "{}: no {}, or not of the right kind", path,
        name);
  return json[name];
}
std::string text_of(const Json& json, const char* name, const std::string& path) {
  return member(json, name, &Json::is_text, path).get<std::string>();
}
double number_of(const Json& json, const std::string& path) {
  check(json.is_float() || json.is_integer(), "{}: {} is no number", path, json.dump());
  return json.get<double>();
}

struct Figure {
  std::string name, unit;
  bool is_less_better = true;
  std::vector<double> values;
  std::map<std::string, double> peers;
  double intensity = 0;  // operations for a byte; 0: not known
};

struct Measurement {
  std::string commit, date, subject, machine;
  bool is_changed = false;  // there were changes that were not committed
  std::vector<Figure> figures;
};

Figure figure_of(const Json& json, const std::string& path) {
  Figure figure{.name = text_of(json, "name", path), .unit = text_of(json, "unit", path)};
  figure.is_less_better = text_of(json, "better", path) == "less";
  for (const Json& value : member(json, "values", &Json::is_array, path).elements()) {
    figure.values.push_back(number_of(value, path));
  }
  check(!figure.values.empty(), "{}: {} has no values", path, figure.name);
  if (json.contains("intensity")) figure.intensity = number_of(json["intensity"], path);
  if (!json.contains("peers")) return figure;
  const Json& peers = json["peers"];
  for (const std::string& name : peers.names()) {
    figure.peers[name] = number_of(peers[name], path);
  }
  return figure;
}

Measurement measurement_of(const Json& json, const std::string& path) {
  const int version = member(json, measurement_mark, &Json::is_integer, path).get<int>();
  check(version == measurement_version, "{}: version {} of the format, where {} is known", path,
        version, measurement_version);
  Measurement m{.commit = text_of(json, "commit", path),
                .date = text_of(json, "date", path),
                .subject = text_of(json, "subject", path),
                .machine = text_of(json, "machine", path)};
  m.is_changed = member(json, "changed", &Json::is_flag, path).get<bool>();
  for (const Json& figure : member(json, "figures", &Json::is_array, path).elements()) {
    m.figures.push_back(figure_of(figure, path));
  }
  return m;
}

std::vector<Measurement> measurements_in(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  }
  check(!error, "cannot read {}: {}", folder, error.message());
  std::ranges::sort(paths);
  std::vector<Measurement> all;
  for (const std::string& path : paths) {
    const MappedFile file(path);
    const std::string_view text = as_text(file.data());
    if (text.find(fmt::format("\"{}\"", measurement_mark)) == std::string_view::npos) continue;
    all.push_back(measurement_of(Json::parse(text), path));
  }
  std::ranges::stable_sort(all, {},
                           [](const Measurement& m) { return std::pair(m.date, m.is_changed); });
  return all;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// A figure on one machine, over commits.
struct Series {
  Figure last;  // of the last point
  std::string machine;
  Json points = Json::array();
};

void add_point(Series& series, const Figure& figure, std::size_t commit) {
  const auto [least, most] = std::ranges::minmax(figure.values);
  Json point{
      {"commit", commit}, {"value", median(figure.values)}, {"least", least}, {"most", most}};
  if (!series.last.values.empty()) {
    const double worse = worsening(series.last.values, figure.values, figure.is_less_better);
    point["worsening"] = worse;
    point["regression"] = worse > regression_limit;
  }
  series.points.push_back(std::move(point));
  series.last = figure;
}

}  // namespace

double worsening(std::span<const double> before, std::span<const double> now, bool is_less_better) {
  ensure(!before.empty() && !now.empty(), "nothing was measured");
  const double worst = is_less_better ? std::ranges::max(before) : std::ranges::min(before);
  const double best = is_less_better ? std::ranges::min(now) : std::ranges::max(now);
  const double difference = is_less_better ? best - worst : worst - best;
  return worst == 0 ? 0 : difference / std::abs(worst);
}

Json history_of(const std::string& folder) {
  Json commits = Json::array(), figures = Json::array();
  std::vector<Series> all;
  std::map<std::pair<std::string, std::string>, std::size_t> places;  // by machine and name
  for (const Measurement& m : measurements_in(folder)) {
    const std::size_t commit = commits.elements().size();
    commits.push_back({{"commit", m.commit},
                       {"date", m.date},
                       {"subject", m.subject},
                       {"changed", m.is_changed},
                       {"machine", m.machine}});
    for (const Figure& figure : m.figures) {
      const auto [place, is_new] = places.try_emplace({m.machine, figure.name}, all.size());
      if (is_new) all.push_back({.machine = m.machine});
      add_point(all[place->second], figure, commit);
    }
  }
  for (Series& s : all) {
    figures.push_back({{"machine", s.machine},
                       {"name", s.last.name},
                       {"unit", s.last.unit},
                       {"better", s.last.is_less_better ? "less" : "more"},
                       {"peers", Json(s.last.peers)},
                       {"points", std::move(s.points)}});
    if (s.last.intensity > 0) figures.elements().back()["intensity"] = s.last.intensity;
  }
  return {{"commits", std::move(commits)}, {"figures", std::move(figures)}};
}

}  // namespace croze
