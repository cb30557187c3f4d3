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

struct Likelihoods {
  const Tokenizer& tokenizer;
  std::vector<ChosenToken> tokens = {};
  bool is_asked_for = false;
};

// A conversation: the whole answer; and of one that is streamed, a piece, the end and the counts.
// `first_call` is how many calls of tools came before.
std::string chat_completion(const AnswerHead& head, const ReplyParts& parts,
                            const Likelihoods& likelihoods, const char* finish,
                            const Answer& answer);
std::string chat_role_chunk(const AnswerHead& head);
std::string chat_chunk(const AnswerHead& head, const ReplyParts& parts,
                       const Likelihoods& likelihoods, std::size_t first_call);
std::string chat_end_chunk(const AnswerHead& head, const char* finish);
std::string chat_usage_chunk(const AnswerHead& head, const Answer& answer);

// The same of a text that goes on; `finish` is null while it does.  `offset` is where in the answer
// the text of the likelihoods begins.
std::string completion(const AnswerHead& head, std::string_view text,
                       const Likelihoods& likelihoods, std::size_t offset, const char* finish,
                       const Answer* answer);
std::string completion_usage(const AnswerHead& head, const Answer& answer);

// Vectors of texts of so many tokens together; in base64 their numbers are float32, little-endian.
std::string embedding_list(const std::string& model, std::span<const std::vector<float>> vectors,
                           bool is_base64, std::int64_t tokens);

// The list of the one model.
std::string model_list(const std::string& name, std::int64_t created, std::int64_t context);
std::string model_object(const std::string& name, std::int64_t created, std::int64_t context);

}  // namespace croze::llm::serve
