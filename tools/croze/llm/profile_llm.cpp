#include "llm/profile_llm.h"

#include <croze/io/gguf/gguf.h>
#include <croze/llm/generate/generator.h>

#include <algorithm>
#include <span>
#include <vector>

#include "command_line/temporary_folder.h"

namespace croze::tool {

TraceFile trace_of_language_model(const std::string& path, const TraceOptions& options) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/model.trace";
  const GgufFile weights = load_gguf(path);
  const llm::Transformer model(weights);
  const std::int64_t all = std::min<std::int64_t>(160, model.config().context);
  const std::int64_t prompt = all * 4 / 5;
  llm::Generator generator(model, {.context = all});
  std::vector<llm::TokenId> text;
  for (std::int64_t i = 0; i < all; i++) {
    text.push_back(static_cast<llm::TokenId>(i * 7919 % model.vocabulary()));
  }
  const std::span tokens(text);
  const auto read = [&] {
    generator.truncate(0);
    generator.read(tokens.first(static_cast<std::size_t>(prompt)));
    for (std::int64_t i = prompt; i < all; i++) {
      generator.read(tokens.subspan(static_cast<std::size_t>(i), 1));
    }
  };
  // The calls that kernels come from are noted while they are recorded, so that is traced as well,
  // to a trace that nobody reads.
  {
    const Trace recording = trace(folder.path() + "/recording.trace");
    read();
  }
  Trace tracing = trace(file, options);
  read();
  tracing.finish();
  return TraceFile(file);
}

}  // namespace croze::tool
