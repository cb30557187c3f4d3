// sampling_options.cpp -- the options that set a sampler.
#include "sampling_options.h"

namespace croze::tool {

void add_sampling_options(const Command& command, llm::SamplingOptions& options) {
  command.option("--temperature", options.temperature, "0: always the likeliest token")
      .shows_default();
  command.option("--top-k", options.top_k, "Choose among so many likely tokens; 0: all")
      .shows_default();
  command.option("--top-p", options.top_p, "Choose among tokens that are together so likely")
      .shows_default();
  command
      .option("--min-p", options.min_p, "Leave out what is less likely, relative to the likeliest")
      .shows_default();
  command
      .option("--repetition-penalty", options.repetition_penalty,
              "Divides the scores of tokens that were there")
      .shows_default();
  command
      .option("--presence-penalty", options.presence_penalty,
              "Subtracted from the scores of tokens that were there")
      .shows_default();
  command
      .option("--frequency-penalty", options.frequency_penalty,
              "The same for each time that they were there")
      .shows_default();
  command.option("--penalty-window", options.penalty_window, "How far back penalties look")
      .shows_default();
  command.option("--seed", options.seed, "Of the random draws").shows_default();
}

}  // namespace croze::tool
