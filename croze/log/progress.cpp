#include "croze/log/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace croze::logs {
namespace {

std::string bar(double share) {
  constexpr int width = 24;
  std::string text;
  for (int i = 0; i < width; i++) text += i < share * width ? "━" : "─";
  return text;
}

// "59 s", "3:07", "2:03:07".
std::string clock_text(double seconds) {
  const auto all = static_cast<std::int64_t>(std::min(seconds, 1e9) + 0.5);
  if (all < 60) return fmt::format("{} s", all);
  if (all < 3600) return fmt::format("{}:{:02}", all / 60, all % 60);
  return fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
}

}  // namespace

std::string progress_text(std::string_view title, std::int64_t done, std::int64_t steps,
                          double seconds, std::string_view note) {
  std::string text(title);
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  if (steps > 0) {
    const double share = std::min(static_cast<double>(done) / static_cast<double>(steps), 1.0);
    text += fmt::format(" {} {:3.0f}%", bar(share), share * 100);
  } else {
    text += fmt::format(" {} steps", done);
  }
  if (rate > 0) text += fmt::format("  {:.1f}/s", rate);
  if (rate > 0 && steps > done) {
    text += fmt::format("  {} left", clock_text(static_cast<double>(steps - done) / rate));
  }
  if (!note.empty()) text += fmt::format("  {}", note);
  return text;
}

Progress::Progress(std::string title, std::int64_t steps)
    : title_(std::move(title)), steps_(steps), start_(std::chrono::steady_clock::now()) {}

void Progress::step(std::string_view note) {
  done_++;
  if (!visible()) return;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
  line_.update(progress_text(title_, done_, steps_, took.count(), note));
}

}  // namespace croze::logs
