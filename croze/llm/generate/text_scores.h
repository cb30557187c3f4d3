// text_scores.h -- the scores of several texts, most of which come from one step.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "croze/tensor/tensor.h"

namespace croze::llm {

// The rows of the last step stay where the step has put them, and are let go of before the next,
// which may take their memory.  They are copied only for texts that it leaves out.
class TextScores {
 public:
  TextScores(std::size_t texts, std::size_t vocabulary) : vocabulary_(vocabulary), kept_(texts) {}

  // A step is about to give rows, the first ones of those texts, the others of none; and it has.
  void expect(std::vector<std::size_t> texts);
  void take(Elements<float> rows) { rows_ = std::move(rows); }
  // Nothing if there are none.
  std::span<const float> of(std::size_t text) const;
  void forget(std::size_t text);

 private:
  std::size_t vocabulary_;
  std::vector<std::size_t> texts_;        // of the last step, by row
  Elements<float> rows_;                  // of the last step
  std::vector<std::vector<float>> kept_;  // of steps before, by text
};

}  // namespace croze::llm
