// Texts of a megabyte that are one word to the models: nothing cuts them.
#include <gtest/gtest.h>

#include <ctime>

#include "croze/llm/tokenizer/tokenizer.h"
#include "llm/vocabularies.h"

namespace croze::llm {
namespace {

class LongWords : public testing::TestWithParam<const char*> {};

TEST_P(LongWords, TakeSeconds) {
  const Tokenizer tokenizer = Tokenizer::load(std::string(TOKENIZERS "/") + GetParam());
  constexpr std::size_t size = 1 << 20;
  std::string steps, marks = "a", mixed;
  while (steps.size() < size) steps += "abcdefghijklmnopqrstuvwxyzthein";
  while (marks.size() < size) marks += "\u0308\u0323";
  while (mixed.size() < size) mixed += "\xff\u3042\xe3";
  for (const std::string& text :
       {std::string(size, 'a'), std::string(size, ' '), std::string(size, ' ') + "x",
        std::string(size, '\n'), std::string(size, '-'), std::string(size, 'A'),
        std::string(size, '1'), std::string(size, '<'), std::string(size, '\0'), steps, marks,
        mixed}) {
    const std::clock_t begin = std::clock();
    const std::vector<TokenId> ids = tokenizer.encode(text);
    tokenizer.decode(ids);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    EXPECT_LE(seconds, 20) << testing::PrintToString(text.substr(0, 8));  // sanitizers are slow
    EXPECT_LE(ids.size(), 4 * size);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, LongWords,
                         testing::Values("gpt2.json", "llama3.json", "qwen2.json", "llama2.json",
                                         "gemma.json", "t5.json", "unigram.json", "bert.json",
                                         "steps.json", "spm_bpe.gguf"),
                         name_of_test);

}  // namespace
}  // namespace croze::llm
