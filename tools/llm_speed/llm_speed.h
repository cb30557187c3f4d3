// llm_speed.h -- how fast a language model reads and writes, measured.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "command_line/json.h"

namespace croze {

struct LlmSpeedOptions {
  std::string model;                // GGUF file
  std::string activations = "f32";  // or int8
  std::int64_t prompt = 512, tokens = 64, parallel = 8;
  int rounds = 5;  // the median of so many counts
  // Called once in each round, behind what is measured here: another program that takes its turn.
  std::function<void()> end_of_round = [] {};
  // Arguments of this program with which, the model and --first-token or --peak behind them, it
  // prints what measure_first_token() or measure_peak() returns.
  std::vector<std::string> self_command;
};

// Tokens a second of a prompt, of one text and of several at once; launches of a token; bytes of
// weights that are read a second, beside what a sum reads; the first token of a process without and
// with compiled kernels on disk; memory.  A round measures one speed after the other, so that a
// slow moment of the machine slows all of them.  Throws Error as LanguageModel::load does, and if a
// process fails.
Json measure_llm_speed(const LlmSpeedOptions& options);

// The first token behind 16 others in this process, which has done nothing yet.
Json measure_first_token(const LlmSpeedOptions& options);

// The memory that this process, which has done nothing yet, takes to read the prompt and to write
// the tokens.
Json measure_peak(const LlmSpeedOptions& options);

}  // namespace croze
