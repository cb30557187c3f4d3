// text_scores.h -- the scores of several texts, most of which come from one step.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace croze::llm {

// The rows of the last step stay where the step has put them.  They are copied only for texts that
// the next step leaves out.
class TextScores {
 public:
  TextScores(std::size_t texts, std::size_t vocabulary) : vocabulary_(vocabulary), kept_(texts) {}

  // Where a step puts its rows, the first ones of those texts, the others of none.
  std::span<float> rows_of(std::vector<std::size_t> texts, std::size_t rows);
  // Nothing if there are none.
  std::span<const float> of(std::size_t text) const;
  void forget(std::size_t text);

 private:
  std::size_t vocabulary_;
  std::vector<std::size_t> texts_;        // of the last step, by row
  std::vector<float> rows_;               // of the last step
  std::vector<std::vector<float>> kept_;  // of steps before, by text
};

}  // namespace croze::llm
