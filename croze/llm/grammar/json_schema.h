// json_schema.h -- grammars of JSON, and of the JSON that a schema describes.
#pragma once

#include <string>

#include "croze/llm/template/value.h"

namespace croze::llm {

// The grammar, as Grammar::parse reads it, of any object of JSON.
std::string json_object_grammar();

// That of the texts that a JSON schema allows.  Members come in the order of the schema; an object
// with "properties" has no others unless "additionalProperties" says so.  Understood are type,
// enum, const, anyOf, oneOf, allOf of one, $ref within the schema, properties, required,
// additionalProperties, items, minItems, maxItems, minLength, maxLength, and format of dates, times
// and UUIDs.  A part with an $id is a document of its own: what is referred to inside of it is a
// part of it.  `rule` is the name of the rule that such a text is.  Throws Error naming any other
// keyword that restricts values.
std::string json_schema_grammar(const jinja::Value& schema, const std::string& rule = "root");

}  // namespace croze::llm
