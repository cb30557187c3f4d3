#include "llm/profile_llm.h"

#include <croze/io/gguf/gguf.h>
#include <croze/llm/generate/generator.h>
#include <croze/run/trace/trace.h>

#include <span>
#include <vector>

#include "command_line/temporary_folder.h"

namespace croze::tool {

TraceFile trace_of_language_model(const std::string& path) {
  constexpr std::int64_t prompt = 128, tokens = 32;
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/model.trace";
  const GgufFile weights = load_gguf(path);
  const llm::Transformer model(weights);
  llm::Generator generator(model, {.context = prompt + tokens});
  std::vector<llm::TokenId> text;
  for (std::int64_t i = 0; i < prompt + tokens; i++) {
    text.push_back(static_cast<llm::TokenId>(i * 7919 % model.vocabulary()));
  }
  const std::span all(text);
  const auto read = [&] {
    generator.truncate(0);
    generator.read(all.first(prompt));
    for (std::int64_t i = prompt; i < prompt + tokens; i++) {
      generator.read(all.subspan(static_cast<std::size_t>(i), 1));
    }
  };
  // The calls that kernels come from are noted while they are recorded, so that is traced as well,
  // to a trace that nobody reads.
  {
    const Trace recording = trace(folder.path() + "/recording.trace");
    read();
  }
  Trace tracing = trace(file);
  read();
  tracing.finish();
  return TraceFile(file);
}

}  // namespace croze::tool
