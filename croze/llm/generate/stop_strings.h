// stop_strings.h -- finds the texts at which an answer ends, while it arrives in pieces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace croze::llm {

// How many bytes at the end of `text` are the beginning of `stop`, which is not in it.
std::size_t begun(std::string_view text, std::string_view stop);

class StopStrings {
 public:
  // Empty texts stop nothing.
  explicit StopStrings(std::vector<std::string> stops);

  // What can be shown of all that was pushed and not given out: up to the first of the texts, and
  // nothing that could be the beginning of one.
  std::string push(std::string_view text);
  // What was held back, since nothing will follow.
  std::string finish();
  // Whether one of the texts was found.  Nothing is given out any more.
  bool is_stopped() const { return is_stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool is_stopped_ = false;
};

}  // namespace croze::llm
