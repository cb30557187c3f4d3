// sampling_options.cpp -- the options that set a sampler.
#include "sampling_options.h"

#include <croze/base/error.h>
#include <croze/base/printable.h>

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

void add_activations_option(const Command& command, std::string& name) {
  command
      .option("--activations", name,
              "How tokens are multiplied with packed weights: int8, or f32, slower, exact")
      .one_of({"f32", "int8"})
      .shows_default();
}

llm::ActivationType activation_type_named(const std::string& name) {
  return name == "int8" ? llm::ActivationType::Int8 : llm::ActivationType::Float32;
}

void add_cache_option(const Command& command, std::string& name) {
  command
      .option("--cache-type", name,
              "How keys and values are kept: f32, f16, bf16, or q8_0, which takes half of f16")
      .shows_default();
}

llm::CacheType cache_type_named(const std::string& name) {
  const auto type = llm::cache_type_of(name);
  check(type.has_value(), "--cache-type {}: f32, f16, bf16 and q8_0 are known", shortened(name));
  return *type;
}

}  // namespace croze::tool
