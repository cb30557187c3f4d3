// history.h -- how a training went: what each step gave, and what validation did in between.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace croze::llm {

struct TrainingStep {
  float loss = 0;           // of the batch before the step, nats a token
  float gradient_norm = 0;  // before clipping
  float learning_rate = 0;
  std::optional<double> validation = {};  // after the step, nats a byte

  bool operator==(const TrainingStep&) const = default;
};

using TrainingHistory = std::vector<TrainingStep>;

// A line of names and one for each step, separated by tabs; numbers come back to the last bit.
std::string to_text(const TrainingHistory& history);
// Throws Error, naming the source, for a text that is not of this form.
TrainingHistory history_from_text(std::string_view text, const std::string& source);

}  // namespace croze::llm
