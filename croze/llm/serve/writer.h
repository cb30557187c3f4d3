// writer.h -- answers in the form of OpenAI's API.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/llm/generate/language_model.h"
#include "croze/llm/serve/reply_parts.h"

namespace croze::llm::serve {

// What all objects of one answer have in common.
struct AnswerHead {
  std::string id;            // "chatcmpl-.."
  std::int64_t created = 0;  // seconds since 1970
  std::string model;
};

// A random id behind a prefix.
std::string random_id(std::string_view prefix);

// What an answer took, all choices together.
struct Usage {
  std::int64_t prompt_tokens = 0, cached_tokens = 0, answer_tokens = 0;
};

struct Likelihoods {
  const Tokenizer& tokenizer;
  std::vector<ChosenToken> tokens = {};
  bool is_asked_for = false;
};

// One of the answers to a conversation.
struct ChatChoice {
  ReplyParts parts;
  Likelihoods likelihoods;
  const char* finish;
};

// A conversation: all answers as a whole; and of one that is streamed, a piece, the end and the
// counts.  `choice` is its number, `first_call` how many calls of tools came before.
std::string chat_completion(const AnswerHead& head, std::span<const ChatChoice> choices,
                            const Usage& usage);
std::string chat_role_chunk(const AnswerHead& head, std::size_t choice);
std::string chat_chunk(const AnswerHead& head, std::size_t choice, const ReplyParts& parts,
                       const Likelihoods& likelihoods, std::size_t first_call);
std::string chat_end_chunk(const AnswerHead& head, std::size_t choice, const char* finish);
std::string chat_usage_chunk(const AnswerHead& head, const Usage& usage);

// One of the texts that go on; `finish` is null while it does.  `offset` is where in the answer the
// text of the likelihoods begins.
struct TextChoice {
  std::string text;
  Likelihoods likelihoods;
  std::size_t offset = 0;
  const char* finish = nullptr;
};

// The same of texts.  The first of the choices has this number.
std::string completion(const AnswerHead& head, std::size_t first,
                       std::span<const TextChoice> choices, const Usage* usage);
std::string completion_usage(const AnswerHead& head, const Usage& usage);

// Vectors of texts of so many tokens together; in base64 their numbers are float32, little-endian.
std::string embedding_list(const std::string& model, std::span<const std::vector<float>> vectors,
                           bool is_base64, std::int64_t tokens);

// The list of the one model.
std::string model_list(const std::string& name, std::int64_t created, std::int64_t context);
std::string model_object(const std::string& name, std::int64_t created, std::int64_t context);

}  // namespace croze::llm::serve
