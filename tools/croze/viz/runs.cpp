#include "viz/runs.h"

#include <croze/base/base64.h>
#include <croze/base/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "command_line/json.h"

namespace croze::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 10'000;
constexpr std::int64_t most_bytes_at_once = 8 << 20;  // of events that are handed out

Json json_of(const logs::Histogram& h) {
  return {
      {"least", h.least}, {"most", h.most}, {"limits", Json(h.limits)}, {"counts", Json(h.counts)}};
}

Json json_of(const logs::Picture& p) {
  return {{"height", p.height},
          {"width", p.width},
          {"png", to_base64(std::as_bytes(std::span(p.png)))}};
}

Json json_of(std::size_t run, const logs::Event& e) {
  Json json{{"run", run}, {"step", e.step}, {"time", e.time}, {"tag", e.tag}};
  if (const auto* scalar = std::get_if<double>(&e.value)) json["scalar"] = *scalar;
  if (const auto* h = std::get_if<logs::Histogram>(&e.value)) json["histogram"] = json_of(*h);
  if (const auto* p = std::get_if<logs::Picture>(&e.value)) json["image"] = json_of(*p);
  if (const auto* text = std::get_if<std::string>(&e.value)) json["text"] = *text;
  return json;
}

// About what it takes as JSON.
std::int64_t bytes_of(const logs::Event& e) {
  std::int64_t bytes = 100 + std::ssize(e.tag);
  if (const auto* h = std::get_if<logs::Histogram>(&e.value)) bytes += 40 * std::ssize(h->limits);
  if (const auto* p = std::get_if<logs::Picture>(&e.value)) bytes += 4 * std::ssize(p->png) / 3;
  if (const auto* text = std::get_if<std::string>(&e.value)) bytes += std::ssize(*text);
  return bytes;
}

}  // namespace

RunFolder::RunFolder(std::string folder) : folder_(std::move(folder)) {
  check(fs::is_directory(folder_), "{} is no folder", folder_);
}

void RunFolder::add_fault(std::string text) {
  if (std::ranges::find(faults_, text) == faults_.end()) faults_.push_back(std::move(text));
}

// A folder is a run, whose name is the way to it.  Links are not followed.
void RunFolder::find_files() {
  std::error_code error;
  fs::recursive_directory_iterator at(folder_, fs::directory_options::skip_permission_denied,
                                      error);
  std::vector<std::string> paths;
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at.depth() >= 16) at.disable_recursion_pending();
    const fs::path& path = at->path();
    std::error_code is_none;
    if (!logs::is_event_file_name(path.filename().string()) || !at->is_regular_file(is_none)) {
      continue;
    }
    if (!files_.contains(path.string())) paths.push_back(path.string());
    if (files_.size() + paths.size() >= most_files) {
      add_fault(fmt::format("{} holds more than {} event files", folder_, most_files));
      break;
    }
  }
  if (error) add_fault(fmt::format("cannot read {}: {}", folder_, error.message()));
  std::ranges::sort(paths);
  for (const std::string& path : paths) {
    const std::string name = fs::path(path).parent_path().lexically_relative(folder_).string();
    const auto run = std::ranges::find(runs_, name) - runs_.begin();
    if (run == std::ssize(runs_)) runs_.push_back(name);
    File& file = files_[path];
    file.run = static_cast<std::size_t>(run);
    try {
      file.reader = std::make_unique<logs::EventFile>(path);
    } catch (const Error& e) {
      add_fault(e.message());
    }
  }
}

void RunFolder::read_files() {
  may_be_more_ = false;
  for (auto& [path, file] : files_) {
    if (!file.reader) continue;
    std::vector<logs::Event> events;
    try {
      if (file.reader->read_more(events)) may_be_more_ = true;
    } catch (const Error& e) {
      add_fault(e.message());
      file.reader.reset();
    }
    for (logs::Event& event : events) entries_.push_back({file.run, std::move(event)});
  }
}

std::string RunFolder::text_of(std::int64_t from, std::int64_t end) const {
  Json events = Json::array();
  for (std::int64_t i = from; i < end; i++) {
    const Entry& entry = entries_[static_cast<std::size_t>(i)];
    events.push_back(json_of(entry.run, entry.event));
  }
  return Json{{"folder", folder_},
              {"next", end},
              {"more", end < std::ssize(entries_) || may_be_more_},
              {"runs", Json(runs_)},
              {"faults", Json(faults_)},
              {"events", std::move(events)}}
      .dump();
}

std::string RunFolder::events(std::int64_t from) {
  const std::scoped_lock lock(mutex_);
  find_files();
  if (from >= std::ssize(entries_)) read_files();
  from = std::min(from, std::ssize(entries_));
  std::int64_t end = from;
  for (std::int64_t bytes = 0; end < std::ssize(entries_) && bytes < most_bytes_at_once; end++) {
    bytes += bytes_of(entries_[static_cast<std::size_t>(end)].event);
  }
  return text_of(from, end);
}

std::string RunFolder::all_events() {
  const std::scoped_lock lock(mutex_);
  find_files();
  do {
    read_files();
  } while (may_be_more_);
  return text_of(0, std::ssize(entries_));
}

}  // namespace croze::tool
