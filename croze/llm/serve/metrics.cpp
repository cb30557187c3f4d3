#include "croze/llm/serve/metrics.h"

#include <fmt/format.h>

namespace croze::llm::serve {

std::string metrics_text(const EngineStatistics& s) {
  std::string text;
  const auto family = [&](const char* name, const char* type, const char* help) {
    text += fmt::format("# HELP croze_{} {}\n# TYPE croze_{} {}\n", name, help, name, type);
  };
  const auto add = [&](const char* name, const char* type, const char* help, auto value) {
    family(name, type, help);
    text += fmt::format("croze_{} {}\n", name, value);
  };
  add("requests_running", "gauge", "Requests that are being answered.", s.running);
  add("requests_queued", "gauge", "Requests that wait.", s.queued);
  family("requests_total", "counter", "Requests that came to an end, by what end.");
  const std::pair<const char*, std::int64_t> ends[] = {{"answered", s.answered},
                                                       {"late", s.late},
                                                       {"cancelled", s.cancelled},
                                                       {"failed", s.failed},
                                                       {"refused", s.refused}};
  for (const auto& [end, count] : ends) {
    text += fmt::format("croze_requests_total{{end=\"{}\"}} {}\n", end, count);
  }
  add("prompt_tokens_total", "counter", "Tokens of prompts.", s.prompt_tokens);
  add("prompt_tokens_read_total", "counter", "Those that were not known from other requests.",
      s.prompt_tokens_read);
  add("answer_tokens_total", "counter", "Tokens of answers.", s.answer_tokens);
  add("prompt_seconds_total", "counter", "Time that prompts took.", s.prompt_seconds);
  add("answer_seconds_total", "counter", "Time that answers took.", s.answer_seconds);
  return text;
}

}  // namespace croze::llm::serve
