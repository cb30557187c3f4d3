// metrics.h -- counts of a server in the text form that Prometheus reads.
#pragma once

#include <string>

#include "croze/llm/serve/engine.h"

namespace croze::llm::serve {

std::string metrics_text(const EngineStatistics& statistics);

}  // namespace croze::llm::serve
