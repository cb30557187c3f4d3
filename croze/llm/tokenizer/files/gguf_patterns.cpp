#include "croze/llm/tokenizer/files/gguf_patterns.h"

#include <algorithm>

namespace croze::llm {
namespace {

#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define GPT2 R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"
#define TAIL R"(\s*[\r\n]+|\s+(?!\S)|\s+)"
#define UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define LEAD R"([^\r\n\p{L}\p{N}]?)"

constexpr const char* gpt2[] = {GPT2};
constexpr const char* llama3[] = {CONTRACTIONS
                                  "|" LEAD R"(\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" TAIL};
constexpr const char* qwen2[] = {CONTRACTIONS "|" LEAD
                                              R"(\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" TAIL};
constexpr const char* digits[] = {R"(\p{N})", GPT2};
constexpr const char* gpt4o[] = {LEAD UPPER "*" LOWER "+" CONTRACTIONS "?|" LEAD UPPER "+" LOWER
                                            "*" CONTRACTIONS
                                            R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" TAIL};
constexpr const char* tekken[] = {LEAD UPPER "*" LOWER "+|" LEAD UPPER "+" LOWER
                                             R"(*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" TAIL};
constexpr const char* deepseek3[] = {
    R"(\p{N}{1,3})", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"
    R"( ?[\p{P}\p{S}]+[\r\n]*|)" TAIL};

#undef CONTRACTIONS
#undef GPT2
#undef TAIL
#undef UPPER
#undef LOWER
#undef LEAD

constexpr GgufPreTokenizer known[] = {
    {"gpt-2", gpt2},
    {"phi-2", gpt2},
    {"olmo", gpt2},
    {"mpt", gpt2},
    {"roberta-bpe", gpt2},
    {"jina-es", gpt2},
    {"jina-de", gpt2},
    {"jina-v2-es", gpt2},
    {"jina-v2-de", gpt2},
    {"modern-bert", gpt2},
    {"llama3", llama3, true, true},
    {"llama-v3", llama3, true, true},
    {"llama-bpe", llama3, true, true},
    {"dbrx", llama3},
    {"smaug-bpe", llama3},
    {"qwen2", qwen2},
    {"stablelm2", qwen2},
    {"deepseek-r1-qwen", qwen2},
    {"starcoder", digits},
    {"refact", digits},
    {"command-r", digits},
    {"smollm", digits},
    {"codeshell", digits},
    {"gpt-4o", gpt4o},
    {"llama4", gpt4o},
    {"tekken", tekken, true, true},
    {"deepseek-v3", deepseek3},
};

}  // namespace

const GgufPreTokenizer* gguf_pre_tokenizer(std::string_view name) {
  const auto* it = std::ranges::find(known, name, &GgufPreTokenizer::name);
  return it == std::end(known) ? nullptr : it;
}

}  // namespace croze::llm
