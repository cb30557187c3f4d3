// Files that are almost right, and texts that would take long.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "croze/base/error.h"
#include "croze/llm/tokenizer/tokenizer.h"
#include "libfuzzer/memory_file.h"
#include "support/files.h"
#include "support/mutator.h"

namespace croze::llm {
namespace {

double seconds_of(auto function) {
  const std::clock_t begin = std::clock();
  function();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(Mutated, TokenizersAreReadOrRefusedSoon) {
  test::for_each_mutant(test::good_files(CORPUS "/tokenizer"), [](const std::string& bytes) {
    const test::MemoryFile file(bytes);
    bool is_read = false;
    const double seconds = seconds_of([&] {
      try {
        const Tokenizer tokenizer = Tokenizer::load(file.path());
        is_read = true;
        const auto ids = tokenizer.encode("Ab<s> \u00e9 a1b\n", {.parse_special = true});
        tokenizer.decode(ids);
      } catch (const Error&) {
      }
    });
    EXPECT_LE(seconds, 1);
    return is_read;
  });
}

// Matching that would take exponential time is given up.
TEST(Patterns, ThatTakeForEverAreAnError) {
  const Tokenizer tokenizer = Tokenizer::from_json(
      R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"pre_tokenizer":{"type":"Split",)"
      R"("behavior":"Isolated","pattern":{"Regex":"(a+)+b"}}})");
  std::string text(100, 'a');
  text += "cb";
  const std::string error = test::error_of([&] { tokenizer.encode(text); });
  EXPECT_NE(error.find("(a+)+b"), std::string::npos) << error;
}

// Each step makes 64 characters of one.
TEST(Normalizers, ThatBlowUpATextAreAnError) {
  std::string steps;
  for (int i = 0; i < 20; i++) {
    steps += std::string(i ? "," : "") +
             R"({"type":"Replace","pattern":{"String":"a"},"content":")" + std::string(64, 'a') +
             "\"}";
  }
  const Tokenizer tokenizer = Tokenizer::from_json(
      R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"normalizer":{"type":"Sequence",)"
      R"("normalizers":[)" +
      steps + "]}}");
  EXPECT_NE(test::error_of([&] { tokenizer.encode("a"); }).find("replacing"), std::string::npos);
}

}  // namespace
}  // namespace croze::llm
