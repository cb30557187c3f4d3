// Log lines, warnings and the progress line: all that croze says outside its results goes through
// here to one sink, standard error unless the program sets another.
#pragma once

#include <fmt/core.h>

#include <string_view>

namespace croze {

// Receives whole lines without the newline, one at a time, from any thread.
using LogSink = void (*)(void* context, std::string_view line);

// Sends all lines to `sink`; null restores standard error.
void set_log_sink(LogSink sink, void* context);

// Whether CROZE_DEBUG is at least `level`.  Ask before collecting what log_line would say.
bool log_enabled(int level);

namespace detail {
void write_log(fmt::string_view format, fmt::format_args args);
}

// Writes a line if CROZE_DEBUG is at least `level`.
template <typename... Args>
void log_line(int level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) detail::write_log(format, fmt::make_format_args(args...));
}

// Writes a line that begins with "croze: warning: ", at every level.
void log_warning(std::string_view message);

// Warns, once a process, of variables named CROZE_* that croze does not know.
void warn_of_unknown_options();

// A line on a terminal's standard error that is rewritten in place while long work goes on, and
// that log lines do not tear.  Does nothing where standard error is not a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Shows `text`, cut to the width of the terminal; at most 20 times a second, so call it freely.
  void update(std::string_view text);

  // Whether anybody sees it.
  bool visible() const { return visible_; }

 private:
  bool visible_;
};

}  // namespace croze
