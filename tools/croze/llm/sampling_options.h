// sampling_options.h -- how answers of language models are chosen, as commands have it.
#pragma once

#include <croze/llm/sampling/sampler.h>

#include "command_line/command.h"

namespace croze::tool {

// --temperature, --top-k, .. into `options`, which must live as long as the program's run.
void add_sampling_options(const Command& command, llm::SamplingOptions& options);

}  // namespace croze::tool
