// embed.cpp -- croze embed MODEL: texts to vectors.
#include <croze/base/error.h>
#include <croze/base/file.h>
#include <croze/base/printable.h>
#include <croze/io/npy.h>
#include <croze/llm/embed/embedder.h>
#include <croze/llm/generate/language_model.h>
#include <fmt/format.h>

#include <memory>

#include "command_line/json.h"
#include "croze/commands.h"

namespace croze::tool {
namespace {

struct Settings {
  std::string model, file, output;
  std::vector<std::string> texts;
  std::int64_t context = 0;
  bool json = false;
};

std::vector<std::string> texts_of(const Settings& settings) {
  std::vector<std::string> texts = settings.texts;
  if (!settings.file.empty()) {
    const MappedFile file(settings.file);
    std::string_view rest = as_text(file.data());
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      texts.emplace_back(line);
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
  }
  check(!texts.empty(), "give --text or a file of texts, one a line");
  return texts;
}

double product(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); i++) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum;
}

// The beginning of each vector, and how near it is to that of the first text.
void print_vectors(const std::vector<std::string>& texts,
                   const std::vector<std::vector<float>>& vectors) {
  constexpr std::size_t shown = 4;
  for (std::size_t i = 0; i < texts.size(); i++) {
    std::string numbers;
    for (std::size_t k = 0; k < std::min(shown, vectors[i].size()); k++) {
      numbers += fmt::format("{:8.4f}", vectors[i][k]);
    }
    fmt::print("{:6.3f} {} ..  {}\n", product(vectors[0], vectors[i]), numbers,
               printable(texts[i]).substr(0, 60));
  }
}

void embed(const Settings& settings) {
  const std::vector<std::string> texts = texts_of(settings);
  const auto model = llm::LanguageModel::load(settings.model, {.context = settings.context});
  llm::Embedder embedder(model->transformer, settings.context);
  std::vector<std::vector<llm::TokenId>> tokens;
  for (const std::string& text : texts) tokens.push_back(model->tokenizer.encode(text));
  const std::vector<std::vector<float>> vectors = embedder.embed(tokens);
  if (!settings.output.empty()) {
    std::vector<float> all;
    for (const auto& vector : vectors) all.insert(all.end(), vector.begin(), vector.end());
    save_npy(settings.output, Tensor::from_data(all, {std::ssize(vectors), embedder.width()}));
  }
  if (settings.json) {
    fmt::print("{}\n",
               Json{{"model", model->name}, {"dimensions", embedder.width()}, {"vectors", vectors}}
                   .dump());
  } else {
    print_vectors(texts, vectors);
  }
}

}  // namespace

void add_embed(const Command& program) {
  const Command command = program.subcommand("embed", "Turn texts into vectors");
  const auto settings = std::make_shared<Settings>();
  command.option("model", settings->model, "GGUF file of an encoder").required();
  command.option("file", settings->file, "File of texts, one a line");
  command.option("--text", settings->texts, "A text; several are possible");
  command.option("--context", settings->context, "Tokens of a text; 0: the model's, at most 4096")
      .not_negative();
  command.option("--output", settings->output, "File of NumPy (.npy) for the vectors");
  command.flag("--json", settings->json, "Print one line of JSON");
  command.action([settings] { embed(*settings); });
}

}  // namespace croze::tool
