// A language model answers: answer MODEL.gguf "What is 6 * 7?"
#include <croze/base/error.h>
#include <croze/llm/generate/conversation.h>
#include <croze/llm/generate/language_model.h>

#include <cstdio>

using namespace croze;

int main(int count, char** arguments) try {
  if (count != 3) {
    std::fputs("usage: answer MODEL.gguf QUESTION\n", stderr);
    return 2;
  }
  const auto model = llm::LanguageModel::load(arguments[1]);
  check(model->chat.has_value(), "{} has no chat template", arguments[1]);
  llm::Generator generator(model->transformer);
  const llm::Message messages[] = {{"system", "Be brief."}, {"user", arguments[2]}};
  const auto prompt = llm::chat_prompt(*model->chat, model->tokenizer, messages);
  llm::AnswerOptions options{.sampling = {.temperature = 0.7, .seed = 1}, .max_tokens = 100};
  options.on_text = [](std::string_view piece) {  // as soon as it is known
    std::fwrite(piece.data(), 1, piece.size(), stdout);
    std::fflush(stdout);
    return true;
  };
  llm::answer(*model, generator, prompt, options);
  std::puts("");
} catch (const Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
