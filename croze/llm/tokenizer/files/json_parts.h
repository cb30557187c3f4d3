// json_parts.h -- the components of a tokenizer.json, each from its object.
//
// All throw Error for an object that lacks something, and for a component that is not supported,
// naming it.  An object nests as deep as JSON does that was read with a limit.
#pragma once

#include <memory>
#include <vector>

#include "croze/llm/tokenizer/decoder.h"
#include "croze/llm/tokenizer/files/json_fields.h"
#include "croze/llm/tokenizer/model.h"
#include "croze/llm/tokenizer/normalizer.h"
#include "croze/llm/tokenizer/pre_tokenizer.h"

namespace croze::llm {

inline constexpr std::size_t max_steps = 64;       // of a component
inline constexpr std::size_t max_mark_bytes = 64;  // of what is put before each piece of a text

void append_normalizer(const JsonValue& json, std::vector<NormalizerStep>& steps);
void append_pre_tokenizer(const JsonValue& json, std::vector<PreTokenizerStep>& steps);
void append_decoder(const JsonValue& json, std::vector<DecodeStep>& steps);
std::unique_ptr<Model> model_from(const JsonValue& json);

// What a post-processor puts around a text.
struct Surroundings {
  std::vector<TokenId> before, behind;
};
void add_surroundings(const JsonValue& json, Surroundings& around);

}  // namespace croze::llm
