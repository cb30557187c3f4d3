#include "croze/viz/exports.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "croze/viz/events.h"

namespace croze {
namespace {

// Pieces of the text are handed on when they are worth it.
class Pieces {
 public:
  explicit Pieces(TextSink sink) : sink_(sink) {}
  ~Pieces() = default;
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    if (text_.size() > (1 << 16)) flush();
  }
  void flush() {
    sink_(text_);
    text_.clear();
  }

 private:
  TextSink sink_;
  std::string text_;
};

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// ---- Chrome -----------------------------------------------------------------------------------

double microseconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-3; }

void add_events(const traces::Trace& trace, Pieces& out) {
  const EventRows events = event_rows(trace);
  std::vector<std::string> names;
  for (const std::string& name : events.names) names.push_back(json_text(name));
  for (std::size_t row = 0; row < events.rows.size(); row++) {
    out.add(
        ",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{},\"name\":\"thread_name\",\"args\":{{\"name\":{}}}}"
        "}",
        row + 1, json_text(traces::short_name(trace.text(trace.rows[row].name))));
    for (const TraceEvent& e : events.rows[row]) {
      out.add(",\n{{\"ph\":\"X\",\"pid\":1,\"tid\":{},\"name\":{},\"ts\":{:.3f},\"dur\":{:.3f}",
              row + 1, names[e.name], microseconds(e.start), microseconds(e.duration));
      if (e.is_launch) {
        const traces::PlannedLaunch& l = planned(trace, trace.launches[e.number]);
        out.add(",\"cat\":\"kernel\",\"args\":{{\"flops\":{},\"bytes\":{}}}", l.flops, l.bytes);
      } else {
        out.add(",\"cat\":\"host\"");
      }
      out.add("}}");
    }
  }
}

void add_memory(const traces::Trace& trace, Pieces& out) {
  std::map<std::string_view, std::int64_t> bytes;
  for (const MemoryChange& c : memory_changes(trace)) {
    // Sums of what a file claims may not fit: they saturate.
    std::int64_t& now = bytes[c.device];
    if (__builtin_add_overflow(now, c.bytes, &now)) now = c.bytes > 0 ? INT64_MAX : INT64_MIN;
    out.add(",\n{{\"ph\":\"C\",\"pid\":1,\"name\":{},\"ts\":{:.3f},\"args\":{{\"bytes\":{}}}}}",
            json_text(fmt::format("memory of {}", traces::short_name(c.device))),
            microseconds(c.time), now);
  }
}

// ---- folded stacks ----------------------------------------------------------------------------

// A name inside of a stack: without what separates them.
std::string folded(std::string_view name) {
  std::string text(name.empty() ? "?" : name);
  for (char& c : text) {
    if (c == ';' || c == '\n' || c == '\r') c = ',';
  }
  return text;
}

class Folding {
 public:
  Folding(const EventRows& events, std::string row) : events_(events), row_(std::move(row)) {}

  void add(const TraceEvent& e) {
    while (!open_.empty() && open_.back().end <= e.start) close();
    if (open_.size() == max_depth) return;  // its time is that of what it is inside of
    const auto duration = static_cast<double>(e.duration);
    if (!open_.empty()) open_.back().self -= duration;
    open_.push_back({e.start + e.duration, duration, path_.size()});
    path_ += ';';
    path_ += folded(events_.names[e.name]);
  }
  void close_all() {
    while (!open_.empty()) close();
  }
  // Time of each stack, which is not negative.
  const std::map<std::string, double>& stacks() const { return stacks_; }

 private:
  static constexpr std::size_t max_depth = 64;
  struct Open {
    std::int64_t end;
    double self;       // nanoseconds, without what is inside
    std::size_t path;  // how long it was before
  };

  void close() {
    const Open& last = open_.back();
    if (last.self > 0) stacks_[row_ + path_] += last.self;
    path_.resize(last.path);
    open_.pop_back();
  }

  const EventRows& events_;
  std::string row_, path_;
  std::vector<Open> open_;
  std::map<std::string, double> stacks_;
};

}  // namespace

void write_chrome_trace(const traces::Trace& trace, TextSink sink) {
  Pieces out(sink);
  out.add("{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  out.add("{{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{{\"name\":{}}}}}",
          json_text(trace.fact("program")));
  add_events(trace, out);
  add_memory(trace, out);
  out.add("\n]}}\n");
  out.flush();
}

void write_folded_stacks(const traces::Trace& trace, TextSink sink) {
  Pieces out(sink);
  const EventRows events = event_rows(trace);
  for (std::size_t row = 0; row < events.rows.size(); row++) {
    Folding folding(events, folded(traces::short_name(trace.text(trace.rows[row].name))));
    for (const TraceEvent& e : events.rows[row]) folding.add(e);
    folding.close_all();
    for (const auto& [stack, ns] : folding.stacks()) out.add("{} {:.0f}\n", stack, ns);
  }
  out.flush();
}

}  // namespace croze
