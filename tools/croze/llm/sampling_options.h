// sampling_options.h -- how answers of language models are chosen, as commands have it.
#pragma once

#include <croze/llm/model/cache.h>
#include <croze/llm/model/layers.h>
#include <croze/llm/sampling/sampler.h>

#include <string>

#include "command_line/command.h"

namespace croze::tool {

// --temperature, --top-k, .. into `options`, which must live as long as the program's run.
void add_sampling_options(const Command& command, llm::SamplingOptions& options);

// --activations, the name of a type.
void add_activations_option(const Command& command, std::string& name);
llm::ActivationType activation_type_named(const std::string& name);

// --cache-type, the name of one.
void add_cache_option(const Command& command, std::string& name);
// Throws Error for another name.
llm::CacheType cache_type_named(const std::string& name);

}  // namespace croze::tool
