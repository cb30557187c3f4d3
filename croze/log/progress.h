// progress.h -- how far a loop has come, as a line in the terminal.
//
//     logs::Progress progress("epoch 1/4", batches.size());
//     for (const auto& batch : batches) {
//       ...
//       progress.step("loss 0.31");
//     }
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "croze/base/log.h"

namespace croze::logs {

// The line is rewritten in place, at most 20 times a second, and gone when the loop ends.  Where
// standard error is not a terminal nothing is written.
class Progress {
 public:
  // `steps`: how many there will be; 0 if nobody knows.
  explicit Progress(std::string title, std::int64_t steps = 0);

  // One more step is done; `note` says what it gave.
  void step(std::string_view note = {});

  // Whether anybody sees it: if not, no note need be made.
  bool visible() const { return line_.visible(); }

 private:
  std::string title_;
  std::int64_t steps_, done_ = 0;
  std::chrono::steady_clock::time_point start_;
  ProgressLine line_;
};

// The line after `done` steps in so many seconds: title, bar, share, steps a second, the time that
// is left, and the note.
std::string progress_text(std::string_view title, std::int64_t done, std::int64_t steps,
                          double seconds, std::string_view note);

}  // namespace croze::logs
