// texts.h -- a small text, and what is needed to train on it.
#pragma once

#include <string>

#include "croze/llm/train/byte_pairs.h"
#include "croze/llm/train/corpus.h"
#include "croze/llm/train/gpt_training.h"

namespace croze::test {

// Lines that a network can learn something of.
inline std::string small_text(int lines = 200) {
  const char* names[] = {"Noah", "Sarah", "Aaron", "Ruth", "Saul", "Martha", "Job"};
  std::string text;
  for (int i = 0; i < lines; i++) {
    text += names[i * i % 7];
    text += i % 3 == 0 ? " went down to the river" : " said unto ";
    if (i % 3 != 0) text += names[(i + i / 7) % 7];
    text += ".\n";
  }
  return text;
}

struct SmallCorpus {
  std::string text = small_text();
  llm::BytePairs pairs = llm::learn_byte_pairs(text, 280);
  llm::Tokenizer tokenizer = llm::Tokenizer::from_gguf(GgufMetadata("small", pairs.metadata()));
  llm::Corpus corpus{text, "small", tokenizer, 16};
};

inline llm::GptShape small_shape() {
  return {.vocabulary = 280, .context = 16, .width = 16, .layers = 2, .heads = 2};
}
inline llm::GptSettings small_settings() {
  return {.batch = 4, .steps = 40, .warmup = 4, .learning_rate = 1e-2};
}

}  // namespace croze::test
