// The log's one sink and the progress line that shares the terminal with it.
#include "croze/base/log.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>

#include "croze/base/options.h"
#include "croze/base/printable.h"

namespace croze {
namespace {

constexpr const char* clear_line = "\r\033[K";

void write_stderr(void*, std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fputc('\n', stderr);
}

// Where lines go, and the progress line that is on the terminal now.
struct Log {
  std::mutex mutex;
  LogSink sink = write_stderr;
  void* context = nullptr;
  std::string progress;
  std::chrono::steady_clock::time_point progress_time;
};

Log& log_state() {
  static Log& instance = *new Log;
  return instance;
}

void write_line(std::string_view line) {
  Log& log = log_state();
  std::lock_guard lock(log.mutex);
  if (!log.progress.empty()) std::fputs(clear_line, stderr);
  log.sink(log.context, line);
  if (!log.progress.empty()) std::fputs(log.progress.c_str(), stderr);
}

size_t terminal_columns() {
  winsize size{};
  bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col : 80;
}

// The longest beginning of `text` with at most `columns` characters, in whole UTF-8 sequences.
std::string_view cut(std::string_view text, size_t columns) {
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    bool starts_character = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    if (starts_character && ++characters > columns) return text.substr(0, i);
  }
  return text;
}

}  // namespace

void set_log_sink(LogSink sink, void* context) {
  Log& log = log_state();
  std::lock_guard lock(log.mutex);
  log.sink = sink != nullptr ? sink : write_stderr;
  log.context = context;
}

bool log_enabled(int level) { return Options::integer(Option::Debug) >= level; }

namespace detail {

void write_log(fmt::string_view format, fmt::format_args args) {
  write_line(fmt::vformat(format, args));
}

}  // namespace detail

void log_warning(std::string_view message) {
  write_line(fmt::format("croze: warning: {}", printable(message)));
}

void warn_of_unknown_options() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const std::string& name : Options::unknown_variables()) {
      log_warning(fmt::format("the environment variable {} is not one of croze's", name));
    }
  });
}

ProgressLine::ProgressLine() : visible_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (!visible_) return;
  Log& log = log_state();
  std::lock_guard lock(log.mutex);
  if (!log.progress.empty()) std::fputs(clear_line, stderr);
  log.progress.clear();
}

void ProgressLine::update(std::string_view text) {
  if (!visible_) return;
  Log& log = log_state();
  std::lock_guard lock(log.mutex);
  auto now = std::chrono::steady_clock::now();
  if (!log.progress.empty() && now - log.progress_time < std::chrono::milliseconds(50)) return;
  log.progress = cut(text, terminal_columns() - 1);
  log.progress_time = now;
  std::fputs(clear_line, stderr);
  std::fputs(log.progress.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace croze
